// `plugboard ls`: lists all servers with their state. Without a running hub it starts them to find out.

import type { Server } from "../../api/schemas/server.ts";
import type { LatencyMetrics } from "../../api/schemas/call.ts";
import { isLoginError } from "../../servers/login/login-errors.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { Palette } from "../terminal/color.ts";
import type { GlobalOptions } from "../io.ts";
import { shownKind } from "../input/kind.ts";
import type { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { describeWithFix, isBroken } from "../terminal/progress.ts";
import { quoted } from "../../lib/quoted.ts";
import { fittingColumns, table, type Cell } from "../terminal/table.ts";
import { count, oneLine, wrap } from "../terminal/text.ts";
import { duration, span } from "../terminal/times.ts";
import { approximate } from "../terminal/tokens.ts";

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
  /** Undefined if no hub is running. */
  readonly latency: readonly LatencyMetrics[] | undefined;
}

export const lsCommand: Register = (program, { io }) => {
  program
    .command("ls")
    .alias("list")
    .description("list all servers and whether they work")
    .option("--running", "only running servers")
    .option("-w, --wide", "all columns, and some more")
    .action(async (options: LsOptions) => {
      await withAccess(io, options, (access) => ls(access, options));
    });
};

/** `plugboard ps` is `ls --running`. */
export const psCommand: Register = (program, { io }) => {
  program
    .command("ps")
    .description("list running servers (ls --running)")
    .option("-w, --wide", "all columns, and some more")
    .action(async (options: LsOptions) => {
      await withAccess(io, options, (access) => ls(access, { ...options, running: true }));
    });
};

async function ls(access: Access, { running = false, wide = false }: LsOptions): Promise<void> {
  const { api, out, hub } = access;
  // Servers started by a hub inside this command stop with it.
  const nothingRuns = running && hub === undefined;
  if (!nothingRuns) await access.ready();
  const [all, latency] = await Promise.all([api.servers.list(), hub?.client.calls.latency().catch(() => [])]);
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
  { title: "STATUS", cell: (server, { out, latency }) => statusCell(server, out, latency !== undefined) },
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

/** Columns that --wide adds. */
const MORE: readonly Column[] = [
  {
    title: "TOKENS",
    isNumber: true,
    cell: ({ status, tokens }) => (status === "running" ? approximate(tokens) : "-"),
  },
  {
    title: "PID",
    isNumber: true,
    cell: ({ pid }, { latency }) => (pid === null || latency === undefined ? "-" : String(pid)),
  },
  { title: "MCP", cell: ({ protocol_version }) => protocol_version ?? "-" },
  { title: "RUN", cell: ({ config }) => config.url ?? [config.command, ...config.args].map(quoted).join(" ") },
];

/** Columns to drop first on a narrow terminal. The reason of a failure is never cut. */
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
  // Reasons go beside the rows if all of them fit, otherwise below.
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

/** Problems of the hub itself, such as a config file that was not loaded. */
async function degraded({ hub }: Access): Promise<readonly string[]> {
  return (await hub?.client.status())?.degraded ?? [];
}

/** The API's shape, with the most used fields first. */
function toJson(server: Server, isHubRunning: boolean): unknown {
  const { id, name, enabled } = server.config;
  return { id, name, enabled, hub_running: isHubRunning, ...server };
}

/** "-" if no hub is running or the server was never called. */
function measured(figure: (metrics: LatencyMetrics) => string): Column["cell"] {
  return ({ config }, { latency }) => {
    const metrics = latency?.find(({ server_name }) => server_name === config.name);
    return metrics === undefined || metrics.total_calls === 0 ? "-" : figure(metrics);
  };
}

function remark(server: Server): string {
  if (server.error !== null || server.status === "starting") return describeWithFix(server);
  const { length } = server.warnings;
  return length === 0 ? "" : `${count(length, "warning")}: plugboard get ${server.config.name}`;
}

/** Without a hub, a server runs only while the command looks at it. */
const WORKS = "works (not running)";
/** Unauthenticated, and a person can end that. */
const NEEDS_LOGIN = "needs login";

/** In error, until a person has seen what it runs. */
const NEEDS_APPROVAL = "needs approval";

const MARKS: Readonly<Record<string, readonly [mark: string, color: Exclude<keyof Palette, "series">]>> = {
  running: ["●", "good"],
  [WORKS]: ["✔", "good"],
  starting: ["◌", "doubtful"],
  error: ["✖", "bad"],
  disconnected: ["✖", "bad"],
  unauthenticated: ["!", "bad"],
  [NEEDS_LOGIN]: ["!", "bad"],
  [NEEDS_APPROVAL]: ["!", "bad"],
  stopped: ["○", "faint"],
  disabled: ["○", "faint"],
};

/** The state as a word; on a terminal with a mark and a colour. */
export function statusCell(
  { status, error }: Pick<Server, "status" | "error">,
  { terminal, color }: Access["out"],
  isHubRunning = true,
): Cell {
  const isLogin = status === "unauthenticated" && error !== null && isLoginError(error);
  const isApproval = error?.kind === "ApprovalRequired";
  const shown = isLogin
    ? NEEDS_LOGIN
    : isApproval
      ? NEEDS_APPROVAL
      : status === "running" && !isHubRunning
        ? WORKS
        : status;
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
