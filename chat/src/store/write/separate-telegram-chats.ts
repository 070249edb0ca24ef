// A repair of stored chats. Versions before 5 stored the private chats of a Telegram bot under the ids of the user's own chats,
// so that an export and a bot in one source were mixed; and a basic group became two chats. This separates the messages by
// sender (in a bot's chat only the bot and the person write) and by number: each account numbers its private chats and basic
// groups in one sequence, so a message whose number does not fit into the sequence at its time belongs to another account.
// Other messages stay where they are. Nothing is deleted.

import {
  ACCOUNT_NUMBERING,
  basicGroupId,
  botChatId,
  botNumbering,
  formerBasicGroupId,
  isAccountChatId,
  isBasicGroupId,
} from "../../identity/telegram.ts";
import { keyOf, number } from "../read/columns.ts";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { addAlias, mergeChats, MOVER_COLUMNS, MessageMover, recount } from "./merge-chats.ts";
import { MessageWriter } from "./message-writer.ts";

interface Bot {
  readonly source: number;
  readonly id: string;
  /** The key of its address. */
  readonly address: number;
}

interface PrivateChat {
  readonly key: number;
  readonly id: string;
  readonly type: string;
  /** The key of the other person's address. */
  readonly person: number | null;
}

export function separateTelegramChats(db: Database): void {
  for (const bot of findBots(db)) {
    separatePrivateChats(db, bot);
    joinBasicGroups(db, bot);
  }
}

/** The bot of a source is the address that is both the user and a bot; the latest, if there are several. */
function findBots(db: Database): readonly Bot[] {
  const rows = db.all(
    `SELECT a.source, a.id, max(a.key) AS key FROM address a JOIN source x ON x.key = a.source
     WHERE a.is_self = 1 AND a.is_bot = 1 AND a.id NOT GLOB '*[^0-9]*' AND x.checkpoint ->> 'offset' IS NOT NULL
       AND x.checkpoint ->> 'at' IS NOT NULL
     GROUP BY a.source`,
  );
  return rows.map((row) => ({ source: Number(row["source"]), id: String(row["id"]), address: keyOf(row) }));
}

function separatePrivateChats(db: Database, bot: Bot): void {
  const chats = privateChats(db, bot);
  const account = accountNumbers(db, bot, chats);
  for (const chat of chats) {
    const messages = db.all(`SELECT ${MOVER_COLUMNS} FROM message WHERE chat = ? ORDER BY time_key`, chat.key);
    const ofBot = messages.filter((message) => isOfBot(message, chat, bot, account));
    if (ofBot.length === 0) continue;
    if (ofBot.length === messages.length) renameToBotChat(db, bot, chat);
    else moveToBotChat(db, bot, chat, ofBot);
  }
}

/** A chat with the bot's own id is the user's chat with the bot, from an export. */
function privateChats(db: Database, bot: Bot): readonly PrivateChat[] {
  return db
    .all(
      `SELECT c.key, c.id, c.type, a.key AS person FROM chat c
         LEFT JOIN address a ON a.source = c.source AND a.id = c.id WHERE c.source = ?`,
      bot.source,
    )
    .map((row) => ({
      key: keyOf(row),
      id: String(row["id"]),
      type: String(row["type"]),
      person: number(row, "person"),
    }))
    .filter(({ id }) => isAccountChatId(id) && id !== bot.id);
}

interface Numbered {
  readonly id: number;
  readonly at: number;
}

/** A bot has no chats of these types, so their messages were imported. */
const IMPORTED_TYPES: readonly string[] = ["self", "bot"];

/** Messages that certainly belong to the user's account, sorted by number. */
function accountNumbers(db: Database, bot: Bot, chats: readonly PrivateChat[]): readonly Numbered[] {
  const certain: SqlRow[] = db.all(
    `SELECT ${MOVER_COLUMNS} FROM message WHERE chat IN
       (SELECT key FROM chat WHERE source = ? AND (id = ? OR id GLOB 'chat[0-9]*'))`,
    bot.source,
    bot.id,
  );
  for (const chat of chats) {
    const messages = db.all(`SELECT ${MOVER_COLUMNS} FROM message WHERE chat = ?`, chat.key);
    certain.push(...messages.filter((message) => isOfAccount(message, chat, bot)));
  }
  return certain.map(toNumbered).toSorted((a, b) => a.id - b.id);
}

