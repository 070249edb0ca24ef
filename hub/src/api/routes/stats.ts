// How long the recorded calls of some time took.

import { z } from "@hono/zod-openapi";
import type { StatsCommands } from "../commands/stats.ts";
import { route, type Route } from "../route.ts";
import { stats } from "../schemas/call.ts";
import { time } from "../schemas/query.ts";

const query = z.strictObject({
  server: z.string().optional().openapi({ description: "Only this one; its id or name" }),
  since: time.optional(),
});

export function statsRoutes(commands: StatsCommands): Route[] {
  return [
    route({
      method: "get",
      path: "/stats",
      tag: "records",
      id: "getStats",
      summary: "p50, p95, p99, calls and errors per server and tool, from the call log",
      query,
      answer: z.array(stats),
      run: ({ query: asked }) => commands.of(asked),
    }),
  ];
}
