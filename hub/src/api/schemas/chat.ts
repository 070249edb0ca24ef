// What agents may see of the chats of a chat server, as its chat.json has it. The chat server's command writes these shapes.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

const accessLevel = describe(
  z.enum(["hidden", "readable", "writable"]),
  "`hidden`: as if it did not exist; `writable`: agents may send messages without asking",
);
export type ChatAccessLevel = z.infer<typeof accessLevel>;

/** What can be replaced by tags such as [phone-1]. */
export const REDACTED_KINDS = ["email", "iban", "card", "phone", "code"] as const;
const redacted = z.array(z.enum(REDACTED_KINDS));

export const chatAccess = component(
  "ChatAccess",
  z.object({
    config: describe(z.string(), "Path of chat.json"),
    redact: describe(redacted, "What is replaced by a tag in everything that agents get"),
    patterns: describe(z.int(), "Number of the user's own patterns, which are replaced too"),
    max_age: describe(z.nullable(z.string()), "Older messages are hidden, such as `2y`"),
    sources: z.array(
      z.object({
        id: z.string(),
        kind: z.string(),
        can_send: describe(z.boolean(), "Whether its network can be written to at all"),
        only_allowed: describe(z.boolean(), "Chats are hidden unless they are allowed"),
        asks: describe(z.boolean(), "Agents may write to all chats if the user confirms each message"),
      }),
    ),
    chats: describe(
      z.array(
        z.object({
          source: z.string(),
          id: z.string(),
          name: z.string(),
          type: z.string(),
          message_count: z.int(),
          access: accessLevel,
        }),
      ),
      "Those that are hidden or writable; all others are readable",
    ),
    more: describe(z.boolean(), "There are more hidden or writable chats than `chats` has"),
  }),
);
export type ChatAccess = z.infer<typeof chatAccess>;

export const chatAccessInput = z.strictObject({
  chat: z.optional(
    z.strictObject({
      source: z.string().check(z.minLength(1)),
      id: z.string().check(z.minLength(1)),
      access: accessLevel,
    }),
  ),
  redact: z.optional(redacted),
});
export type ChatAccessInput = z.infer<typeof chatAccessInput>;
