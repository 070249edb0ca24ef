// How long calls are recorded: `call_log` in the server file, beside `mcpServers`.

import * as z from "zod/mini";

const MAX_DAYS = 3650;
const MIN_BYTES = 1 << 20;
const MAX_BYTES = 2 ** 40;

const days = `call_log.retention_days must be more than 0 and at most ${MAX_DAYS}`;
const bytes = `call_log.max_bytes must be a whole number from ${MIN_BYTES} (1 MB) to ${MAX_BYTES} (1 TB)`;

export const callLogFields = {
  retention_days: z.number().check(z.gt(0, days), z.lte(MAX_DAYS, days)),
  max_bytes: z.int().check(z.gte(MIN_BYTES, bytes), z.lte(MAX_BYTES, bytes)),
};

/** Strict: other clients do not have `call_log`, so an unknown key is a typing error. */
export const callLogEntry = z.strictObject({
  retention_days: z.optional(callLogFields.retention_days),
  max_bytes: z.optional(callLogFields.max_bytes),
});

/** A missing member has the default of the call log. */
export type CallLogEntry = z.infer<typeof callLogEntry>;

/** Null removes a member. */
export type CallLogPatch = { readonly [K in keyof CallLogEntry]?: CallLogEntry[K] | null };
