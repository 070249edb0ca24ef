// The settings under which faults are tested, in one place: short where a user's are long. What is not set here is tested
// as users have it.

/** A request is given up on after this: long enough for a busy machine. */
export const REQUEST_MS = 10_000;
/** For servers that never answer: nobody wants to wait for them. */
export const HANG_MS = 1500;

const RESILIENCE = { breaker_cooldown_ms: 3000, restart_first_ms: 100, restart_max_ms: 1000 };

/** For every server of a fault test. Settings of retries, breaker, health checks and restarts belong under `resilience`. */
export function fastSettings(): { readonly timeouts: object; readonly resilience: object } {
  return { timeouts: { requestMs: REQUEST_MS, startMs: 30_000 }, resilience: RESILIENCE };
}

/** For the hub itself. */
export function fastEnvironment(): Readonly<Record<string, string>> {
  return {};
}

/** Of an entry that fails again and again, and is to be asked all the same. */
export const NEVER_OPEN: Readonly<Record<string, unknown>> = {
  resilience: { ...RESILIENCE, breaker_failures: 100_000 },
};

/** Of an entry whose tools' hints are not believed. */
export const DISTRUSTED: Readonly<Record<string, unknown>> = { resilience: { ...RESILIENCE, trusted: false } };

/** Of an entry with a rule for retries. */
export const retrying = (retry: string): Readonly<Record<string, unknown>> => ({
  resilience: { ...RESILIENCE, retry },
});
