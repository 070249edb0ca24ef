// The config as a whole, and the secrets that it refers to.

import { z } from "@hono/zod-openapi";
import { errorBody } from "./error.ts";
import { json } from "./json.ts";

export const configDocument = z
  .looseObject({ mcpServers: z.record(z.string(), json), groups: z.record(z.string(), json) })
  .openapi("ConfigDocument");
export type ConfigDocument = z.infer<typeof configDocument>;

export const config = z.object({ revision: z.string(), demo: z.boolean(), config: configDocument }).openapi("Config");
export type ConfigView = z.infer<typeof config>;

export const configCheck = z
  .object({
    valid: z.boolean(),
    errors: z.array(errorBody),
    warnings: z.array(z.string()),
  })
  .openapi("ConfigCheck");
export type ConfigCheck = z.infer<typeof configCheck>;

export const configChanges = z
  .object({
    revision: z.string(),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    restarted: z.array(z.string()),
    changed: z.array(z.string()),
    groups: z.boolean(),
    group_changes: z.object({
      added: z.array(z.string()),
      removed: z.array(z.string()),
      changed: z.array(z.string()),
    }),
    description: z.string(),
  })
  .openapi("ConfigChanges");
export type ConfigChangesView = z.infer<typeof configChanges>;

export const secret = z
  .object({
    name: z.string(),
    used_by: z.array(z.string()),
    starting: z
      .array(z.string())
      .optional()
      .openapi({ description: "When it is stored: the servers that waited for it, and are being started" }),
  })
  .openapi("Secret");
export type Secret = z.infer<typeof secret>;

export const keyRotation = z
  .object({ rotated: z.number().int().openapi({ description: "How many secrets are encrypted with the new key" }) })
  .openapi("KeyRotation");
export type KeyRotation = z.infer<typeof keyRotation>;

export const secretInput = z.strictObject({
  value: z.string(),
  unless_different: z
    .boolean()
    .optional()
    .openapi({ description: "Where the secret is stored with another value, that stays, and this is a conflict" }),
});
