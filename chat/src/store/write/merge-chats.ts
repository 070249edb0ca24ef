// Merges two chats that are the same. Every message keeps its key; a message that both have is kept once, with the edits,
// reactions and deletions of both.

import { keyOf, number, text } from "../read/columns.ts";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { fold } from "../read/fold.ts";
import { IndexChanges } from "./index-changes.ts";
import { toScopeText } from "../read/fts-query.ts";
import type { MessageWriter, ChatRef } from "./message-writer.ts";
import { timeOf, nthOf, toTimeKey } from "../read/time-key.ts";

/** Messages per query. */
const STEP = 1000;

export interface Merge extends ChatRef {
  /** The chat that is deleted; its messages move to `chat`. */
  readonly from: number;
}

/** In one transaction. The writer must not have pending changes. */
export function mergeChats(db: Database, writer: MessageWriter, merge: Merge): void {
  const { from, chat, source } = merge;
  mergeNames(db, merge);
  for (const table of ["gone", "early_edit", "twin", "gap", "unfetched"]) {
    db.run(`UPDATE OR IGNORE ${table} SET chat = ? WHERE chat = ?`, chat, from);
    db.run(`DELETE FROM ${table} WHERE chat = ?`, from);
  }
  moveMessages(db, writer, merge);
  db.run("UPDATE OR IGNORE reaction SET chat = ? WHERE chat = ?", chat, from);
  db.run("DELETE FROM reaction WHERE chat = ?", from);
  applyPending(db, writer, { chat, source });
  writer.finish();
  for (const sql of ["DELETE FROM chat_sender WHERE chat = ?", "DELETE FROM chat WHERE key = ?"]) db.run(sql, from);
  recount(db, chat);
}

/** Computes the counts of a chat from its messages. */
export function recount(db: Database, chat: number): void {
  db.run(
    `UPDATE chat SET message_count = (SELECT count(*) FROM message WHERE chat = ?1),
       oldest_at = (SELECT ${timeOf("min(time_key)")} FROM message WHERE chat = ?1),
       newest_at = (SELECT ${timeOf("max(time_key)")} FROM message WHERE chat = ?1) WHERE key = ?1`,
    chat,
  );
  db.run("DELETE FROM chat_sender WHERE chat = ?", chat);
  db.run(
    `INSERT INTO chat_sender (chat, address, messages)
     SELECT chat, sender, count(*) FROM message WHERE chat = ? AND sender IS NOT NULL GROUP BY sender`,
    chat,
  );
}

export interface Alias {
  readonly source: number;
  /** See schema.ts. */
  readonly kind: "id" | "former_id" | "name";
  readonly value: string;
  readonly chat: number;
}

export function addAlias(db: Database, { source, kind, value, chat }: Alias): void {
  const sql =
    "INSERT INTO chat_alias (source, kind, value, folded, chat) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
  db.run(sql, source, kind, value, fold(value), chat);
}

/** Moves messages to another chat, in the table and in the index. */
export class MessageMover {
  readonly #db: Database;
  readonly #index: IndexChanges;

  constructor(db: Database) {
    this.#db = db;
    this.#index = new IndexChanges(db);
  }

  move(row: SqlRow, { chat, source }: ChatRef): void {
    const key = keyOf(row);
    this.#db.run("UPDATE message SET chat = ? WHERE key = ?", chat, key);
    const timeKey = toTimeKey(Number(row["at"]), Number(row["nth"]));
    const scope = toScopeText(chat, source, number(row, "sender"));
    const content = text(row, "content") ?? "";
    this.#index.replace(key, timeKey, { content, isNotice: row["kind"] === "system", scope });
  }

  drop(row: SqlRow): void {
    const key = keyOf(row);
    this.#db.run("DELETE FROM message WHERE key = ?", key);
    this.#db.run("DELETE FROM revision WHERE message = ?", key);
    this.#index.remove(key, toTimeKey(Number(row["at"]), Number(row["nth"])));
  }

  finish(): void {
    this.#index.write();
  }
}

export const MOVER_COLUMNS = `key, id, ${timeOf("time_key")} AS at, ${nthOf("time_key")} AS nth, sender, edited_at, kind, content, numbered_by`;

