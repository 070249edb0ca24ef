// Values of a query string. They arrive as text; the OpenAPI document describes the parsed value.

import * as z from "zod/mini";
import { describe, document } from "./docs.ts";

interface Range {
  readonly min: number;
  readonly max?: number;
  readonly description?: string;
}

export const integer = (range: Range) => numeric("integer", range);
export const number = (range: Range) => numeric("number", range);

function numeric(type: "integer" | "number", { min, max = Number.MAX_SAFE_INTEGER, description }: Range) {
  const parsed = z.pipe(
    z.string(),
    z.transform((text: string) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN)),
  );
  const checked = parsed.check(
    z.refine((value) => type === "number" || Number.isInteger(value), "Must be a whole number"),
    z.refine((value) => value >= min && value <= max, `Must be a number from ${min} to ${max}`),
  );
  return document(checked, {
    type,
    minimum: min,
    maximum: max,
    ...(description === undefined ? {} : { description }),
  });
}

export const view = describe(
  z._default(z.enum(["full", "summary"]), "full"),
  "`summary` omits the tools and resources of servers",
);

export const toolView = describe(
  z._default(z.enum(["full", "summary", "index"]), "full"),
  "`summary` omits the schemas of tools; `index` has only names, titles, hints and tokens, as arrays",
);

/** A new schema for each use, so that each can have its own description. */
export const flag = (description?: string) =>
  document(z.stringbool({ truthy: ["true"], falsy: ["false"] }), {
    type: "boolean",
    ...(description === undefined ? {} : { description }),
  });

export const time = document(
  z
    .pipe(
      z.string(),
      z.transform((text: string) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text))),
    )
    .check(z.refine((at) => Number.isFinite(at), "Not a time: use ISO 8601, such as 2026-01-31T12:00:00Z")),
  { type: "string", description: "ISO 8601, or milliseconds since the epoch" },
);

export const serverFilter = describe(z.optional(z.string()), "Only this server; its id or name");
