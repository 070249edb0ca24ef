// Values of a query string, which are all text until they are read.

import { z } from "@hono/zod-openapi";

interface Range {
  readonly min: number;
  readonly max?: number;
  readonly description?: string;
}

export const integer = (range: Range) => numeric("integer", range);
export const number = (range: Range) => numeric("number", range);

function numeric(type: "integer" | "number", { min, max = Number.MAX_SAFE_INTEGER, description }: Range) {
  return z
    .string()
    .transform((text) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN))
    .refine((value) => type === "number" || Number.isInteger(value), `This must be a whole number`)
    .refine((value) => value >= min && value <= max, `This must be a number from ${min} to ${max}`)
    .openapi({ type, minimum: min, maximum: max, ...(description === undefined ? {} : { description }) });
}

/** `summary`: without what makes an answer long. */
export const view = z.enum(["full", "summary"]).default("full").openapi({
  description: "`summary` leaves out the tools and resources of servers, and the schemas of tools",
});

export const flag = z.stringbool({ truthy: ["true"], falsy: ["false"] }).openapi({ type: "boolean" });

export const time = z
  .string()
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)))
  .refine((at) => Number.isFinite(at), "This is not a time: use ISO 8601, such as 2026-01-31T12:00:00Z")
  .openapi({ type: "string", description: "ISO 8601, or milliseconds since the epoch" });