function mergeNames(db: Database, { from, chat, source }: Merge): void {
  const kept = db.get("SELECT name FROM chat WHERE key = ?", chat) ?? {};
  const merged = db.get("SELECT name, folded_name, participant_count, counterpart FROM chat WHERE key = ?", from) ?? {};
  const name = text(merged, "name");
  db.run(
    `UPDATE chat SET name = coalesce(name, ?1), folded_name = CASE WHEN name IS NULL THEN ?2 ELSE folded_name END,
       participant_count = coalesce(participant_count, ?3), counterpart = coalesce(counterpart, ?4) WHERE key = ?5`,
    name,
    text(merged, "folded_name"),
    number(merged, "participant_count"),
    number(merged, "counterpart"),
    chat,
  );
  db.run("UPDATE OR IGNORE chat_alias SET chat = ? WHERE chat = ?", chat, from);
  db.run("DELETE FROM chat_alias WHERE chat = ?", from);
  if (name !== null && name !== text(kept, "name")) addAlias(db, { source, kind: "name", value: name, chat });
}

function moveMessages(db: Database, writer: MessageWriter, merge: Merge): void {
  const { from, chat } = merge;
  const mover = new MessageMover(db);
  const next = (): SqlRow[] =>
    db.all(`SELECT ${MOVER_COLUMNS} FROM message WHERE chat = ? ORDER BY time_key LIMIT ?`, from, STEP);
  for (let rows = next(); rows.length > 0; rows = next()) {
    for (const row of rows) {
      const kept = keptId(db, writer, chat, row);
      if (kept === undefined) mover.move(row, merge);
      else absorb(db, { writer, mover }, { merge, row, kept });
    }
  }
  mover.finish();
}

/** The id of the same message in the remaining chat. */
function keptId(db: Database, writer: MessageWriter, chat: number, row: SqlRow): string | undefined {
  const id = String(row["id"]);
  if (db.get("SELECT 1 FROM message WHERE chat = ? AND id = ?", chat, id) !== undefined) return id;
  const numberedBy = text(row, "numbered_by");
  if (numberedBy === null) return undefined;
  const message = {
    numberedBy,
    at: Number(row["at"]),
    kind: String(row["kind"]),
    content: String(row["content"]),
    sender: number(row, "sender"),
  };
  const twin = writer.findTwin(chat, message);
  if (twin !== undefined) writer.addTwin({ chat, id, numberedBy, message: twin });
  return twin;
}

/** Merges a message into its copy in the remaining chat, with the earlier texts and reactions of both. */
function absorb(
  db: Database,
  { writer, mover }: { readonly writer: MessageWriter; readonly mover: MessageMover },
  { merge, row, kept }: { readonly merge: Merge; readonly row: SqlRow; readonly kept: string },
): void {
  const { from, chat } = merge;
  db.run(
    `INSERT INTO revision (message, at, content)
     SELECT (SELECT key FROM message WHERE chat = ? AND id = ?), at, content FROM revision WHERE message = ?
     ON CONFLICT DO NOTHING`,
    chat,
    kept,
    keyOf(row),
  );
  db.run(
    `UPDATE message SET attachments = (SELECT attachments FROM message WHERE key = ?)
     WHERE chat = ? AND id = ? AND attachments IS NULL`,
    keyOf(row),
    chat,
    kept,
  );
  const sql = "UPDATE OR IGNORE reaction SET chat = ?, message = ? WHERE chat = ? AND message = ?";
  db.run(sql, chat, kept, from, String(row["id"]));
  mover.drop(row);
  const editedAt = number(row, "edited_at");
  if (editedAt !== null) writer.edit(merge, { id: kept, content: String(row["content"]), at: editedAt });
}

/** Applies edits and deletions that one chat had received for a message of the other. */
function applyPending(db: Database, writer: MessageWriter, chatRef: ChatRef): void {
  const { chat } = chatRef;
  const deleted = "SELECT m.id FROM gone g JOIN message m ON m.chat = g.chat AND m.id = g.id WHERE g.chat = ?";
  for (const row of db.all(deleted, chat)) writer.delete(chat, String(row["id"]));
  const early =
    "SELECT e.id, e.at, e.content FROM early_edit e JOIN message m ON m.chat = e.chat AND m.id = e.id WHERE e.chat = ?";
  for (const row of db.all(early, chat)) {
    const id = String(row["id"]);
    db.run("DELETE FROM early_edit WHERE chat = ? AND id = ?", chat, id);
    writer.edit(chatRef, { id, at: Number(row["at"]), content: String(row["content"]) });
  }
}
