// Whether a request that failed may be sent again, and when (RS-1). Pure: decides by how far the request came, never by the
// text of an error. A call that may have run without a word from the server is not run twice, unless its tool or the operator
// says that this does no harm.

import type { Delivery, HubError } from "../errors.ts";
import type { Resilience } from "../servers/resilience.ts";
import { isObject, type JsonObject } from "../wire/json.ts";

const DELAYS_MS = [500, 1000] as const;
const MAX_TOTAL_MS = 300_000;

/** The failures after which a request may be sent again. */
export type Repeat = ReadonlySet<Delivery>;

const CERTAINLY_NOT_RUN = ["unsent", "refused", "forgotten"] as const;

export const NEVER: Repeat = new Set();
/** `retry: "safe"`, for any tool and for one that does no harm. */
const SAFE: Repeat = new Set(CERTAINLY_NOT_RUN);
const SAFE_HARMLESS: Repeat = new Set([...CERTAINLY_NOT_RUN, "unknown"]);
/** The usual rule. */
const USUAL: Repeat = new Set([...CERTAINLY_NOT_RUN, "gateway"]);
const EVERYTHING: Repeat = new Set([...CERTAINLY_NOT_RUN, "gateway", "unknown"]);

export interface Failure {
  readonly error: HubError;
  /** How often it was tried before this time. */
  readonly tries: number;
  readonly repeat: Repeat;
  /** Until the one deadline over all attempts. */
  readonly leftMs: number;
}

/**
 * How long all attempts may take together. A request that is repeated also after it timed out needs the time for that,
 * unless its caller named the time that it has.
 */
export function deadlineMs(requestMs: number, repeat: Repeat, { isGiven = false } = {}): number {
  if (isGiven || !repeat.has("unknown")) return requestMs;
  return Math.max(requestMs, Math.min(2 * requestMs + DELAYS_MS[0], MAX_TOTAL_MS));
}

/** How long to wait before the next attempt; undefined: there is none. */
export function retryDelay({ error, tries, repeat, leftMs }: Failure): number | undefined {
  const { delivery, retryAfterMs } = error;
  const usualMs = DELAYS_MS[tries];
  if (usualMs === undefined || delivery === undefined || !repeat.has(delivery)) return undefined;
  // A server that forgets a new session too will forget the next one.
  if (delivery === "forgotten" && tries > 0) return undefined;
  const isAnswer = delivery === "refused" || delivery === "gateway";
  const delayMs = isAnswer ? (retryAfterMs ?? usualMs) : usualMs;
  return delayMs < leftMs ? delayMs : undefined;
}

/** When a call of this tool is sent again: what the operator says, and what the tool says of itself. */
export function repeatOf(name: string, tool: JsonObject | undefined, rules: Resilience): Repeat {
  const { retry, toolRetry, trusted } = rules;
  const own = Object.hasOwn(toolRetry, name) ? toolRetry[name] : undefined;
  return byRule(own ?? retry, trusted && saysHarmless(tool));
}

/** The same for any other question, which changes nothing at the server. */
export function repeatOfQuestion({ retry }: Resilience): Repeat {
  return byRule(retry, true);
}

function byRule(rule: Resilience["retry"], isHarmless: boolean): Repeat {
  switch (rule) {
    case "never":
      return NEVER;
    case "safe":
      return isHarmless ? SAFE_HARMLESS : SAFE;
    case "always":
      return EVERYTHING;
    case "auto":
      return isHarmless ? EVERYTHING : USUAL;
  }
}

/** Whether the request that failed in this way may have been carried out. */
export function mayHaveRun({ delivery }: HubError): boolean {
  return delivery === "unknown" || delivery === "gateway";
}

/** Failures that say nothing about the server's health: a caller's change of mind, our own limits, a start under way. */
const NOT_ITS_FAULT: ReadonlySet<string> = new Set(["Cancelled", "CircuitOpen", "Overloaded", "ServerStarting"]);

/** Whether a failure speaks against the server's health. */
export function countsAgainst({ code, kind, delivery }: HubError): boolean {
  if (NOT_ITS_FAULT.has(kind) || delivery === "rejected") return false;
  return code === "NETWORK_ERROR" || code === "SERVICE_UNAVAILABLE";
}

function saysHarmless(tool: JsonObject | undefined): boolean {
  const hints = tool?.["annotations"];
  return isObject(hints) && (hints["readOnlyHint"] === true || hints["idempotentHint"] === true);
}
