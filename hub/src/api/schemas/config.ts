// The whole config, and the secrets that it refers to.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";
import { json } from "./json.ts";

const names = z.array(z.string());

export const configDocument = component(
  "ConfigDocument",
  z.looseObject({ mcpServers: z.record(z.string(), json), groups: z.record(z.string(), json) }),
);
export type ConfigDocument = z.infer<typeof configDocument>;

export const config = component(
  "Config",
  z.object({ revision: z.string(), demo: z.boolean(), config: configDocument }),
);
export type ConfigView = z.infer<typeof config>;

export const configCheck = component(
  "ConfigCheck",
  z.object({ valid: z.boolean(), errors: z.array(errorBody), warnings: names }),
);
export type ConfigCheck = z.infer<typeof configCheck>;

export const configChanges = component(
  "ConfigChanges",
  z.object({
    revision: z.string(),
    added: names,
    removed: names,
    restarted: names,
    changed: names,
    groups: z.boolean(),
    group_changes: z.object({ added: names, removed: names, changed: names }),
    description: z.string(),
  }),
);
export type ConfigChangesView = z.infer<typeof configChanges>;

export const secret = component(
  "Secret",
  z.object({
    name: z.string(),
    used_by: names,
    uses: describe(
      z.array(z.object({ server: z.string(), variable: describe(z.string(), "A variable, or a field of auth") })),
      "Where the servers use it",
    ),
    set_at: describe(z.nullable(z.string()), "When its value was stored; null if that is not known"),
    starting: describe(z.optional(names), "After a secret is stored: the servers that waited for it and now start"),
  }),
);
export type Secret = z.infer<typeof secret>;

export const missingSecret = component(
  "MissingSecret",
  z.object({
    name: z.string(),
    server: z.string(),
    variable: describe(z.string(), "A variable, or a field of auth"),
  }),
);
export type MissingSecret = z.infer<typeof missingSecret>;

export const keyRotation = component(
  "KeyRotation",
  z.object({ rotated: describe(z.int(), "Number of secrets encrypted with the new key") }),
);
export type KeyRotation = z.infer<typeof keyRotation>;

export const secretInput = z.strictObject({
  value: z.string(),
  unless_different: describe(
    z.optional(z.boolean()),
    "If the secret is stored with another value, keep that value and answer 409",
  ),
});
