// Reads messages by their keys, with chat, sender, reactions, and the message they reply to.

import { z } from "zod";
import type { StoredMessage } from "../../model/store-port.ts";
import { keyOf, nameOf, number, text } from "./columns.ts";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { toSender } from "./people.ts";
import { timeOf } from "./time-key.ts";

const PREVIEW_LENGTH = 100;

/** In the order of the keys; missing messages are left out. */
export function readMessages(db: Database, keys: readonly number[]): readonly StoredMessage[] {
  if (keys.length === 0) return [];
  const wanted = JSON.stringify(keys);
  const reactions = readReactions(db, wanted);
  const messages = new Map(
    db.all(SELECT, wanted).map((row) => [keyOf(row), toMessage(row, reactions.get(keyOf(row)) ?? [])]),
  );
  return keys.flatMap((key) => messages.get(key) ?? []);
}

const SELECT = `
  SELECT m.key, m.id AS message_id, ${timeOf("m.time_key")} AS at, m.edited_at, m.kind, m.content, m.reply_to, m.thread,
    m.forwarded_from, m.attachments, c.key AS chat, c.id AS chat_id, coalesce(c.name, c.id) AS chat_name, x.id AS source,
    a.id, ${nameOf("a")} AS name, a.is_self, a.is_bot,
    CASE WHEN ra.key IS NOT NULL THEN ${nameOf("ra")} END AS reply_sender, substr(r.content, 1, ${PREVIEW_LENGTH}) AS reply_preview,
    ${timeOf("r.time_key")} AS reply_at
  FROM json_each(?) w CROSS JOIN message m ON m.key = w.value
    JOIN chat c ON c.key = m.chat JOIN source x ON x.key = c.source LEFT JOIN address a ON a.key = m.sender
    LEFT JOIN message r ON r.chat = m.chat AND r.id = m.reply_to LEFT JOIN address ra ON ra.key = r.sender`;

type Reactions = StoredMessage["reactions"];

/** Each person counts once per emoji, even if several of their addresses reacted. */
function readReactions(db: Database, wanted: string): ReadonlyMap<number, Reactions> {
  const rows = db.all(
    `SELECT m.key, r.emoji, r.address, max(r.count) AS count, min(r.at) AS first_at, ${nameOf("a")} AS name
     FROM json_each(?) w CROSS JOIN message m ON m.key = w.value CROSS JOIN reaction r ON r.chat = m.chat AND r.message = m.id
       LEFT JOIN address a ON a.key = r.address
     WHERE r.count > 0 GROUP BY m.key, r.emoji, coalesce(a.person, 0) ORDER BY m.key, first_at, r.emoji`,
    wanted,
  );
  const reactions = new Map<number, Map<string, { count: number; by: string[] }>>();
  for (const row of rows) {
    const ofMessage = reactions.get(keyOf(row)) ?? new Map<string, { count: number; by: string[] }>();
    reactions.set(keyOf(row), ofMessage);
    const emoji = String(row["emoji"]);
    const { count, by } = ofMessage.get(emoji) ?? { count: 0, by: [] };
    const name = row["address"] === 0 ? [] : [String(row["name"])];
    ofMessage.set(emoji, { count: count + Number(row["count"]), by: [...by, ...name] });
  }
  return new Map(
    [...reactions].map(([key, ofMessage]) => [key, [...ofMessage].map(([emoji, rest]) => ({ emoji, ...rest }))]),
  );
}

function toMessage(row: SqlRow, reactions: Reactions): StoredMessage {
  const replyTo = text(row, "reply_to");
  return {
    key: keyOf(row),
    source: String(row["source"]),
    id: String(row["message_id"]),
    chat: { key: Number(row["chat"]), id: String(row["chat_id"]), name: String(row["chat_name"]) },
    sender: row["id"] === null ? null : toSender(row),
    at: Number(row["at"]),
    editedAt: number(row, "edited_at"),
    kind: KIND.parse(row["kind"]),
    content: String(row["content"]),
    replyTo:
      replyTo === null
        ? null
        : {
            id: replyTo,
            sender: text(row, "reply_sender"),
            preview: text(row, "reply_preview"),
            at: number(row, "reply_at"),
          },
    thread: text(row, "thread"),
    forwardedFrom: text(row, "forwarded_from"),
    reactions,
    attachments: parseAttachments(text(row, "attachments")),
  };
}

/** Unknown kinds may come from a newer version. */
const KIND = z
  .enum(["text", "media", "sticker", "poll", "call", "location", "contact", "system", "unsupported"])
  .catch("unsupported");

const ATTACHMENTS = z.array(
  z
    .object({
      kind: z.enum(["image", "video", "audio", "voice", "file", "sticker"]).catch("file"),
      name: z.string().optional(),
      mime: z.string().optional(),
      size: z.number().optional(),
      durationS: z.number().optional(),
      file: z.object({ root: z.string(), name: z.string() }).optional(),
    })
    .transform(({ kind, name = null, mime = null, size = null, durationS = null, file = null }) => {
      return { kind, name, mime, size, durationS, available: file !== null, file };
    }),
);

function parseAttachments(json: string | null): StoredMessage["attachments"] {
  return json === null ? [] : ATTACHMENTS.parse(JSON.parse(json));
}
