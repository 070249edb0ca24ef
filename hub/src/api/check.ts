// Checks what a request says against a schema; the first thing wrong becomes the error, with its field.

import type { z } from "@hono/zod-openapi";
import { parseWith } from "../config/schema.ts";
import { HubError } from "../errors.ts";

export function check<S extends z.ZodType>(schema: S, data: unknown): z.output<S> {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const field = [...issue.path.map(String), issue.keys[0] ?? ""].join(".");
    throw new HubError("InvalidConfig", `There is no "${field}" here`, { field });
  }
  return parseWith(schema, data);
}
