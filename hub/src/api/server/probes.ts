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
}

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
    void isReady(readiness).then((ready) => send(response, ready));
  } else send(response, true);
  return true;
}

/** The config needs no check: it is loaded before the hub listens. */
async function isReady({ stopping, dataDir, degraded }: Readiness): Promise<boolean> {
  if (stopping || degraded !== undefined) return false;
  return access(dataDir, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function send(response: ServerResponse, ok: boolean): void {
  sendJson(
    new NodeResponse(response),
    ok ? 200 : 503,
    Buffer.from(JSON.stringify({ status: ok ? "ok" : "unavailable" })),
  );
}
