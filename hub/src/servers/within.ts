// Waiting for a server that is being started, on behalf of a caller.

import { HubError } from "../errors.ts";
import type { Cancellation } from "../wire/cancellation.ts";

/** Waits no longer than the caller does. What is waited for goes on. */
export function within<T>(start: Promise<T>, signal: Cancellation | undefined, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      leave();
      reject(new HubError("Cancelled", "The caller no longer waits"));
    };
    const timer = setTimeout(() => {
      leave();
      reject(new HubError("ServerStarting", `The server is still starting after ${Math.round(limitMs)} ms`));
    }, limitMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    start.then(resolve, reject).finally(leave);
    if (signal?.aborted === true) onAbort();
  });
}
