// `plugboard stats`: how long calls take, per server.

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
        const rows = metrics.map((row) => [
          row.server_name,
          String(row.total_calls),
          duration(row.p50_ms),
          duration(row.p95_ms),
          duration(row.p99_ms),
        ]);
        out.table([["SERVER", "CALLS", "P50", "P95", "P99"], ...rows], { right: [1, 2, 3, 4] });
      }
      done(0);
    });
};
