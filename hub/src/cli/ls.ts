// `plugboard ls`: every configured server with its real state. Without a running hub it starts them to know it.

import type { Server } from "../api/schemas/server.ts";
import type { LatencyMetrics } from "../api/schemas/call.ts";
import { withAccess, type Access } from "./access.ts";
import type { Palette } from "./color.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";
import { describe, isBroken } from "./progress.ts";
import type { Cell } from "./table.ts";
import { count } from "./text.ts";
import { duration, span } from "./times.ts";

interface LsOptions extends GlobalOptions {
  readonly running?: boolean;
}

const COLUMNS = ["NAME", "KIND", "STATUS", "TOOLS", "CALLS 24h", "P50", "P95", "ERR", "UP", "GROUPS", ""];
const NUMBERS = [3, 4, 5, 6, 7, 8];

export const lsCommand: Register = (program, { io, done }) => {
  program
    .command("ls")
    .alias("list")
    .description("list all servers and whether they work")
    .option("--running", "only those that run")
    .action(async (options: LsOptions) => {
      await withAccess(io, options, (access) => ls(access, options));
      done(0);
    });
};

/** `plugboard ps`, as people know it. */
export const psCommand: Register = (program, { io, done }) => {
  program
    .command("ps")
    .description("list the servers that run: ls --running")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, (access) => ls(access, { running: true }));
      done(0);
    });
};

async function ls(access: Access, { running = false }: LsOptions): Promise<void> {
  const { api, out, hub } = access;
  await access.ready();
  const [all, latency] = await Promise.all([api.listServers(), hub?.client.latency()]);
  const servers = running ? all.filter(({ status }) => status === "running") : all;
  if (out.json) return out.data(servers.map(toJson));
  if (all.length === 0) return out.print("No servers. Add one: plugboard add @modelcontextprotocol/server-memory");
  const rows = servers.map((server) => [
    ...named(server, access),
    ...measured(server, latency),
    server.groups.join(" "),
    remark(server),
  ]);
  out.table([COLUMNS, ...rows], { right: NUMBERS });
  out.print(`${count(all.length, "server")}: ${summary(all)}`);
}

/** S4's shape, with what people ask for most at the top. */
function toJson(server: Server): unknown {
  const { id, name, enabled } = server.config;
  return { id, name, enabled, ...server };
}

function named(server: Server, { out }: Access): Cell[] {
  const tools = server.status === "running" ? String(server.tools.length) : "-";
  return [server.config.name, server.kind, statusCell(server.status, out), tools];
}

/** Nothing where no hub runs, or it was never called. */
function measured(server: Server, latency: readonly LatencyMetrics[] | undefined): string[] {
  if (latency === undefined) return ["-", "-", "-", "-", "-"];
  const metrics = latency.find(({ server_name }) => server_name === server.config.name);
  const up = server.status === "running" && server.since !== null ? span(Date.now() - Date.parse(server.since)) : "-";
  if (metrics === undefined || metrics.total_calls === 0) return ["-", "-", "-", "-", up];
  const { calls_24h, errors_24h, p50_ms, p95_ms } = metrics;
  const errors = calls_24h === 0 ? "-" : `${Math.round((errors_24h / calls_24h) * 100)}%`;
  return [String(calls_24h), duration(p50_ms), duration(p95_ms), errors, up];
}

function remark(server: Server): string {
  return server.error === null && server.status !== "starting" ? "" : describe(server);
}

const MARKS: Readonly<Record<string, readonly [mark: string, color: keyof Palette]>> = {
  running: ["●", "good"],
  starting: ["◌", "doubtful"],
  error: ["✖", "bad"],
  disconnected: ["✖", "bad"],
  unauthenticated: ["!", "bad"],
  stopped: ["○", "faint"],
  disabled: ["○", "faint"],
};

/** A state in a word; on a terminal with a mark and a colour. */
export function statusCell(status: string, { terminal, color }: Access["out"]): Cell {
  const [mark, paint] = MARKS[status] ?? ["?", "doubtful"];
  return terminal ? { text: `${mark} ${status}`, paint: color[paint] } : status;
}

/** @example summary(servers) // "3 running, 1 needs attention, 1 disabled" */
export function summary(servers: readonly Pick<Server, "status">[]): string {
  const states = new Map<string, number>();
  for (const { status } of servers) {
    const kind = isBroken(status) ? ATTENTION : status;
    states.set(kind, (states.get(kind) ?? 0) + 1);
  }
  return ORDER.flatMap((state) => {
    const n = states.get(state);
    if (n === undefined) return [];
    return state === ATTENTION ? [`${n} ${n === 1 ? "needs" : "need"} attention`] : [`${n} ${state}`];
  }).join(", ");
}

const ATTENTION = "attention";
const ORDER = ["running", "starting", ATTENTION, "stopped", "disabled"];
