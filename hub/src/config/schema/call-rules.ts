// Rules about the calls of tools: which need the approval of a person, and how large a result may be.

import * as z from "zod/mini";

/**
 * `destructive`: tools that say that they may destroy something. `writes`: also every tool that does not say that it only reads.
 * From the least to the most careful.
 */
export const APPROVALS = ["never", "destructive", "writes", "always"] as const;
export type ApprovalRule = (typeof APPROVALS)[number];

export const approvalRule = z.enum(APPROVALS, {
  error: `approve must be ${APPROVALS.map((each) => `"${each}"`).join(" or ")}`,
});

const MIN_APPROVAL_MS = 1000;
const MAX_APPROVAL_MS = 3_600_000;
/** People may have to look something up. */
export const DEFAULT_APPROVAL_MS = 300_000;

const withinLimits = `approval_timeout_ms must be a whole number from ${MIN_APPROVAL_MS} to ${MAX_APPROVAL_MS}`;

export const approvalTimeout = z
  .number({ error: withinLimits })
  .check(
    z.refine((ms) => Number.isInteger(ms) && ms >= MIN_APPROVAL_MS && ms <= MAX_APPROVAL_MS, { error: withinLimits }),
  );
