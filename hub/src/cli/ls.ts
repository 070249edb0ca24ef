// `plugboard ls`: every configured server with its real state. Without a running hub it starts them to know it.

import type { Server } from "../api/schemas/server.ts";
import type { LatencyMetrics } from "../api/schemas/call.ts";
import { withAccess, type Access } from "./access.ts";
import type { Palette } from "./color.ts";
import type { GlobalOptions } from "./io.ts";
import { shownKind } from "./kind.ts";
import type { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { describe, isBroken } from "./progress.ts";
import { quoted } from "./quoted.ts";
import { fittingColumns, table, type Cell } from "./table.ts";
import { count, oneLine, wrap } from "./text.ts";
import { duration, span } from "./times.ts";
import { approximate, tokensOf } from "./tokens.ts";

interface LsOptions extends GlobalOptions {
  readonly running?: boolean;
  readonly wide?: boolean;
}

interface Column {
  readonly title: string;
  readonly cell: (server: Server, look: Look) => Cell;
  readonly isNumber?: boolean;
}

interface Look {
  readonly out: Output;
  /** Undefined where no hub is running. */
  readonly latency: readonly LatencyMetrics[] | undefined;
}

export const lsCommand: Register = (program, { io, done }) => {
  program
    .command("ls")
    .alias("list")
    .description("list all servers and whether they work")
    .option("--running", "only those that are running")
    .option("-w, --wide", "all columns, whatever the width of the terminal, and some more")
    .action(async (options: LsOptions) => {
      await withAccess(io, options, (access) => ls(access, options));
      done(0);
    });
};

/** `plugboard ps`, as people know it. */
export const psCommand: Register = (program, { io, done }) => {
  program
    .command("ps")
    .description("list the servers that are running: ls --running")
    .option("-w, --wide", "all columns, whatever the width of the terminal, and some more")
    .action(async (options: LsOptions) => {
      await withAccess(io, options, (access) => ls(access, { ...options, running: true }));
      done(0);
    });
};

async function ls(access: Access, { running = false, wide = false }: LsOptions): Promise<void> {
  const { api, out, hub } = access;
  // What a hub inside this command starts is gone with it.
  const nothingRuns = running && hub === undefined;
  if (!nothingRuns) await access.ready();
  const [all, latency] = await Promise.all([api.listServers(), hub?.client.latency().catch(() => [])]);
  const servers = nothingRuns ? [] : running ? all.filter(({ status }) => status === "running") : all;
  for (const problem of await degraded(access)) out.warn(problem);
  if (out.json) return out.data(servers.map((server) => toJson(server, hub !== undefined)));
  if (all.length === 0) return out.print("No servers. Add one: plugboard add @modelcontextprotocol/server-memory");
  if (!nothingRuns) {
    out.print(draw(servers, { out, latency }, wide ? undefined : out.width, wide));
    out.print(`${count(all.length, "server")}: ${summary(all, hub !== undefined)}`);
  }
  access.mentionNoHub();
}

const COLUMNS: readonly Column[] = [
  { title: "NAME", cell: ({ config }) => config.name },
  { title: "KIND", cell: ({ kind, config }) => shownKind(kind, config.command) },
  { title: "STATUS", cell: ({ status }, { out, latency }) => statusCell(status, out, latency !== undefined) },
  { title: "TOOLS", isNumber: true, cell: ({ status, tools }) => (status === "running" ? String(tools.length) : "-") },
  { title: "CALLS 24h", isNumber: true, cell: measured(({ calls_24h }) => String(calls_24h)) },
  { title: "P50", isNumber: true, cell: measured(({ p50_ms }) => duration(p50_ms)) },
  { title: "P95", isNumber: true, cell: measured(({ p95_ms }) => duration(p95_ms)) },
  {
    title: "ERR",
    isNumber: true,
    cell: measured(({ calls_24h, errors_24h }) =>
      calls_24h === 0 ? "-" : `${Math.round((errors_24h / calls_24h) * 100)}%`,
    ),
  },
  {
    title: "UP",
    isNumber: true,
    cell: ({ status, since }, { latency }) =>
      latency !== undefined && status === "running" && since !== null ? span(Date.now() - Date.parse(since)) : "-",
  },
  { title: "GROUPS", cell: ({ groups }) => groups.join(" ") },
];

/** What --wide adds. */
const MORE: readonly Column[] = [
  {
    title: "TOKENS",
    isNumber: true,
    cell: ({ status, tools }) => (status === "running" ? approximate(tokensOf(tools)) : "-"),
  },
  {
    title: "PID",
    isNumber: true,
    cell: ({ pid }, { latency }) => (pid === null || latency === undefined ? "-" : String(pid)),
  },
  { title: "MCP", cell: ({ protocol_version }) => protocol_version ?? "-" },
  { title: "RUN", cell: ({ config }) => config.url ?? [config.command, ...config.args].map(quoted).join(" ") },
];

/** The first to go where a terminal is narrow. Why a server fails is never cut. */
const EXPENDABLE = ["UP", "P50", "P95", "GROUPS", "ERR", "CALLS 24h", "KIND", "TOOLS"];

function draw(servers: readonly Server[], look: Look, width: number | undefined, wide: boolean): string {
  const columns = wide ? [...COLUMNS, ...MORE] : COLUMNS;
  const cells = [
    columns.map(({ title }) => title),
    ...servers.map((server) => columns.map(({ cell }) => cell(server, look))),
  ];
  const expendable = EXPENDABLE.map((title) => columns.findIndex((column) => column.title === title));
  const kept = fittingColumns(cells, { width, expendable });
  const rows = cells.map((row) => kept.map((index) => row[index] ?? ""));
  const right = kept.flatMap((index, at) => (columns[index]?.isNumber === true ? [at] : []));
  const reasons = ["", ...servers.map(remark)];
  const beside = rows.map((row, index) => [...row, reasons[index] ?? ""]);
  const room = fittingColumns(beside, { width, expendable: [kept.length] });
  // Beside the rows where all of them fit, below them where one does not.
  if (room.length > kept.length) return table(beside, { right, width });
  const lines = table(rows, { right, width }).split("\n");
  return rows
    .flatMap((_, index) => [lines[index] ?? "", ...indented(reasons[index] ?? "", width, look.out.color)])
    .map((line) => `${line}\n`)
    .join("");
}

const INDENT = "    ";

function indented(text: string, width: number | undefined, color: Palette): string[] {
  if (text === "") return [];
  const room = width === undefined ? undefined : width - INDENT.length;
  return wrap(oneLine(text), room).map((line) => INDENT + color.bad(line));
}

/** What the hub itself complains of: a config on disk that is not in force would otherwise look like a healthy one. */
async function degraded({ hub }: Access): Promise<readonly string[]> {
  return (await hub?.client.status())?.degraded ?? [];
}

/** S4's shape, with what people ask for most at the top. */
function toJson(server: Server, isHubRunning: boolean): unknown {
  const { id, name, enabled } = server.config;
  return { id, name, enabled, hub_running: isHubRunning, ...server };
}

/** Nothing where no hub runs, or it was never called. */
function measured(figure: (metrics: LatencyMetrics) => string): Column["cell"] {
  return ({ config }, { latency }) => {
    const metrics = latency?.find(({ server_name }) => server_name === config.name);
    return metrics === undefined || metrics.total_calls === 0 ? "-" : figure(metrics);
  };
}

function remark(server: Server): string {
  if (server.error !== null || server.status === "starting") return describe(server);
  const { length } = server.warnings;
  return length === 0 ? "" : `${count(length, "warning")}: plugboard get ${server.config.name}`;
}

/** Without a hub a server runs only as long as the command looks at it. */
const WORKS = "works (not running)";

const MARKS: Readonly<Record<string, readonly [mark: string, color: Exclude<keyof Palette, "series">]>> = {
  running: ["●", "good"],
  [WORKS]: ["✔", "good"],
  starting: ["◌", "doubtful"],
  error: ["✖", "bad"],
  disconnected: ["✖", "bad"],
  unauthenticated: ["!", "bad"],
  stopped: ["○", "faint"],
  disabled: ["○", "faint"],
};

/** A state in a word; on a terminal with a mark and a colour. What ran only inside the command is said to work. */
export function statusCell(status: string, { terminal, color }: Access["out"], isHubRunning = true): Cell {
  const shown = status === "running" && !isHubRunning ? WORKS : status;
  const [mark, paint] = MARKS[shown] ?? ["?", "doubtful"];
  return terminal ? { text: `${mark} ${shown}`, paint: color[paint] } : shown;
}

/** @example summary(servers) // "3 running, 1 needs attention, 1 disabled" */
export function summary(servers: readonly Pick<Server, "status">[], isHubRunning = true): string {
  const states = new Map<string, number>();
  for (const { status } of servers) {
    const kind = isBroken(status) ? ATTENTION : status;
    states.set(kind, (states.get(kind) ?? 0) + 1);
  }
  return ORDER.flatMap((state) => {
    const n = states.get(state);
    if (n === undefined) return [];
    if (state === ATTENTION) return [`${n} ${n === 1 ? "needs" : "need"} attention`];
    if (state === "running" && !isHubRunning) return [`${n} ${n === 1 ? "works" : "work"}`];
    return [`${n} ${state}`];
  }).join(", ");
}

const ATTENTION = "attention";
const ORDER = ["running", "starting", ATTENTION, "stopped", "disabled"];
