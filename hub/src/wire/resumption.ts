// How a stream of Streamable HTTP that broke off is taken up again: where, when, and how often in vain. The hub and the bridge
// have the same rules.

import type { HubError } from "../errors.ts";

export const RETRY_MS = 1000;
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 300_000;
/** So often a stream is asked for in vain. The request's own time-out may end it before. */
export const MAX_IDLE = 5;

/** What the server asks for, within reason. */
export function retryPause(ms: number): number {
  return Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS);
}

/** It goes back in a header. */
export function isEventId(text: string): boolean {
  return /^[\x21-\x7e]{1,1024}$/.test(text);
}

/** A server that refuses to go on with it has nothing to give any more. One that fails may have. */
export function mayGoOn({ kind }: HubError, status: number | undefined): boolean {
  return kind === "ConnectionFailed" && (status === undefined || status === 200 || status >= 500);
}
