// Access tokens: what they allow, and when they were used. The token itself is returned once, when it is made.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

const role = z.enum(["user", "operator", "admin"]);
const groups = z.union([z.literal("*"), z.array(z.string())]);

export const token = component(
  "AccessToken",
  z.object({
    id: z.string(),
    name: z.string(),
    start: describe(z.string(), "Its first characters"),
    principal: describe(z.string(), "The person or program that it stands for"),
    role: describe(role, "What it may do in the management API"),
    groups: describe(groups, "The groups whose endpoints it may use; * for all"),
    read_only: describe(z.boolean(), "It sees and calls only tools that say that they change nothing"),
    created_at: z.string(),
    created_by: z.string(),
    expires_at: describe(z.nullable(z.string()), "null: never"),
    used_at: describe(z.nullable(z.string()), "The last use"),
    used_from: describe(z.nullable(z.string()), "The address of the last use"),
  }),
);
export type AccessToken = z.infer<typeof token>;

export const tokenInput = component(
  "AccessTokenInput",
  z.strictObject({
    name: z.string(),
    for: describe(z.optional(z.string()), "The person or program that it stands for. Default: its name"),
    role: z.optional(role),
    groups: describe(z.optional(groups), "Default: all"),
    read_only: z.optional(z.boolean()),
    expires_in_days: describe(
      z.optional(z.nullable(z.number().check(z.positive(), z.maximum(3650)))),
      "Default: 90; null: never",
    ),
  }),
);
export type AccessTokenInput = z.infer<typeof tokenInput>;

export const newToken = component(
  "NewAccessToken",
  z.extend(token, { token: describe(z.string(), "The token: shown only here") }),
);
export type NewAccessToken = z.infer<typeof newToken>;
