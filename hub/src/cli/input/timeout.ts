// --timeout: limits each request to a running hub, or the whole command if it opens its own hub.

import { TIMEOUT_MAX_MS } from "../../config/schema/limits.ts";
import { HubError } from "../../errors.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import type { GlobalOptions } from "../io.ts";
import { parseDuration } from "../terminal/times.ts";

export function timeoutOf({ timeout }: GlobalOptions): number | undefined {
  if (timeout === undefined) return undefined;
  // A bare number is seconds.
  const ms = parseDuration(/^\d+(?:\.\d+)?$/.test(timeout) ? `${timeout}s` : timeout, "timeout");
  if (ms >= 1 && ms <= TIMEOUT_MAX_MS) return Math.ceil(ms);
  throw new HubError("InvalidArgument", `Invalid --timeout "${timeout}"`, {
    field: "timeout",
    hint: "Use 500ms, 30s or 10m",
  });
}

export async function within<T>(timeoutMs: number | undefined, work: Promise<T>): Promise<T> {
  if (timeoutMs === undefined) return work;
  return withTimeout(work, { ms: timeoutMs, timeoutError: () => timedOut(timeoutMs) });
}

function timedOut(timeoutMs: number): HubError {
  return new HubError("Timeout", `Timed out after ${timeoutMs} ms`, { hint: "Give it more time: --timeout 60s" });
}
