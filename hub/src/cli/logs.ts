// `plugboard logs`: what servers wrote to stderr, as the hub has kept it, and what they write from now on.

import { isObject } from "../wire/json.ts";
import { HubError } from "../errors.ts";
import { requireHub, type RunningHub } from "./find-hub.ts";
import { followed } from "./follow.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { printable } from "./text.ts";

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly tail: string;
}

export const logsCommand: Register = (program, { io, done }) => {
  program
    .command("logs")
    .description("show what servers write to stderr")
    .argument("[servers...]", "all unless named")
    .option("-f, --follow", "go on with what comes")
    .option("-n, --tail <lines>", "how many lines of each server", "100")
    .action(async (names: string[], options: LogsOptions) => {
      const tail = parseTail(options.tail);
      done(await logs(io, await requireHub(io, options), { names, tail, options }));
    });
};

interface Wanted {
  readonly names: readonly string[];
  readonly tail: number;
  readonly options: LogsOptions;
}

async function logs(io: Io, hub: RunningHub, { names, tail, options }: Wanted): Promise<number> {
  const out = new Output(io, options);
  const { client } = hub;
  const servers =
    names.length === 0
      ? (await client.listServers()).map(({ config }) => config.name)
      : await Promise.all(names.map(async (name) => (await client.getServer(name)).config.name));
  const width = Math.max(0, ...servers.map(({ length }) => length));
  const print = (server: string, text: string, timestamp?: unknown) => {
    for (const line of text === "" ? [] : text.replace(/\n$/, "").split("\n")) {
      if (out.json) out.line({ server, line, ...(timestamp === undefined ? {} : { timestamp }) });
      else out.print(`${servers.length > 1 ? `${out.color.strong(server.padEnd(width))}  ` : ""}${printable(line)}`);
    }
  };
  if (tail > 0) {
    const shown = await Promise.all(servers.map((name) => client.serverLogs(name, tail)));
    for (const [index, text] of shown.entries()) print(servers[index] ?? "", text);
  }
  if (options.follow !== true) return 0;
  return followed(io, hub, { topics: ["log"] }, ({ data }) => {
    if (!isObject(data) || typeof data["server"] !== "string" || !servers.includes(data["server"])) return;
    if (typeof data["text"] === "string") print(data["server"], data["text"], data["timestamp"]);
  });
}

function parseTail(text: string): number {
  const lines = Number(text);
  if (/^\d{1,6}$/.test(text)) return lines;
  throw new HubError("InvalidConfig", `"${text}" is not a number of lines`, {
    field: "tail",
    hint: "plugboard logs --tail 50",
  });
}
