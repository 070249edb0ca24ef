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

const MIN_RESULT_BYTES = 1000;
const MAX_RESULT_BYTES = 16 << 20;
/** Roughly what a token of English text or JSON takes. */
const BYTES_PER_TOKEN = 4;

function size(name: string, { min, max }: { readonly min: number; readonly max: number }) {
  const error = `${name} must be a whole number from ${min} to ${max}`;
  return z.optional(z.number({ error }).check(z.refine((n) => Number.isInteger(n) && n >= min && n <= max, { error })));
}

/** How large the results of tools may be; larger ones are cut, and the rest can be read as a resource. The smaller limit counts. */
export const resultLimits = z.strictObject({
  max_bytes: size("max_bytes", { min: MIN_RESULT_BYTES, max: MAX_RESULT_BYTES }),
  max_tokens: size("max_tokens", {
    min: MIN_RESULT_BYTES / BYTES_PER_TOKEN,
    max: MAX_RESULT_BYTES / BYTES_PER_TOKEN,
  }),
});

export type ResultLimits = z.infer<typeof resultLimits>;

/** In bytes of JSON. Undefined: no limit. */
export function maxResultBytes({ max_bytes: bytes, max_tokens: tokens }: ResultLimits = {}): number | undefined {
  const limits = [bytes, tokens === undefined ? undefined : tokens * BYTES_PER_TOKEN].filter((n) => n !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}
