// Failures, as they stand in an answer: problem+json, and the contract inside other shapes.

import { z } from "@hono/zod-openapi";

export const errorBody = z
  .object({
    code: z.string(),
    kind: z.string(),
    message: z.string(),
    field: z.string().optional(),
    detail: z.string().optional(),
    hint: z.string().optional(),
  })
  .openapi("Error");

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string(),
    kind: z.string().nullable(),
    message: z.string(),
    field: z.string().nullable(),
    errors: z
      .array(z.object({ field: z.string(), code: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: "Where several inputs are wrong, each of them" }),
    hint: z.string().optional(),
    retry_after_ms: z.number().int().optional(),
  })
  .openapi("Problem");
