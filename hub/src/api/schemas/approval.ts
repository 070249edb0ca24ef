// A call that waits until a person approves it.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const callApproval = component(
  "CallApproval",
  z.object({
    id: z.string(),
    server: z.string(),
    tool: describe(z.string(), "Its name on the server"),
    exposed_name: describe(z.nullable(z.string()), "Its name in the group; null: the group has not renamed it"),
    group: z.string(),
    client: z.nullable(z.string()),
    principal: describe(z.nullable(z.string()), "Who calls; null: the caller has no credentials of the hub"),
    arguments: describe(z.unknown(), "What the tool would get, without secrets; null: nothing"),
    truncated: describe(z.boolean(), "The arguments are too long, and only their beginning is shown"),
    since: z.string(),
    expires_at: describe(z.string(), "When the call is refused if nobody decides"),
    asks_client: describe(z.boolean(), "Whether the client asks its user, too"),
    may_decide: describe(z.boolean(), "Whether you may approve and deny it"),
  }),
);
export type CallApproval = z.infer<typeof callApproval>;

export const denial = component(
  "CallDenial",
  z.strictObject({
    reason: describe(
      z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
      "Told to the client, and recorded",
    ),
  }),
);
export type Denial = z.infer<typeof denial>;
