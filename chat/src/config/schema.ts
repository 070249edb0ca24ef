// What may stand in chat.json. Options of a source belong to its kind and are checked there (sources/kinds.ts).

import { z } from "zod";
import { REDACTION_KINDS } from "../redact.ts";
import { Zone } from "../zone.ts";

export const TimeZone = z.string().refine(isZone, "is no IANA time zone such as Europe/Helsinki");

const Names = z.array(z.string().min(1)).max(10_000);

const SourceEntry = z.strictObject({
  kind: z.string().min(1).describe("import, jsonl, telegram-bot, signal-cli, xmpp or matrix"),
  name: z.string().min(1).optional().describe("how it is called in lists"),
  options: z.record(z.string(), z.unknown()).default({}).describe("of its kind"),
  chats: z
    .strictObject({
      allow: Names.optional().describe("only these chats exist for agents, by id or exact name"),
      hide: Names.optional().describe("these chats do not exist for agents"),
    })
    .default({}),
  send: z
    .strictObject({ chats: Names.min(1).describe("agents may write to these chats, by id or exact name") })
    .optional()
    .describe("absent: nothing is ever sent"),
});

const Redaction = z.strictObject({
  kinds: z.array(z.enum(REDACTION_KINDS)).default([]),
  patterns: z
    .array(z.strictObject({ name: z.string().regex(/^[a-z][a-z0-9_-]{0,30}$/), pattern: z.string().min(1) }))
    .max(100)
    .default([]),
});

export const ChatConfigFile = z.strictObject({
  time_zone: TimeZone.optional(),
  max_age: z
    .string()
    .regex(/^\d{1,6}(min|h|d|w|mo|y)$/, "is no span such as 90d or 1y")
    .optional()
    .describe("older messages do not exist for agents"),
  allow_stale: z.boolean().default(false).describe("answer from what is stored where a source is not connected"),
  redact: Redaction.optional().describe("what leaves only as a tag, such as [phone-3]"),
  sources: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "may have small letters, digits, - and _ only"), SourceEntry)
    .default({}),
});

export type ChatConfigFile = z.infer<typeof ChatConfigFile>;
export type SourceEntry = z.infer<typeof SourceEntry>;

function isZone(name: string): boolean {
  try {
    return new Zone(name).name === name;
  } catch {
    return false;
  }
}
