// When and how a broken stream of Streamable HTTP is resumed. Shared by the hub and the bridge.

import type { HubError } from "../../errors.ts";

export const RETRY_MS = 1000;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 300_000;
/** How many resumptions in a row may bring nothing new. The request's own timeout may end it before. */
export const MAX_IDLE = 5;

/** The server's `retry`, within bounds. */
export function retryPause(ms: number): number {
  return Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS);
}

/** Whether an id fits into the header Last-Event-ID. */
export function isEventId(text: string): boolean {
  return /^[\x21-\x7e]{1,1024}$/.test(text);
}

/** Whether a resumption is worth another try: a server that fails (5xx) may recover, one that refuses (4xx) will not. */
export function mayGoOn({ kind }: HubError, status: number | undefined): boolean {
  return kind === "ConnectionFailed" && (status === undefined || status === 200 || status >= 500);
}
