// Liveness and readiness probes. They need no token, and show nothing but the status.

import { access, constants } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeResponse } from "../../http/node-response.ts";
import { sendJson } from "../../protocol/serve/http-response.ts";
import { wrongMethod } from "../../http/problem.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { identify } from "../../http/request-id.ts";

export interface Readiness {
  readonly stopping: boolean;
  readonly dataDir: string;
  /** Why calls cannot be recorded at the moment. */
  readonly degraded: string | undefined;
  /** A replica whose database is away stays ready: so are all others, and together they would leave the load balancer. */
  readonly staysReady: boolean;
}

type Status = "ok" | "degraded" | "unavailable";

const PATHS = ["/livez", "/healthz", "/readyz"];

/**
 * Answers `/livez` (also `/healthz`) and `/readyz`; false for any other path. The hub is ready if it can store calls.
 * Servers do not count: one that is down must not take the whole hub out of service.
 */
export function answerProbe(request: IncomingMessage, response: ServerResponse, readiness: Readiness): boolean {
  const path = request.url?.split("?", 1)[0] ?? "";
  if (!PATHS.includes(path)) return false;
  if (request.method !== "GET" && request.method !== "HEAD") {
    sendProblem(response, wrongMethod(["GET", "HEAD"]), identify(request, response));
  } else if (path === "/readyz") {
    void readinessOf(readiness).then((status) => send(response, status));
  } else send(response, "ok");
  return true;
}

/** The config needs no check: it is loaded before the hub listens. */
async function readinessOf({ stopping, dataDir, degraded, staysReady }: Readiness): Promise<Status> {
  if (stopping || (degraded !== undefined && !staysReady)) return "unavailable";
  return access(dataDir, constants.W_OK).then(
    () => (degraded === undefined ? "ok" : "degraded"),
    () => "unavailable",
  );
}

function send(response: ServerResponse, status: Status): void {
  const code = status === "unavailable" ? 503 : 200;
  sendJson(new NodeResponse(response), code, Buffer.from(JSON.stringify({ status })));
}
