// Schema of chat.json. The options of a source are validated by its kind (sources/kinds.ts).

import { z } from "zod";
import { REDACTION_KINDS } from "../redaction/redactor.ts";
import { Zone } from "../model/zone.ts";

export const TimeZone = z.string().refine(isZone, "must be an IANA time zone such as Europe/Helsinki");

export const SOURCE_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const Names = z.array(z.string().min(1)).max(10_000);

const SourceEntry = z.strictObject({
  kind: z.string().min(1).describe("import, jsonl, telegram-bot, signal-cli, xmpp or matrix"),
  name: z.string().min(1).optional().describe("display name"),
  options: z.record(z.string(), z.unknown()).default({}).describe("options of the kind"),
  chats: z
    .strictObject({
      allow: Names.optional().describe("only these chats are visible to agents, by id or exact name"),
      hide: Names.optional().describe("these chats are hidden from agents, by id or exact name"),
    })
    .default({}),
  send: z
    .strictObject({
      chats: Names.default([]).describe("agents may write to these chats, by id or exact name"),
      others: z
        .enum(["refuse", "ask"])
        .default("refuse")
        .describe("other chats: refuse, or ask the user for each message"),
    })
    .refine(({ chats, others }) => chats.length > 0 || others === "ask", 'allows nothing: set chats, or others: "ask"')
    .optional()
    .describe("absent: sending is not allowed"),
});

const Redaction = z.strictObject({
  kinds: z.array(z.enum(REDACTION_KINDS)).default([]),
  patterns: z
    .array(z.strictObject({ name: z.string().regex(/^[a-z][a-z0-9_-]{0,30}$/), pattern: z.string().min(1) }))
    .max(100)
    .default([]),
});

/** What the holder of an access token of the hub may see: everything that is visible, or only these sources and chats. */
const TokenAccess = z.union([
  z.literal("all"),
  z.record(
    z.string().regex(SOURCE_ID, "use the id of a source"),
    z.strictObject({
      chats: Names.optional().describe(
        "only these chats, by id or exact name; absent: all visible chats of the source",
      ),
      send: z.boolean().default(false).describe("may send where the source allows it"),
    }),
  ),
]);

export const ChatConfigFile = z.strictObject({
  time_zone: TimeZone.optional(),
  max_age: z
    .string()
    .regex(/^\d{1,6}(min|h|d|w|mo|y)$/, "must be a duration such as 90d or 1y")
    .optional()
    .describe("older messages are hidden from agents"),
  allow_stale: z.boolean().default(false).describe("answer from the store while a source is not connected"),
  attachments: z.boolean().optional().describe("whether agents get binary files; absent: only if nothing is redacted"),
  redact: Redaction.optional().describe("data replaced by a tag such as [phone-3]"),
  access: z
    .record(z.string().min(1).max(300), TokenAccess)
    .optional()
    .describe(
      "HTTP: what each access token of the hub sees, by user:ID, service:NAME, token:NAME or *; absent: no tokens",
    ),
  sources: z.record(z.string().regex(SOURCE_ID, "use lower-case letters, digits, - and _"), SourceEntry).default({}),
});

export type ChatConfigFile = z.infer<typeof ChatConfigFile>;
export type TokenAccess = z.infer<typeof TokenAccess>;
export type SendRules = NonNullable<SourceEntry["send"]>;
export type SourceEntry = z.infer<typeof SourceEntry>;

function isZone(name: string): boolean {
  try {
    return new Zone(name).name === name;
  } catch {
    return false;
  }
}
