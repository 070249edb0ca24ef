// `plugboard logs`: shows what servers wrote to stderr and their MCP log messages, and follows both. Lines of several servers are
// merged by time.

import type { HubClient } from "../../api/client/client.ts";
import type { LogFilter } from "../../api/client/servers-client.ts";
import type { ServerLogged } from "../../api/schemas/event.ts";
import { isObject } from "../../lib/json/json.ts";
import { HubError } from "../../errors.ts";
import { isLogLevel, LOG_LEVELS, passesLevel } from "../../protocol/rpc/log-level.ts";
import { requireHub, type RunningHub } from "../hub-access/find-hub.ts";
import { followed } from "../hub-access/follow.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { printable } from "../terminal/text.ts";
import { clock, parseSince } from "../terminal/times.ts";

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly tail: string;
  readonly since?: string;
  readonly source?: string;
  readonly level?: string;
  /** Whether to print timestamps; by default only on a terminal. */
  readonly time?: boolean;
}

export const logsCommand: Register = (program, { io, done }) => {
  program
    .command("logs")
    .description("show the stderr output and the log messages of servers")
    .argument("[servers...]", "servers to show (default: all)")
    .option("-f, --follow", "keep showing new lines")
    .option("--since <time>", "10m, 24h, 7d, or a date")
    .option("-n, --tail <lines>", "number of lines per server", "100")
    .option("--source <source>", "stderr or mcp (log messages); default: both")
    .option("--level <level>", "no log messages below this level, such as warning")
    .option("--time", "print timestamps (default on a terminal)")
    .option("--no-time", "print no timestamps")
    .action(async (names: string[], options: LogsOptions) => {
      const tail = parseTail(options.tail);
      const since = options.since === undefined ? undefined : parseSince(options.since, "since").toISOString();
      const filter = { source: parseSource(options.source), level: parseLevel(options.level) };
      done(await logs(io, await requireHub(io, options), { names, tail, since, filter, options }));
    });
};

interface LogQuery {
  readonly names: readonly string[];
  readonly tail: number;
  /** ISO 8601. */
  readonly since: string | undefined;
  readonly filter: LogFilter;
  readonly options: LogsOptions;
}

async function logs(io: Io, hub: RunningHub, query: LogQuery): Promise<number> {
  const { names, tail, since = "", filter, options } = query;
  const out = new Output(io, options);
  const { client } = hub;
  const servers =
    names.length === 0
      ? (await client.servers.list()).map(({ config }) => config.name)
      : await Promise.all(names.map(async (name) => (await client.servers.get(name)).config.name));
  const withTime = options.time ?? out.terminal;
  const { series } = out.color;
  const paintOf = (server: string) => series[servers.indexOf(server) % series.length] ?? out.color.strong;
  const width = Math.max(0, ...servers.map(({ length }) => length));
  const print = (line: LogLine) => {
    const { server, timestamp, text, source, level, logger } = line;
    if (out.json) out.line({ server, line: text, timestamp, source, level, logger });
    else {
      const when = withTime ? `${out.color.faint(clock(new Date(timestamp)))}  ` : "";
      const who = servers.length > 1 ? `${paintOf(server)(server.padEnd(width))}  ` : "";
      out.print(`${when}${who}${out.color.faint(printable(originOf(line)))}${printable(text)}`);
    }
  };
  const wanted = new Set(servers);
  const kept = async () => {
    const lines = tail === 0 ? [] : mergeByTime(await Promise.all([...wanted].map(tailOf(client, tail, filter))));
    return lines.filter(({ timestamp }) => timestamp >= since);
  };
  if (options.follow !== true) {
    const lines = await kept();
    for (const line of lines) print(line);
    if (lines.length === 0 && tail > 0) out.note(await nothingThere(client, query));
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
    if (line === undefined || !wanted.has(line.server) || !passes(line, filter)) return;
    if (!shown.take(line)) print(line);
  });
}

/** Explains empty output, which would otherwise look like a failure. */
async function nothingThere(client: HubClient, { names, since = "", filter }: LogQuery): Promise<string> {
  const when = since === "" ? "" : ` since ${clock(new Date(since))}`;
  const what =
    filter.source === "mcp"
      ? `sent no log message${filter.level === undefined ? "" : ` of level ${filter.level} or above`}`
      : "written nothing to stderr";
  const [name] = names;
  if (name === undefined || names.length > 1) return `These servers have ${what}${when}`;
  const { config } = await client.servers.get(name);
  return config.url === undefined || filter.source === "mcp"
    ? `${config.name} has ${what}${when}`
    : `${config.name} is a remote server and sent no log message. Its state: plugboard get ${config.name}`;
}

/** Its timestamp is ISO 8601, so that text order is time order. */
type LogLine = ServerLogged;

/** What is written before the text of a log message. */
function originOf({ source, level, logger }: LogLine): string {
  if (source === "stderr") return "";
  return `[${level ?? "log"}] ${logger === null ? "" : `${logger}: `}`;
}

function passes(line: LogLine, { source, level }: LogFilter): boolean {
  if (source !== undefined && line.source !== source) return false;
  return line.source === "stderr" || line.level === null || passesLevel(line, level);
}

function tailOf(client: HubClient, tail: number, filter: LogFilter): (name: string) => Promise<LogLine[]> {
  return async (name) => {
    const { server, lines } = await client.servers.logs(name, tail, filter);
    return lines.map((line) => ({ server, ...line }));
  };
}

/** Lines of the same millisecond keep the order of the servers. */
function mergeByTime(logsOfServers: readonly (readonly LogLine[])[]): LogLine[] {
  return logsOfServers.flat().toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}

/** Filters lines that were already shown: a line written after the stream was opened can be in the log and in the stream. */
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

  /** True if this line was already shown. The first new line of a server ends the overlap. */
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
  const { server, timestamp, text, source, level, logger } = data;
  const isLine = typeof server === "string" && typeof timestamp === "string" && typeof text === "string";
  if (!isLine) return undefined;
  return {
    server,
    timestamp,
    text,
    source: source === "mcp" ? "mcp" : "stderr",
    level: isLogLevel(level) ? level : null,
    logger: typeof logger === "string" ? logger : null,
  };
}

function parseSource(source: string | undefined): LogFilter["source"] {
  if (source === undefined || source === "stderr" || source === "mcp") return source;
  throw new HubError("InvalidArgument", `Invalid --source "${source}": use stderr or mcp`, { field: "source" });
}

function parseLevel(level: string | undefined): LogFilter["level"] {
  if (level === undefined || isLogLevel(level)) return level;
  const hint = `Levels: ${LOG_LEVELS.join(", ")}`;
  throw new HubError("InvalidArgument", `Invalid --level "${level}"`, { field: "level", hint });
}

function parseTail(text: string): number {
  const lines = Number(text);
  if (/^\d{1,6}$/.test(text)) return lines;
  throw new HubError("InvalidArgument", `Invalid --tail "${text}": use a number of lines`, {
    field: "tail",
    hint: "plugboard logs --tail 50",
  });
}
