// What some faults need of the hub and the hub does not have yet. A test that names one of these is skipped, and shown as
// skipped: when a feature lands, its line goes, and its tests run.

export type Feature =
  | "retry"
  | "breaker"
  | "restart"
  | "health"
  | "drain"
  | "session"
  | "boot-retry"
  | "refusals-recorded"
  | "log-file-errors";

export const PENDING: readonly Feature[] = [];

/** Use as `it.skipIf(isPending(row.needs))`. `PENDING=none` runs everything, to see what still fails. */
export function isPending(needs: Feature | undefined): boolean {
  return needs !== undefined && process.env["PENDING"] !== "none" && PENDING.includes(needs);
}
