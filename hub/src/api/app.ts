// The management API as an edge of the listener: asks for the token before anything else, answers probes, and loads the
// rest only when it is first wanted: most hubs are never asked, and it takes a tenth of their memory.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ManagementToken } from "../auth/management-token.ts";
import type { Managed } from "./core.ts";
import { collect } from "./live/collect.ts";
import { EventLog } from "./live/event-log.ts";
import { EventStreams } from "./live/event-streams.ts";
import { answerProbe } from "./probes.ts";
import { sendProblem } from "./refusal.ts";
import { identify } from "./request-id.ts";

export interface ApiOptions extends Managed {
  readonly token: ManagementToken;
  /** Something that nobody foresaw, for the log: the answer says nothing about it. */
  readonly onUnexpected?: (error: unknown, requestId: string) => void;
}

/** An Edge of the listener, and the end of its streams. */
export interface Api {
  (request: IncomingMessage, response: ServerResponse): boolean;
  /** How many read live events now. */
  eventClients(): number;
  /** Ends every event stream. Comes before the listener's own close. */
  close(): void;
}

export function createApi(options: ApiOptions): Api {
  const { hub, token, onUnexpected = () => undefined } = options;
  const log = new EventLog();
  const streams = new EventStreams(log);
  collect(hub, log);
  let closed = false;
  let rest: ReturnType<typeof load> | undefined;
  const load = async () => {
    const [{ createRest }, { createRoutes }] = await Promise.all([import("./rest.ts"), import("./routes.ts")]);
    return createRest({
      routes: createRoutes(options, streams),
      revision: () => hub.configuration.revision,
      onUnexpected,
    });
  };
  const loaded = () =>
    (rest ??= load().catch((error: unknown) => {
      rest = undefined; // the next request tries again
      throw error;
    }));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const listener = await loaded();
    await listener(request, response);
  };
  const edge = (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = request.url?.split("?", 1)[0] ?? "";
    const { degraded } = options.callLog;
    if (answerProbe(request, response, { stopping: closed || hub.isStopping, dataDir: options.paths.data, degraded }))
      return true;
    if (path !== "/api" && !path.startsWith("/api/")) return false;
    const requestId = identify(request, response);
    response.setHeader("cache-control", "no-store");
    response.setHeader("x-content-type-options", "nosniff");
    try {
      token.require(request.headers.authorization, request.socket.remoteAddress ?? "");
    } catch (error) {
      sendProblem(response, error, requestId);
      return true;
    }
    answer(request, response).catch((error: unknown) => {
      onUnexpected(error, requestId);
      sendProblem(response, error, requestId);
    });
    return true;
  };
  return Object.assign(edge, {
    eventClients: () => streams.count,
    close: () => {
      closed = true;
      streams.close();
    },
  });
}
