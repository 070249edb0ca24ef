// A circuit breaker as a pure state machine (RS-2). Time is given, never read; timers and probes are circuit.ts's.

import type { BreakerLimits } from "./resilience.ts";

export type Breaker =
  /** Calls go through; so many in a row have failed. */
  | { readonly state: "closed"; readonly failures: number }
  /** Calls fail at once until the cooldown is over. */
  | { readonly state: "open"; readonly until: number }
  /** One probe is under way; calls still fail. */
  | { readonly state: "half-open" };

export type BreakerEvent =
  | { readonly type: "success" }
  | { readonly type: "failure"; readonly at: number }
  | { readonly type: "cooled"; readonly at: number };

export const CLOSED: Breaker = { state: "closed", failures: 0 };

/** The breaker after an event; the same object where nothing changes. */
export function nextBreaker(breaker: Breaker, event: BreakerEvent, limits: BreakerLimits): Breaker {
  switch (event.type) {
    case "success":
      return breaker.state === "closed" && breaker.failures === 0 ? breaker : CLOSED;
    case "failure":
      // Calls that were under way when it opened say nothing new.
      if (breaker.state === "open") return breaker;
      if (breaker.state === "closed" && breaker.failures + 1 < limits.failures) {
        return { state: "closed", failures: breaker.failures + 1 };
      }
      return { state: "open", until: event.at + limits.cooldownMs };
    case "cooled":
      return breaker.state === "open" && event.at >= breaker.until ? { state: "half-open" } : breaker;
  }
}
