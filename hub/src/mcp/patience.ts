// Waiting for what others do, but not for ever, and not for a client that has gone.

import type { Cancellation } from "../wire/cancellation.ts";

export function within(work: Promise<unknown>, { ms, signal }: { ms: number; signal: Cancellation }): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    void work.catch(() => undefined).finally(done); // how it ended is for those who hold it
  });
}
