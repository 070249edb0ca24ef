// When a token expires and when to renew it, by two clocks: the wall clock runs while the machine sleeps but can be set, the
// monotonic clock cannot be set but may stop. The earlier expiry counts.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since any fixed moment. */
  monotonic(): number;
}

export const SYSTEM_CLOCK: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

const AHEAD_MIN_MS = 30_000;
const AHEAD_MAX_MS = 300_000;

/** How long before its expiry a token is renewed: a tenth of its lifetime, between 30 s and 5 minutes. Half of a short one. */
export function renewAheadMs(lifetimeMs: number): number {
  const ahead = Math.min(Math.max(AHEAD_MIN_MS, lifetimeMs / 10), AHEAD_MAX_MS);
  return Math.min(ahead, lifetimeMs / 2);
}

/** The moments of one token on both clocks. Infinite if its lifetime is unknown. */
export interface Deadlines {
  readonly renewAt: { readonly wall: number; readonly monotonic: number };
  readonly expiresAt: { readonly wall: number; readonly monotonic: number };
}

/** `receivedAt`: on the wall clock, perhaps by an earlier process. */
export function deadlinesOf(
  { receivedAt, expiresIn }: { readonly receivedAt: number; readonly expiresIn?: number | undefined },
  clock: Clock,
): Deadlines {
  if (expiresIn === undefined) return NEVER;
  const lifetimeMs = expiresIn * 1000;
  // A clock that was set back must not make the token younger than it was received.
  const ageMs = Math.max(0, clock.now() - receivedAt);
  const at = (ms: number) => ({ wall: receivedAt + ms, monotonic: clock.monotonic() + ms - ageMs });
  return { renewAt: at(lifetimeMs - renewAheadMs(lifetimeMs)), expiresAt: at(lifetimeMs) };
}

const NEVER: Deadlines = {
  renewAt: { wall: Infinity, monotonic: Infinity },
  expiresAt: { wall: Infinity, monotonic: Infinity },
};

export function isPast({ wall, monotonic }: Deadlines["renewAt"], clock: Clock): boolean {
  return clock.monotonic() >= monotonic || clock.now() >= wall;
}

/** 0 if it is past. */
export function msUntil({ wall, monotonic }: Deadlines["renewAt"], clock: Clock): number {
  return Math.max(0, Math.min(monotonic - clock.monotonic(), wall - clock.now()));
}

const RETRY_MAX_MS = 60_000;

/** 1, 2, 4 … 60 s. */
export function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_MAX_MS, 1000 * 2 ** (attempts - 1));
}
