// Waits for work, with a timeout and a cancellation. Giving up ends the wait and not the work.

import { HubError } from "../errors.ts";
import type { Cancellation } from "./cancellation.ts";

interface TimeoutOptions {
  readonly ms: number;
  readonly signal?: Cancellation | undefined;
  readonly timeoutError?: () => HubError;
}

/** Rejects when the time is over or the signal aborts. */
export function withTimeout<T>(work: Promise<T>, { ms, signal, timeoutError }: TimeoutOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      stop();
      reject(new HubError("Cancelled", "Cancelled by the caller"));
    };
    const timer = setTimeout(() => {
      stop();
      reject(timeoutError?.() ?? new HubError("Timeout", `Not done within ${Math.round(ms)} ms`));
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(stop);
    if (signal?.aborted === true) onAbort();
  });
}
