// --timeout: how long a command may take. One that talks to a hub asks each question with it; one that opens a hub of its
// own gives up as a whole.

import { TIMEOUT_MAX_MS } from "../config/limits.ts";
import { HubError } from "../errors.ts";
import type { GlobalOptions } from "./io.ts";
import { parseDuration } from "./times.ts";

export function timeoutOf({ timeout }: GlobalOptions): number | undefined {
  if (timeout === undefined) return undefined;
  // A number alone is seconds, as most tools have it.
  const ms = parseDuration(/^\d+(?:\.\d+)?$/.test(timeout) ? `${timeout}s` : timeout, "timeout");
  if (ms >= 1 && ms <= TIMEOUT_MAX_MS) return Math.ceil(ms);
  throw new HubError("InvalidConfig", `"${timeout}" is not a time that can be waited`, {
    field: "timeout",
    hint: "Write 500ms, 30s or 10m",
  });
}

export async function within<T>(timeoutMs: number | undefined, work: Promise<T>): Promise<T> {
  if (timeoutMs === undefined) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined); // nobody waits for it any more
  }
}

function timedOut(timeoutMs: number): HubError {
  return new HubError("Timeout", `Not done within ${timeoutMs} ms`, { hint: "Give it more time: --timeout 60s" });
}
