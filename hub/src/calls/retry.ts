// Whether a request that failed may be sent again, and when (RS-1). Pure: decides by how far the request came, never by the
// text of an error. A call that may already have run is not run twice, unless that is known to do no harm.

import type { HubError } from "../errors.ts";
import type { Resilience } from "../servers/resilience.ts";
import { isObject, type JsonObject } from "../wire/json.ts";

const DELAYS_MS = [500, 1000] as const;
const MAX_TOTAL_MS = 300_000;

/** Whether a request may run twice. */
export type Repeat = "safe" | "unsafe" | "never";

export interface Failure {
  readonly error: HubError;
  /** How often it was tried before this time. */
  readonly tries: number;
  readonly repeat: Repeat;
  /** A call is repeated once at most where its first outcome is unknown; a question as often as any. */
  readonly isCall: boolean;
  /** Until the one deadline over all attempts. */
  readonly leftMs: number;
}

/** How long all attempts may take together: one that may be repeated also after it timed out needs the time for that. */
export function deadlineMs(requestMs: number, repeat: Repeat): number {
  return repeat === "safe" ? Math.max(requestMs, Math.min(2 * requestMs + DELAYS_MS[0], MAX_TOTAL_MS)) : requestMs;
}

/** How long to wait before the next attempt; undefined: there is none. */
export function retryDelay({ error, tries, repeat, isCall, leftMs }: Failure): number | undefined {
  const delayMs = DELAYS_MS[tries];
  if (delayMs === undefined || repeat === "never") return undefined;
  switch (error.delivery) {
    case "unsent":
      return fits(delayMs, leftMs);
    case "refused":
      return fits(error.retryAfterMs ?? delayMs, leftMs);
    case "forgotten":
      return tries === 0 ? fits(delayMs, leftMs) : undefined;
    case "unknown":
      return repeat === "safe" && !(isCall && tries > 0) ? fits(delayMs, leftMs) : undefined;
    case "rejected":
    case undefined:
      return undefined;
  }
}

/** Whether a call of this tool may run twice: what the operator says, else what a trusted server's tool says of itself. */
export function repeatOf(name: string, tool: JsonObject | undefined, rules: Resilience): Repeat {
  const { retry, toolRetry, trusted } = rules;
  const rule = Object.hasOwn(toolRetry, name) ? toolRetry[name] : undefined;
  if (rule !== undefined) return rule;
  if (retry !== "auto") return retry === "always" ? "safe" : "never";
  return trusted && saysHarmless(tool) ? "safe" : "unsafe";
}

/** Whether a failure speaks against the server's health: not a caller's mistake or change of mind, not our own limits. */
export function countsAgainst({ code, kind, delivery }: HubError): boolean {
  if (kind === "Cancelled" || kind === "CircuitOpen" || kind === "Overloaded" || delivery === "rejected") return false;
  return code === "NETWORK_ERROR" || code === "SERVICE_UNAVAILABLE";
}

function saysHarmless(tool: JsonObject | undefined): boolean {
  const hints = tool?.["annotations"];
  return isObject(hints) && (hints["readOnlyHint"] === true || hints["idempotentHint"] === true);
}

function fits(delayMs: number, leftMs: number): number | undefined {
  return delayMs < leftMs ? delayMs : undefined;
}
