// The questions of whoever keeps the hub running. They need no token, and say nothing else.

import { access, constants } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson } from "../wire/http-answer.ts";
import { wrongMethod } from "./problem.ts";
import { sendProblem } from "./refusal.ts";
import { identify } from "./request-id.ts";

export interface Readiness {
  /** The hub is on its way out. */
  readonly stopping: boolean;
  readonly dataDir: string;
  /** Why calls cannot be recorded right now. */
  readonly degraded: string | undefined;
}

const PATHS = ["/livez", "/healthz", "/readyz"];

/**
 * Answers `/livez` (also as `/healthz`) and `/readyz`; false for any other path. Alive is whoever answers, ready who can
 * also store. Whether each server is up is no question of readiness: one that is down must not take the others with it.
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

/** The config is loaded before anybody listens. */
async function isReady({ stopping, dataDir, degraded }: Readiness): Promise<boolean> {
  if (stopping || degraded !== undefined) return false;
  return access(dataDir, constants.W_OK).then(
    () => true,
    () => false,
  );
}

function send(response: ServerResponse, ok: boolean): void {
  sendJson(response, ok ? 200 : 503, Buffer.from(JSON.stringify({ status: ok ? "ok" : "unavailable" })));
}
