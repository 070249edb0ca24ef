// Tells the client of a call that waits for approval what it is waiting for, as progress of the call: clients give up without a word
// from the hub.

import { isObject } from "../../lib/json/json.ts";
import { raw } from "../../protocol/rpc/jsonrpc.ts";
import type { ServerRequest } from "../call.ts";

const EVERY_MS = 10_000;
/** The server's own progress begins at 0 or above, and progress must increase. */
const STEP = 1e-6;

/** Returns what ends it. */
export function announce(request: ServerRequest, isClientAsked: boolean): () => void {
  const meta = request.params?.value["_meta"];
  const progressToken = isObject(meta) ? meta["progressToken"] : undefined;
  if (progressToken === undefined || request.onNotification === undefined) return () => {};
  const where = isClientAsked ? "here, by `plugboard approvals`" : "by `plugboard approvals`";
  const message = `Waiting for a person to approve the call: ${where} or in the web interface`;
  let progress = 0;
  const tell = () =>
    request.onNotification?.("notifications/progress", raw({ progressToken, progress: (progress += STEP), message }));
  tell();
  const timer = setInterval(tell, EVERY_MS);
  return () => clearInterval(timer);
}
