// Validates input against a schema. The first issue becomes the error, with its field; if there are several, the answer
// lists them all.

import type * as z from "zod/mini";
import { describeIssue } from "../../config/schema/schema.ts";
import { HubError } from "../../errors.ts";
import { InvalidRequest, type FieldError } from "../../http/problem.ts";

export function check<S extends z.ZodMiniType>(schema: S, data: unknown): z.output<S> {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap(toErrors);
  if (errors.length > 1) throw new InvalidRequest(errors);
  const [{ field, message } = { field: "", message: "The request is not valid" }] = errors;
  throw new HubError("InvalidArgument", message, field === "" ? {} : { field });
}

function toErrors(issue: z.core.$ZodIssue): FieldError[] {
  const code = "VALIDATION_ERROR";
  if (issue.code === "unrecognized_keys") {
    const fields = issue.keys.map((key) => [...issue.path.map(String), key].join("."));
    return fields.map((field) => ({ field, code, message: `Unknown field "${field}"` }));
  }
  const { path, message } = describeIssue(issue);
  return [{ field: path.join("."), code, message }];
}
