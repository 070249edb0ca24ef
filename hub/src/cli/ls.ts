// `plugboard ls`: every configured server with its real state. Without a running hub it starts them to know it.

import type { Server } from "../api/schemas/server.ts";
import type { LatencyMetrics } from "../api/schemas/call.ts";
import { withAccess, type Access } from "./access.ts";
import type { Palette } from "./color.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";
import { describe } from "./progress.ts";
import type { Cell } from "./table.ts";
import { count } from "./text.ts";
import { duration, span } from "./times.ts";

export const lsCommand: Register = (program, { io, done }) => {
  program
    .command("ls")
    .alias("list")
    .description("list all servers and whether they work")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, ls);
      done(0);
    });
};

async function ls(access: Access): Promise<void> {
  const { api, out, hub } = access;
  await access.ready();
  const [servers, latency] = await Promise.all([api.listServers(), hub?.client.latency()]);
  if (out.json) return out.data(servers.map(toJson));
  if (servers.length === 0) return out.print("No servers. Add one: plugboard add @modelcontextprotocol/server-memory");
  if (latency === undefined) {
    const rows = servers.map((server) => [...named(server, access), server.groups.join(" "), remark(server)]);
    out.table([["NAME", "KIND", "STATUS", "TOOLS", "GROUPS", ""], ...rows], { right: [3] });
  } else {
    const header = ["NAME", "KIND", "STATUS", "TOOLS", "CALLS", "P50", "P95", "UP", "GROUPS", ""];
    const rows = servers.map((server) => [
      ...named(server, access),
      ...measured(server, latency),
      server.groups.join(" "),
      remark(server),
    ]);
    out.table([header, ...rows], { right: [3, 4, 5, 6, 7] });
  }
  out.print(`${count(servers.length, "server")}: ${summary(servers)}`);
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

function measured(server: Server, latency: readonly LatencyMetrics[]): string[] {
  const metrics = latency.find(({ server_name }) => server_name === server.config.name);
  const up = server.status === "running" && server.since !== null ? span(Date.now() - Date.parse(server.since)) : "-";
  if (metrics === undefined || metrics.total_calls === 0) return ["-", "-", "-", up];
  return [String(metrics.total_calls), duration(metrics.p50_ms), duration(metrics.p95_ms), up];
}

function remark(server: Server): string {
  return server.error === null ? "" : describe(server);
}

const MARKS: Readonly<Record<string, readonly [mark: string, color: keyof Palette]>> = {
  running: ["●", "good"],
  starting: ["◌", "doubtful"],
  error: ["✖", "bad"],
  disconnected: ["✖", "bad"],
  stopped: ["○", "faint"],
  disabled: ["○", "faint"],
};

/** A state in a word; on a terminal with a mark and a colour. */
export function statusCell(status: string, { terminal, color }: Access["out"]): Cell {
  const [mark, paint] = MARKS[status] ?? ["?", "doubtful"];
  return terminal ? { text: `${mark} ${status}`, paint: color[paint] } : status;
}

/** @example summary(servers) // "3 running, 1 error" */
export function summary(servers: readonly Pick<Server, "status">[]): string {
  const states = new Map<string, number>();
  for (const { status } of servers) states.set(status, (states.get(status) ?? 0) + 1);
  return [...states].map(([state, n]) => `${n} ${state}`).join(", ");
}
