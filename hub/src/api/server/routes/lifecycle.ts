// Servers: start, stop, enable, disable, update and logs.

import * as z from "zod/mini";
import type { LifecycleCommands } from "../commands/lifecycle.ts";
import { withProgress } from "../progress.ts";
import { idParam, routesOf, type Route } from "../route.ts";
import { describe } from "../../schemas/docs.ts";
import { logLevel, logSource } from "../../schemas/log.ts";
import { integer, time } from "../../schemas/query.ts";
import { logs, packageUpdate, updatePreview, server } from "../../schemas/server.ts";

const { get, post } = routesOf("servers");
/** More than the hub keeps. */
const MAX_LINES = 1_000_000;

const SUMMARIES = {
  start: "Start a server and wait until it runs (start_mcp_server)",
  stop: "Stop a server (stop_mcp_server)",
  restart: "Restart a server",
  enable: "Enable and start a server; if it does not start, it stays disabled",
  disable: "Stop and disable a server",
} as const;

const ACTIONS = ["stop", "enable", "disable"] as const;
/** A client can follow them. */
const STARTS = ["start", "restart"] as const;

const logQuery = z.strictObject({
  tail: z._default(integer({ min: 1, max: MAX_LINES, description: "Maximum number of lines" }), 100),
  before: z.optional(time),
  since: z.optional(time),
  source: describe(z.optional(logSource), "Only its stderr, or only its MCP log messages; default: both"),
  level: describe(
    z.optional(logLevel),
    "Omits MCP log messages below this level; lines of stderr have no level and stay",
  ),
});

export function lifecycleRoutes(lifecycle: LifecycleCommands): Route[] {
  return [
    ...ACTIONS.map((action) =>
      post(`/servers/{id}/${action}`, `${action}Server`, SUMMARIES[action], {
        params: idParam,
        answer: server,
        run: ({ params, edit }) => lifecycle[action](params.id, edit),
      }),
    ),
    ...STARTS.map((action) =>
      post(`/servers/{id}/${action}`, `${action}Server`, SUMMARIES[action], {
        params: idParam,
        answer: server,
        progress: true,
        run: (call) => withProgress(call, (progress) => lifecycle[action](call.params.id, progress)),
      }),
    ),
    post(
      "/servers/{id}/update",
      "updateServerPackage",
      "Install and run the current version of a server's npm package",
      {
        params: idParam,
        answer: packageUpdate,
        progress: true,
        run: (call) => withProgress(call, (progress) => lifecycle.update(call.params.id, call.signal, progress)),
      },
    ),
    post(
      "/servers/{id}/update/preview",
      "previewServerUpdate",
      "What an update of a server's npm package would change in its tools; nothing of the new version is left",
      {
        params: idParam,
        answer: updatePreview,
        run: (call) => lifecycle.previewUpdate(call.params.id, call.signal),
      },
    ),
    post("/servers/{id}/update/rollback", "rollBackServerPackage", "Go back to the version before the last update", {
      params: idParam,
      answer: packageUpdate,
      progress: true,
      run: (call) => withProgress(call, (progress) => lifecycle.rollBack(call.params.id, call.signal, progress)),
    }),
    get("/servers/{id}/logs", "getServerLogs", "The last lines of a server's stderr and its last MCP log messages", {
      params: idParam,
      query: logQuery,
      answer: logs,
      run: ({ params, query }) => lifecycle.logs(params.id, query),
    }),
  ];
}
