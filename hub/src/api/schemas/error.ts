// Errors: problem+json, and the error object inside other answers.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const errorBody = component(
  "Error",
  z.object({
    code: z.string(),
    kind: z.string(),
    message: z.string(),
    field: z.optional(z.string()),
    detail: z.optional(z.string()),
    hint: z.optional(z.string()),
    retry_after_ms: z.optional(z.int()),
    login_url: z.optional(z.string()),
  }),
);

export const problem = component(
  "Problem",
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string(),
    kind: z.nullable(z.string()),
    message: z.string(),
    field: z.nullable(z.string()),
    errors: describe(
      z.optional(
        z.array(
          z.object({
            field: z.string(),
            code: z.string(),
            message: z.string(),
            line: describe(z.optional(z.int()), "In a text, from 1"),
            column: z.optional(z.int()),
          }),
        ),
      ),
      "Every invalid input, if there are several, or the errors in a text",
    ),
    hint: z.optional(z.string()),
    retry_after_ms: z.optional(z.int()),
    login_url: describe(z.optional(z.string()), "An address of the hub that a person can open to fix it"),
  }),
);
