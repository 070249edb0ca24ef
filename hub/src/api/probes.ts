// The two questions of whoever keeps the hub running. They need no token, and say nothing else.

import { access, constants } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { sendJson } from "../wire/http-answer.ts";

export interface Readiness {
  /** The hub is on its way out. */
  readonly stopping: boolean;
  readonly dataDir: string;
}

/** Answers `/livez` and `/readyz`; false for any other path. Alive is whoever answers, ready who can also store. */
export function answerProbe(path: string, response: ServerResponse, { stopping, dataDir }: Readiness): boolean {
  if (path === "/livez") send(response, true);
  else if (path !== "/readyz") return false;
  else if (stopping) send(response, false);
  else {
    access(dataDir, constants.W_OK).then(
      () => send(response, true),
      () => send(response, false),
    );
  }
  return true;
}

function send(response: ServerResponse, ok: boolean): void {
  sendJson(response, ok ? 200 : 503, Buffer.from(JSON.stringify({ status: ok ? "ok" : "unavailable" })));
}
