// What a person has at the servers that need something of each person: a login, and personal secrets. No answer has a value.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { login, onBehalf } from "./login.ts";

export const personalSecret = component(
  "PersonalSecret",
  z.object({
    principal: describe(z.string(), "Whose secret it is"),
    name: z.string(),
    set_at: describe(z.nullable(z.string()), "Null: it is not stored, or the store does not know"),
    is_set: z.boolean(),
    used_by: describe(z.array(z.string()), "Servers whose entries use it"),
  }),
);
export type PersonalSecret = z.infer<typeof personalSecret>;

export const personalSecretInput = component("PersonalSecretInput", z.strictObject({ value: z.string() }));

export const connections = component(
  "Connections",
  z.object({
    principal: z.string(),
    logins: describe(z.array(login), "At servers where each caller has a login of its own"),
    secrets: describe(z.array(personalSecret), "Those that are stored, and those that servers need"),
  }),
);
export type Connections = z.infer<typeof connections>;

export const whoseQuery = z.strictObject({ for: onBehalf("Whose") });
