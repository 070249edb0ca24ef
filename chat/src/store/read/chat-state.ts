// The state of a chat, derived from its messages: participants, unread messages, whether a reply is awaited.

import { MAX_UNREAD, type ChatState, type StoredChat } from "../../model/store-port.ts";
import { number, text } from "./columns.ts";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { fold } from "./fold.ts";
import { MAX_NTH, toTimeKey, clampTime } from "./time-key.ts";

/** The number of latest messages of a group that are checked for replies and mentions. */
const MAX_CHECKED = 100;

export function readChatState(db: Database, chat: StoredChat, since = -Infinity): ChatState {
  return {
    participants: countParticipants(db, chat),
    unreadCount: countUnread(db, chat, since),
    awaitingReply: isAwaitingReply(db, chat),
  };
}

function countParticipants(db: Database, { key, type, participantCount }: StoredChat): ChatState["participants"] {
  if (participantCount !== null) return { count: participantCount, isEstimate: false };
  if (type === "self") return { count: 1, isEstimate: false };
  if (type === "direct" || type === "bot") return { count: 2, isEstimate: false };
  // Most members of a channel never write, so the number of senders is meaningless.
  if (type === "channel") return null;
  const row = db.get(
    "SELECT count(DISTINCT a.person) AS count FROM chat_sender s JOIN address a ON a.key = s.address WHERE s.chat = ?",
    key,
  );
  const count = Number(row?.["count"] ?? 0);
  return count === 0 ? null : { count, isEstimate: true };
}

/** The user has read everything before their own last message. */
function countUnread(db: Database, { key }: StoredChat, since: number): number | null {
  const readAt = number(db.get("SELECT read_at FROM chat WHERE key = ?", key) ?? {}, "read_at");
  if (readAt === null) return null;
  const rows = db.all(
    `SELECT a.is_self FROM message m LEFT JOIN address a ON a.key = m.sender
     WHERE m.chat = ? AND m.time_key > ? AND +m.kind <> 'system' ORDER BY m.time_key DESC LIMIT ?`,
    key,
    toTimeKey(clampTime(Math.max(readAt, since - 1)), MAX_NTH),
    MAX_UNREAD,
  );
  const own = rows.findIndex((row) => row["is_self"] === 1);
  return own === -1 ? rows.length : own;
}

function isAwaitingReply(db: Database, { key, type }: StoredChat): boolean | null {
  const self = db.all(
    `SELECT name, username FROM address WHERE is_self = 1 AND source = (SELECT source FROM chat WHERE key = ?)`,
    key,
  );
  if (self.length === 0) return null;
  if (type !== "direct" && type !== "group") return false;
  const latest = db.all(
    `SELECT m.sender, a.is_self, m.content, ra.is_self AS answers_self
     FROM message m LEFT JOIN address a ON a.key = m.sender
       LEFT JOIN message r ON r.chat = m.chat AND r.id = m.reply_to LEFT JOIN address ra ON ra.key = r.sender
     WHERE m.chat = ? AND +m.kind <> 'system' ORDER BY m.time_key DESC LIMIT ?`,
    key,
    type === "direct" ? 1 : MAX_CHECKED,
  );
  const own = latest.findIndex((row) => row["is_self"] === 1);
  const others = (own === -1 ? latest : latest.slice(0, own)).filter((row) => row["sender"] !== null);
  if (type === "direct") return others.length > 0;
  const mentions = self.flatMap((row) => [text(row, "name"), text(row, "username")]).flatMap(toMention);
  return others.some((row) => row["answers_self"] === 1 || isMentioned(row, mentions));
}

function toMention(name: string | null): string[] {
  return name === null || name === "" ? [] : [`@${fold(name)}`];
}

function isMentioned(row: SqlRow, mentions: readonly string[]): boolean {
  const content = String(row["content"]);
  if (!content.includes("@")) return false;
  const folded = fold(content);
  return mentions.some((mention) => folded.includes(mention));
}
