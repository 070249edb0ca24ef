// `plugboard stats`: how long calls take, per server; of one server also per tool.

import type { LatencyMetrics } from "../api/schemas/call.ts";
import { requireHub } from "./find-hub.ts";
import type { GlobalOptions } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { duration } from "./times.ts";

export const statsCommand: Register = (program, { io, done }) => {
  program
    .command("stats")
    .description("show how long calls take: p50, p95, p99")
    .argument("[server]", "only this server")
    .action(async (server: string | undefined, options: GlobalOptions) => {
      const out = new Output(io, options);
      const { client } = await requireHub(io, options);
      const name = server === undefined ? undefined : (await client.getServer(server)).config.name;
      const metrics = await client.latency(name);
      if (out.json) out.data(metrics);
      else if (metrics.every(({ total_calls }) => total_calls === 0)) out.print("No calls yet.");
      else {
        const rows = metrics.flatMap((row) => [
          figures(row.server_name, row),
          ...(row.tools ?? []).map((tool) => figures(`  ${tool.tool_name}`, tool)),
        ]);
        out.table([["SERVER", "CALLS", "ERRORS", "P50", "P95", "P99"], ...rows], { right: [1, 2, 3, 4, 5] });
      }
      done(0);
    });
};

type Figures = Pick<LatencyMetrics, "total_calls" | "errors" | "p50_ms" | "p95_ms" | "p99_ms">;

function figures(name: string, { total_calls, errors, p50_ms, p95_ms, p99_ms }: Figures): string[] {
  return [name, String(total_calls), String(errors), duration(p50_ms), duration(p95_ms), duration(p99_ms)];
}
