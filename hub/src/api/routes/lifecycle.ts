// Servers: starting, stopping, switching, and what they say.

import { z } from "@hono/zod-openapi";
import type { LifecycleCommands } from "../commands/lifecycle.ts";
import { idParam, route, type Route } from "../route.ts";
import { integer } from "../schemas/query.ts";
import { logs, packageUpdate, server } from "../schemas/server.ts";

const tag = "servers";
/** More than are ever kept. */
const MAX_LINES = 1_000_000;

const SUMMARIES = {
  start: "Start a server, and wait until it is up (start_mcp_server)",
  stop: "Stop a server (stop_mcp_server)",
  restart: "Stop a server and start it again",
  enable: "Switch a server on for good; if it does not start, it is switched off again",
  disable: "Switch a server off for good",
} as const;

const ACTIONS = ["start", "stop", "restart", "enable", "disable"] as const;

const logQuery = z.strictObject({
  tail: integer({ min: 1, max: MAX_LINES, description: "How many lines, at most" }).default(100),
});

export function lifecycleRoutes(lifecycle: LifecycleCommands): Route[] {
  return [
    ...ACTIONS.map((action) =>
      route({
        method: "post",
        path: `/servers/{id}/${action}`,
        tag,
        id: `${action}Server`,
        summary: SUMMARIES[action],
        params: idParam,
        answer: server,
        run: ({ params }) => lifecycle[action](params.id),
      }),
    ),
    route({
      method: "post",
      path: "/servers/{id}/update",
      tag,
      id: "updateServerPackage",
      summary: "Install what a server's npm package is today, and run that",
      params: idParam,
      answer: packageUpdate,
      run: ({ params, signal }) => lifecycle.update(params.id, signal),
    }),
    route({
      method: "get",
      path: "/servers/{id}/logs",
      tag,
      id: "getServerLogs",
      summary: "The last lines that a server wrote to stderr",
      params: idParam,
      query: logQuery,
      answer: logs,
      run: ({ params, query }) => lifecycle.logs(params.id, query.tail),
    }),
  ];
}
