// Users: everyone who has signed in, and the caller itself.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const role = z.enum(["user", "operator", "admin"]);

export const user = component(
  "User",
  z.object({
    id: z.string(),
    principal: describe(z.string(), "`user:` and the id"),
    email: z.nullable(z.string()),
    email_verified: describe(z.boolean(), "Only then the address names the user in access lists, teams and admins"),
    name: z.nullable(z.string()),
    issuer: describe(z.string(), "Who vouches for the user"),
    subject: describe(z.string(), "The name by which the issuer knows the user"),
    role,
    given_role: describe(z.nullable(role), "The role that an administrator gave; null: none, so the issuer's counts"),
    teams: z.array(z.string()),
    disabled: z.boolean(),
    created_at: z.string(),
    seen_at: describe(z.string(), "The last sign-in, to the minute"),
  }),
);
export type UserView = z.infer<typeof user>;

export const userPatch = component(
  "UserPatch",
  z.strictObject({
    role: describe(z.optional(z.nullable(role)), "null: as the issuer says"),
    disabled: describe(z.optional(z.boolean()), "No credentials of a disabled user work"),
  }),
);
export type UserPatch = z.infer<typeof userPatch>;

export const me = component(
  "Me",
  z.object({
    principal: describe(z.string(), "`local`, or `user:` or `service:` and a name"),
    name: describe(z.string(), "For people"),
    role,
    teams: z.array(z.string()),
    read_only: z.boolean(),
    groups: describe(z.array(z.string()), "The groups whose endpoints the caller may use"),
    credentials: describe(
      z.enum(["owner", "token", "jwt", "issued", "session", "anonymous"]),
      "`owner`: the management token",
    ),
    client: describe(z.nullable(z.string()), "The access token, or the OAuth client"),
  }),
);
export type Me = z.infer<typeof me>;
