// OAuth clients that use the hub: requests for access that wait for a person, and the access that people have given.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const accessRequest = component(
  "AccessRequest",
  z.object({
    code: z.string(),
    client_id: z.string(),
    client_name: describe(z.nullable(z.string()), "The name that the client gives itself"),
    redirect_host: describe(z.string(), "The host that gets the access, or the scheme of an app"),
    is_this_computer: describe(z.boolean(), "The access goes to a program on the computer of the browser"),
    group: describe(z.nullable(z.string()), "The group that it asks for; null: the person chooses"),
    address: describe(z.string(), "The address of the browser that shows the code"),
    signed_in: z.boolean(),
    expires_at: z.string(),
  }),
);
export type AccessRequestView = z.infer<typeof accessRequest>;

export const clientGrant = component(
  "ClientGrant",
  z.object({
    id: z.string(),
    client_id: z.string(),
    client_name: describe(z.nullable(z.string()), "The name that the client gives itself"),
    redirect_host: describe(
      z.nullable(z.string()),
      "The host that gets the access, or the scheme of an app; null: a program with credentials of its own",
    ),
    principal: describe(z.string(), "The person or program for whom it acts"),
    groups: z.array(z.string()),
    read_only: z.boolean(),
    created_at: z.string(),
    expires_at: z.string(),
    used_at: describe(z.nullable(z.string()), "The last use"),
    used_from: describe(z.nullable(z.string()), "The address of the last use"),
  }),
);
export type ClientGrant = z.infer<typeof clientGrant>;

export const grantInput = component(
  "ClientGrantInput",
  z.strictObject({
    name: describe(z.string(), "Of the program, which is service:NAME in access lists and the audit log"),
    groups: z.array(z.string()).check(z.minLength(1)),
    read_only: z.optional(z.boolean()),
    expires_in_days: describe(z.optional(z.number().check(z.positive(), z.maximum(3650))), "Default: 365"),
    public_key: describe(
      z.optional(z.string().check(z.maxLength(16_384))),
      "PEM or JWK: it signs with the private key (private_key_jwt). Default: it gets a secret",
    ),
  }),
);
export type ClientGrantInput = z.infer<typeof grantInput>;

export const newGrant = component(
  "NewClientGrant",
  z.extend(clientGrant, {
    client_secret: describe(z.nullable(z.string()), "Shown only here; null: it has a key"),
    token_url: describe(z.nullable(z.string()), "Where it gets tokens; null: the hub does not listen"),
  }),
);
export type NewClientGrant = z.infer<typeof newGrant>;
