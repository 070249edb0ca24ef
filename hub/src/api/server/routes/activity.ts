// Calls that are under way, and connected clients.

import * as z from "zod/mini";
import { activeCall } from "../../schemas/call.ts";
import { session } from "../../schemas/session.ts";
import type { ActivityCommands } from "../commands/activity.ts";
import { routesOf, type Route } from "../route.ts";

const { get, remove } = routesOf("activity");
const idParam = z.strictObject({ id: z.string().check(z.minLength(1)) });

export function activityRoutes(activity: ActivityCommands): Route[] {
  return [
    get("/calls/active", "listActiveCalls", "Calls that are under way, oldest first", {
      answer: z.array(activeCall),
      run: () => activity.calls(),
    }),
    remove("/calls/active/{id}", "cancelCall", "Cancel a call that is under way; its caller gets an error", {
      params: idParam,
      run: ({ params }) => activity.cancelCall(params.id),
    }),
    get("/sessions", "listSessions", "Connected clients", {
      answer: z.array(session),
      run: () => activity.sessions(),
    }),
    remove("/sessions/{id}", "endSession", "End the session of a client", {
      params: idParam,
      run: ({ params }) => activity.endSession(params.id),
    }),
  ];
}
