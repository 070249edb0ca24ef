// History and resources of servers, and the hub's own log.

import * as z from "zod/mini";
import { logLine } from "../../schemas/log.ts";
import { integer, time } from "../../schemas/query.ts";
import { statusChange, usage } from "../../schemas/server.ts";
import type { DiagnosticCommands } from "../commands/diagnostics.ts";
import { idParam, routesOf, type Route } from "../route.ts";

const { get } = routesOf("diagnostics");
const MAX_LINES = 5000;

export function diagnosticRoutes(diagnostics: DiagnosticCommands): Route[] {
  return [
    get(
      "/servers/{id}/history",
      "getServerHistory",
      "States of a server in the last seven days, oldest first; since a time: also the state that held then",
      {
        params: idParam,
        query: z.strictObject({ since: z.optional(time) }),
        answer: z.array(statusChange),
        run: ({ params, query }) => diagnostics.history(params.id, query.since),
      },
    ),
    get("/servers/{id}/usage", "getServerUsage", "Memory and CPU time of a server's processes; null if not known", {
      params: idParam,
      answer: z.nullable(usage),
      run: ({ params }) => diagnostics.usage(params.id),
    }),
    get("/logs", "getHubLogs", "The last lines of the hub's own log", {
      query: z.strictObject({
        tail: z._default(integer({ min: 1, max: MAX_LINES, description: "Maximum number of lines" }), 200),
      }),
      answer: z.array(logLine),
      run: ({ query }) => diagnostics.logs(query.tail),
    }),
  ];
}
