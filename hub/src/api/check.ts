// Checks what a request says against a schema. The first thing wrong becomes the error, with its field; where more is
// wrong, the answer names all of it.

import type { z } from "@hono/zod-openapi";
import { describeIssue } from "../config/schema.ts";
import { HubError } from "../errors.ts";
import { InvalidRequest, type FieldError } from "./problem.ts";

export function check<S extends z.ZodType>(schema: S, data: unknown): z.output<S> {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap(toErrors);
  if (errors.length > 1) throw new InvalidRequest(errors);
  const [{ field, message } = { field: "", message: "The request is not valid" }] = errors;
  throw new HubError("InvalidConfig", message, field === "" ? {} : { field });
}

function toErrors(issue: z.core.$ZodIssue): FieldError[] {
  const code = "VALIDATION_ERROR";
  if (issue.code === "unrecognized_keys") {
    const fields = issue.keys.map((key) => [...issue.path.map(String), key].join("."));
    return fields.map((field) => ({ field, code, message: `There is no "${field}" here` }));
  }
  const { path, message } = describeIssue(issue);
  return [{ field: path.join("."), code, message }];
}
