// The settings of fault tests: shorter than the defaults. Everything else is tested with its default.

/** The request timeout: long enough for a busy machine. */
export const REQUEST_MS = 10_000;
/** The request timeout for servers that never answer. */
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

/** For entries that fail repeatedly and must still be called. */
export const NEVER_OPEN: Readonly<Record<string, unknown>> = {
  resilience: { ...RESILIENCE, breaker_failures: 100_000 },
};

/** For entries whose tool hints are ignored. */
export const DISTRUSTED: Readonly<Record<string, unknown>> = { resilience: { ...RESILIENCE, trusted: false } };

/** For entries with a retry rule. */
export const retrying = (retry: string): Readonly<Record<string, unknown>> => ({
  resilience: { ...RESILIENCE, retry },
});
