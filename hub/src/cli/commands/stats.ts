// `plugboard stats`: latency per server, and per tool of one server. With --since the figures come from the call log.

import type { LatencyMetrics, Stats } from "../../api/schemas/call.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import { requireHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { duration, parseSince } from "../terminal/times.ts";

interface StatsOptions extends GlobalOptions {
  readonly since?: string;
}

export const statsCommand: Register = (program, { io }) => {
  program
    .command("stats")
    .description("show how long calls take: p50, p95, p99")
    .argument("[server]", "show this server and its tools")
    .option("--since <time>", "read the call log: 10m, 24h, 7d, or a date; works without a running hub")
    .action(async (server: string | undefined, options: StatsOptions) => {
      const { since } = options;
      if (since === undefined) await present(io, server, options);
      else await recorded(io, { server, since: parseSince(since, "since").toISOString() }, options);
    });
};

/** Configured servers, last 24 hours. */
async function present(io: Io, server: string | undefined, options: StatsOptions): Promise<void> {
  const { client } = await requireHub(io, options);
  const name = server === undefined ? undefined : (await client.servers.get(server)).config.name;
  show(new Output(io, options), await client.calls.latency(name), "No calls yet.");
}

async function recorded(
  io: Io,
  { server, since }: { server: string | undefined; since: string },
  options: StatsOptions,
): Promise<void> {
  await withAccess(io, options, async ({ api, out }) => {
    show(
      out,
      await api.calls.stats({ since, ...(server === undefined ? {} : { server }) }),
      "No calls in this period.",
    );
  });
}

function show(out: Output, servers: readonly (LatencyMetrics | Stats)[], none: string): void {
  if (out.json) out.data(servers);
  else if (servers.every(({ total_calls }) => total_calls === 0)) out.print(none);
  else {
    const rows = servers.flatMap((row) => [
      figures(row.server_name, row),
      ...(row.tools ?? []).map((tool) => figures(`  ${tool.tool_name}`, tool)),
    ]);
    out.table([COLUMNS, ...rows], { right: [1, 2, 3, 4, 5, 6] });
  }
}

const COLUMNS = ["SERVER", "CALLS", "ERRORS", "TOOL ERRORS", "P50", "P95", "P99"];

type Figures = Pick<LatencyMetrics, "total_calls" | "errors" | "tool_errors" | "p50_ms" | "p95_ms" | "p99_ms">;

function figures(name: string, { total_calls, errors, tool_errors, p50_ms, p95_ms, p99_ms }: Figures): string[] {
  return [
    name,
    String(total_calls),
    String(errors),
    String(tool_errors),
    duration(p50_ms),
    duration(p95_ms),
    duration(p99_ms),
  ];
}
