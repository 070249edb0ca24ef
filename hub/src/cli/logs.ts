// `plugboard logs`: what servers wrote to stderr, as the hub has kept it, and what they write from now on.

import { isObject } from "../wire/json.ts";
import { HubError } from "../errors.ts";
import { requireHub, type RunningHub } from "./find-hub.ts";
import { followed } from "./follow.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { printable } from "./text.ts";
import { parseSince } from "./times.ts";

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly tail: string;
  readonly since?: string;
}

export const logsCommand: Register = (program, { io, done }) => {
  program
    .command("logs")
    .description("show what servers write to stderr")
    .argument("[servers...]", "all unless named")
    .option("-f, --follow", "go on with what comes")
    .option("--since <time>", "10m, 24h, 7d, or a date")
    .option("-n, --tail <lines>", "how many lines of each server", "100")
    .action(async (names: string[], options: LogsOptions) => {
      const tail = parseTail(options.tail);
      const since = options.since === undefined ? undefined : parseSince(options.since, "since").toISOString();
      done(await logs(io, await requireHub(io, options), { names, tail, since, options }));
    });
};

interface Line {
  readonly server: string;
  readonly text: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

interface Wanted {
  readonly names: readonly string[];
  readonly tail: number;
  /** ISO 8601. */
  readonly since: string | undefined;
  readonly options: LogsOptions;
}

async function logs(io: Io, hub: RunningHub, { names, tail, since = "", options }: Wanted): Promise<number> {
  const out = new Output(io, options);
  const { client } = hub;
  const servers =
    names.length === 0
      ? (await client.listServers()).map(({ config }) => config.name)
      : await Promise.all(names.map(async (name) => (await client.getServer(name)).config.name));
  const width = Math.max(0, ...servers.map(({ length }) => length));
  const print = ({ server, text: line, timestamp }: Line) => {
    if (out.json) out.line({ server, line, timestamp });
    else out.print(`${servers.length > 1 ? `${out.color.strong(server.padEnd(width))}  ` : ""}${printable(line)}`);
  };
  if (tail > 0) {
    const kept = await Promise.all(
      servers.map(async (server) => (await client.serverLogLines(server, tail)).map((line) => ({ server, ...line }))),
    );
    const wanted = kept.flat().filter(({ timestamp }) => timestamp >= since);
    // As they were written, whoever wrote them.
    for (const line of wanted.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))) print(line);
  }
  if (options.follow !== true) return 0;
  return followed(io, hub, { topics: ["log"] }, ({ data }) => {
    const { server, text, timestamp } = isObject(data) ? data : {};
    if (typeof server !== "string" || typeof text !== "string" || !servers.includes(server)) return;
    print({ server, text, timestamp: String(timestamp) });
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
