// Sends a request again after a failure (RS-1), within one deadline over all attempts. The rules below the step are pure: they
// decide by how far the request came, never by the text of an error. A call that may have run is not sent again, unless its tool
// or the operator says that running it twice is harmless.

import { HubError, toHubError, type Delivery, type ErrorKind } from "../../errors.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type { Resilience } from "../../servers/resilience/resilience.ts";
import type { ManagedServer } from "../../servers/server.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import type { Call, Step } from "../call.ts";

const DELAYS_MS = [500, 1000] as const;
const MAX_TOTAL_MS = 300_000;

/** The failures after which a request is sent again. */
export type RetryOn = ReadonlySet<Delivery>;

const CERTAINLY_NOT_RUN = ["unsent", "refused", "forgotten"] as const;

const NEVER: RetryOn = new Set();
/** `retry: "safe"`, for any tool and for a harmless one. */
const SAFE: RetryOn = new Set(CERTAINLY_NOT_RUN);
const SAFE_HARMLESS: RetryOn = new Set([...CERTAINLY_NOT_RUN, "unknown"]);
/** `retry: "auto"`. */
const USUAL: RetryOn = new Set([...CERTAINLY_NOT_RUN, "gateway"]);
const EVERYTHING: RetryOn = new Set([...CERTAINLY_NOT_RUN, "gateway", "unknown"]);

export function retry(
  supervisor: Pick<Supervisor, "answering">,
  onRetry: (server: string, reason: ErrorKind) => void,
): Step {
  return async (call, next) => {
    const { request } = call;
    const rule = ruleOf(call);
    const startedAt = performance.now();
    const isGiven = request.timeoutMs !== undefined;
    const leftMs = () =>
      deadlineMs(call.target.requestMs(request), rule, { isGiven }) - (performance.now() - startedAt);
    let first: HubError | undefined;
    let isAmbiguous = false;
    for (let tries = 0; ; tries++) {
      try {
        if (tries > 0) {
          call.request = { ...request, leftMs: Math.max(1, Math.min(call.target.requestMs(request), leftMs())) };
        }
        call.attempts = tries + 1;
        return await next(call);
      } catch (thrown) {
        const error = toHubError(thrown);
        call.lastError = error;
        isAmbiguous ||= mayHaveRun(error);
        // A user who has answered a question must not be asked the same again.
        const allowed = request.responder?.wasAsked === true ? NEVER : rule;
        const delayMs = retryDelay({ error, tries, rule: allowed, leftMs: leftMs() });
        if (delayMs === undefined || request.signal?.aborted === true) {
          // The first failure is more informative than a later "server is down".
          const isDown = error.kind === "ServerNotRunning" || error.kind === "ServerStarting";
          const reason = isDown ? (first ?? error) : error;
          throw isAmbiguous && request.method === "tools/call" ? ambiguous(reason) : reason;
        }
        first ??= error;
        onRetry(call.server, error.kind);
        await pause(call.target, delayMs, request.signal);
        // The server may have been replaced in the meantime.
        call.target = supervisor.answering(call.server);
      }
    }
  };
}

function ruleOf({ toolCall, target }: Call) {
  return toolCall === undefined
    ? retriesOfRequest(target.resilience)
    : retriesOfTool(toolCall.name, toolCall.tool, target.resilience);
}

/** Waits for the delay, until a server that is down is running again, or until the caller cancels. */
function pause(server: ManagedServer, delayMs: number, signal: Cancellation | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      unsubscribe();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    const unsubscribe = server.onceRunning(done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** The caller must know that calling again may do the same thing twice. */
function ambiguous(error: HubError): HubError {
  const { kind, message, detail } = error;
  return new HubError(kind, `${message}. The outcome is unknown: the call may have run`, {
    ...(detail === undefined ? {} : { detail }),
    hint: "Check whether it took effect before you call again",
    delivery: "unknown",
    cause: error,
  });
}

export interface Failure {
  readonly error: HubError;
  /** Earlier attempts. */
  readonly tries: number;
  readonly rule: RetryOn;
  /** Until the deadline over all attempts. */
  readonly leftMs: number;
}

/**
 * How long all attempts may take together. A request that is sent again after a timeout gets the time for that, unless its
 * caller set the limit.
 */
export function deadlineMs(requestMs: number, rule: RetryOn, { isGiven = false } = {}): number {
  if (isGiven || !rule.has("unknown")) return requestMs;
  return Math.max(requestMs, Math.min(2 * requestMs + DELAYS_MS[0], MAX_TOTAL_MS));
}

/** How long to wait before the next attempt. Undefined: no further attempt. */
export function retryDelay({ error, tries, rule, leftMs }: Failure): number | undefined {
  const { delivery, retryAfterMs } = error;
  const usualMs = DELAYS_MS[tries];
  if (usualMs === undefined || delivery === undefined || !rule.has(delivery)) return undefined;
  // A server that forgets the new session too would forget the next one.
  if (delivery === "forgotten" && tries > 0) return undefined;
  const isAnswer = delivery === "refused" || delivery === "gateway";
  const delayMs = isAnswer ? (retryAfterMs ?? usualMs) : usualMs;
  return delayMs < leftMs ? delayMs : undefined;
}

/** For a tool: what the operator configured, and the hints of the tool. */
export function retriesOfTool(name: string, tool: JsonObject | undefined, rules: Resilience): RetryOn {
  const { toolRetry, trusted } = rules;
  const own = Object.hasOwn(toolRetry, name) ? toolRetry[name] : undefined;
  return byRule(own ?? rules.retry, trusted && saysHarmless(tool));
}

/** For any other request: none of them changes anything at the server. */
export function retriesOfRequest(rules: Resilience): RetryOn {
  return byRule(rules.retry, true);
}

function byRule(rule: Resilience["retry"], isHarmless: boolean): RetryOn {
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

/** Whether the failed request may have been carried out. */
function mayHaveRun({ delivery }: HubError): boolean {
  return delivery === "unknown" || delivery === "gateway";
}

function saysHarmless(tool: JsonObject | undefined): boolean {
  const hints = tool?.["annotations"];
  return isObject(hints) && (hints["readOnlyHint"] === true || hints["idempotentHint"] === true);
}
