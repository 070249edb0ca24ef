// `plugboard logs`: what servers wrote to stderr, as the hub has kept it, and what they write from now on; those of several
// servers in the order in which they were written.

import type { HubClient } from "../api/client.ts";
import { isObject } from "../wire/json.ts";
import { HubError } from "../errors.ts";
import { requireHub, type RunningHub } from "./find-hub.ts";
import { followed } from "./follow.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { printable } from "./text.ts";
import { clock, parseSince } from "./times.ts";

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly tail: string;
  readonly since?: string;
  /** Whether to show when each line was written; on a terminal unless told otherwise. */
  readonly time?: boolean;
}

export const logsCommand: Register = (program, { io, done }) => {
  program
    .command("logs")
    .description("show what servers write to stderr")
    .argument("[servers...]", "all unless named")
    .option("-f, --follow", "go on with what comes")
    .option("--since <time>", "10m, 24h, 7d, or a date")
    .option("-n, --tail <lines>", "how many lines of each server", "100")
    .option("--time", "with the time of each line, which a terminal shows anyway")
    .option("--no-time", "without the times")
    .action(async (names: string[], options: LogsOptions) => {
      const tail = parseTail(options.tail);
      const since = options.since === undefined ? undefined : parseSince(options.since, "since").toISOString();
      done(await logs(io, await requireHub(io, options), { names, tail, since, options }));
    });
};

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
  const withTime = options.time ?? out.terminal;
  const { series } = out.color;
  const paintOf = (server: string) => series[servers.indexOf(server) % series.length] ?? out.color.strong;
  const width = Math.max(0, ...servers.map(({ length }) => length));
  const print = ({ server, timestamp, text }: LogLine) => {
    if (out.json) out.line({ server, line: text, timestamp });
    else {
      const when = withTime ? `${out.color.faint(clock(new Date(timestamp)))}  ` : "";
      const who = servers.length > 1 ? `${paintOf(server)(server.padEnd(width))}  ` : "";
      out.print(`${when}${who}${printable(text)}`);
    }
  };
  const wanted = new Set(servers);
  const kept = async () => {
    const lines = tail === 0 ? [] : mergeByTime(await Promise.all([...wanted].map(tailOf(client, tail))));
    return lines.filter(({ timestamp }) => timestamp >= since);
  };
  if (options.follow !== true) {
    for (const line of await kept()) print(line);
    return 0;
  }
  let shown = new ShownLines([]);
  const onOpen = async () => {
    const lines = await kept();
    for (const line of lines) print(line);
    shown = new ShownLines(lines);
  };
  return followed(io, hub, { topics: ["log"], onOpen }, ({ data }) => {
    const line = parseLine(data);
    if (line !== undefined && wanted.has(line.server) && !shown.take(line)) print(line);
  });
}

interface LogLine {
  readonly server: string;
  /** ISO 8601: the order of the texts is the order of the times. */
  readonly timestamp: string;
  readonly text: string;
}

function tailOf(client: HubClient, tail: number): (name: string) => Promise<LogLine[]> {
  return async (name) => {
    const { server, lines } = await client.serverLogs(name, tail);
    return lines.map((line) => ({ server, ...line }));
  };
}

/** Lines of the same millisecond stay in the order of the servers. */
function mergeByTime(logsOfServers: readonly (readonly LogLine[])[]): LogLine[] {
  return logsOfServers.flat().toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}

/** What was kept and shown may come once more as an event: it was written after the stream was opened. */
class ShownLines {
  /** By server: how often each line was shown. */
  readonly #shown = new Map<string, Map<string, number>>();

  constructor(lines: readonly LogLine[]) {
    for (const line of lines) {
      const ofServer = this.#shown.get(line.server) ?? new Map<string, number>();
      ofServer.set(keyOf(line), (ofServer.get(keyOf(line)) ?? 0) + 1);
      this.#shown.set(line.server, ofServer);
    }
  }

  /** True where this line was shown, each time once. The first that was not is the end of what can have been. */
  take(line: LogLine): boolean {
    const ofServer = this.#shown.get(line.server);
    const left = ofServer?.get(keyOf(line)) ?? 0;
    if (left > 0) ofServer?.set(keyOf(line), left - 1);
    else this.#shown.delete(line.server);
    return left > 0;
  }
}

function keyOf({ timestamp, text }: LogLine): string {
  return `${timestamp} ${text}`;
}

function parseLine(data: unknown): LogLine | undefined {
  if (!isObject(data)) return undefined;
  const { server, timestamp, text } = data;
  const isLine = typeof server === "string" && typeof timestamp === "string" && typeof text === "string";
  return isLine ? { server, timestamp, text } : undefined;
}

function parseTail(text: string): number {
  const lines = Number(text);
  if (/^\d{1,6}$/.test(text)) return lines;
  throw new HubError("InvalidConfig", `"${text}" is not a number of lines`, {
    field: "tail",
    hint: "plugboard logs --tail 50",
  });
}
