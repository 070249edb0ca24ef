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
    redirect_host: describe(z.string(), "The host that gets the access, or the scheme of an app"),
    principal: describe(z.string(), "The person for whom it acts"),
    groups: z.array(z.string()),
    read_only: z.boolean(),
    created_at: z.string(),
    expires_at: z.string(),
    used_at: describe(z.nullable(z.string()), "The last use"),
    used_from: describe(z.nullable(z.string()), "The address of the last use"),
  }),
);
export type ClientGrant = z.infer<typeof clientGrant>;