function isOfAccount(message: SqlRow, { type, person }: PrivateChat, bot: Bot): boolean {
  if (IMPORTED_TYPES.includes(type)) return true;
  const sender = number(message, "sender");
  return sender !== null && sender !== person && sender !== bot.address;
}

function isOfBot(message: SqlRow, chat: PrivateChat, bot: Bot, account: readonly Numbered[]): boolean {
  if (isOfAccount(message, chat, bot)) return false;
  return number(message, "sender") === bot.address || !fits(toNumbered(message), account);
}

const toNumbered = (row: SqlRow): Numbered => ({ id: Number(row["id"]), at: Number(row["at"]) });

/** Whether a message fits into the sequence: not before its predecessor, not after its successor, and with a free number. */
function fits({ id, at }: Numbered, row: readonly Numbered[]): boolean {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((row[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  const [before, behind] = [row[low - 1], row[low]];
  if (before === undefined && behind === undefined) return false;
  if (behind?.id === id) return false;
  return (before === undefined || before.at <= at) && (behind === undefined || at <= behind.at);
}

/** All messages are the bot's. The old id still finds the chat, unless a chat of the account has it. */
function renameToBotChat(db: Database, bot: Bot, { key, id, person }: PrivateChat): void {
  db.run("UPDATE chat SET id = ?, counterpart = ? WHERE key = ?", botChatId(bot.id, id), person, key);
  addAlias(db, { source: bot.source, kind: "former_id", value: id, chat: key });
  numberByBot(db, bot, key);
}

function moveToBotChat(db: Database, bot: Bot, chat: PrivateChat, messages: readonly SqlRow[]): void {
  const insert = db.prepare(
    `INSERT INTO chat (source, id, name, folded_name, type, counterpart)
     SELECT source, ?, name, folded_name, 'direct', ? FROM chat WHERE key = ?`,
  );
  const key = Number(insert.run(botChatId(bot.id, chat.id), chat.person, chat.key).lastInsertRowid);
  // If the chat was hidden by its id, this part stays hidden.
  addAlias(db, { source: bot.source, kind: "former_id", value: chat.id, chat: key });
  const mover = new MessageMover(db);
  for (const message of messages) {
    mover.move(message, { chat: key, source: bot.source });
    const sql = "UPDATE reaction SET chat = ? WHERE chat = ? AND message = ?";
    db.run(sql, key, chat.key, String(message["id"]));
  }
  mover.finish();
  numberByBot(db, bot, key);
  recount(db, chat.key);
  recount(db, key);
}

/** Prefixes the message ids of the chat with the bot's numbering. */
function numberByBot(db: Database, bot: Bot, chat: number): void {
  const prefix = `${botNumbering(bot.id)}:`;
  db.run(
    `UPDATE message SET id = ?1 || id, reply_to = ?1 || reply_to, thread = ?1 || thread, numbered_by = ?2 WHERE chat = ?3`,
    prefix,
    botNumbering(bot.id),
    chat,
  );
  db.run("UPDATE reaction SET message = ? || message WHERE chat = ?", prefix, chat);
  for (const table of ["gone", "early_edit"]) db.run(`UPDATE ${table} SET id = ? || id WHERE chat = ?`, prefix, chat);
}

/** `chat2001` of an export and `-2001` of the bot are one group. */
function joinBasicGroups(db: Database, bot: Bot): void {
  const groups = db.all("SELECT key, id FROM chat WHERE source = ? AND type = 'group' ORDER BY key", bot.source);
  const keys = new Map(groups.map((row) => [String(row["id"]), keyOf(row)]));
  for (const [id, key] of keys) if (isBasicGroupId(id)) numberByBot(db, bot, key);
  for (const [id, key] of keys) {
    const bare = /^chat(\d+)$/.exec(id)?.[1];
    if (bare === undefined) continue;
    db.run("UPDATE message SET numbered_by = ? WHERE chat = ?", ACCOUNT_NUMBERING, key);
    const live = keys.get(basicGroupId(bare));
    if (live === undefined) db.run("UPDATE chat SET id = ? WHERE key = ?", basicGroupId(bare), key);
    else mergeChats(db, new MessageWriter(db), { from: key, chat: live, source: bot.source });
    const chat = live ?? key;
    addAlias(db, { source: bot.source, kind: "id", value: formerBasicGroupId(bare), chat });
  }
}
