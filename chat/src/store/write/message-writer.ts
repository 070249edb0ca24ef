// Inserts, edits and deletes messages. Events may repeat, and may arrive before the message they refer to; the result does not
// depend on their order.

import type { NativeMessage, NativeReaction } from "../../model/source.ts";
import { ChatTallies } from "./chat-tallies.ts";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { IndexChanges } from "./index-changes.ts";
import { toScopeText } from "../read/fts-query.ts";
import { timeOf, MAX_NTH, nthOf, toTimeKey, clampTime } from "../read/time-key.ts";

/** Keys of a chat and its source. */
export interface ChatRef {
  readonly chat: number;
  readonly source: number;
}

interface StoredRow {
  readonly key: number;
  readonly timeKey: bigint;
  readonly at: number;
  readonly sender: number | null;
  readonly editedAt: number | null;
  readonly kind: string;
  readonly content: string;
}

interface Edit {
  readonly id: string;
  readonly content: string;
  readonly at: number;
}

export class MessageWriter {
  readonly #db: Database;
  readonly #index: IndexChanges;
  readonly #tallies: ChatTallies;
  /** Whether these tables have rows: empty ones need no lookup for every message. */
  #hasDeleted: boolean;
  #hasEarlyEdits: boolean;
  #hasTwins: boolean;

  /** For one transaction. */
  constructor(db: Database) {
    this.#db = db;
    this.#index = new IndexChanges(db);
    this.#tallies = new ChatTallies(db);
    this.#hasDeleted = db.get("SELECT 1 FROM gone LIMIT 1") !== undefined;
    this.#hasEarlyEdits = db.get("SELECT 1 FROM early_edit LIMIT 1") !== undefined;
    this.#hasTwins = db.get("SELECT 1 FROM twin LIMIT 1") !== undefined;
  }

  /** Writes pending changes of the index and the counts, at the end of the transaction. */
  finish(): void {
    this.#index.write();
    this.#tallies.write();
  }

  /** Returns the key of a new message; undefined if it is stored already, or deleted. */
  add(
    chatRef: ChatRef,
    sender: number | null,
    native: NativeMessage,
    addressOf: (id: string) => number,
  ): number | undefined {
    const message = this.#asStored(chatRef, sender, native);
    if (this.#isDeleted(chatRef.chat, message.id)) return undefined;
    const key = this.#insert(chatRef, sender, message);
    if (key === undefined) this.#updateKnown(chatRef, message);
    else this.#applyEarlyEdit(chatRef, message);
    for (const reaction of message.reactions ?? []) this.#addReaction(chatRef.chat, message.id, reaction, addressOf);
    return key;
  }

  edit(chatRef: ChatRef, { id, ...rest }: Edit): void {
    const edit = { ...rest, id: this.#storedId(chatRef.chat, id) };
    const known = this.#find(chatRef.chat, edit.id);
    if (known !== undefined) this.#applyEdit(chatRef, known, edit);
    else if (!this.#isDeleted(chatRef.chat, edit.id)) this.#keepEarlyEdit(chatRef.chat, edit);
  }

  /** Returns whether it was stored. Its id is remembered, so that it is not stored again. */
  delete(chat: number, nativeId: string): boolean {
    const id = this.#storedId(chat, nativeId);
    this.#db.run("INSERT INTO gone (chat, id) VALUES (?, ?) ON CONFLICT DO NOTHING", chat, id);
    this.#hasDeleted = true;
    this.#db.run("DELETE FROM reaction WHERE chat = ? AND message = ?", chat, id);
    this.#db.run("DELETE FROM early_edit WHERE chat = ? AND id = ?", chat, id);
    const known = this.#find(chat, id);
    if (known === undefined) return false;
    this.#forget(chat, known);
    return true;
  }

  #forget(chat: number, known: StoredRow): void {
    this.#db.run("DELETE FROM message WHERE key = ?", known.key);
    this.#db.run("DELETE FROM revision WHERE message = ?", known.key);
    this.#index.remove(known.key, known.timeKey);
    this.#tallies.remove(chat, known.sender);
  }

  react(
    chat: number,
    nativeId: string,
    reaction: { address: number; emoji: string; removed: boolean; at: number },
  ): void {
    const id = this.#storedId(chat, nativeId);
    if (this.#isDeleted(chat, id)) return;
    this.#db.run(
      `INSERT INTO reaction (chat, message, address, emoji, count, at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = excluded.count, at = excluded.at WHERE excluded.at >= reaction.at`,
      chat,
      id,
      reaction.address,
      reaction.emoji,
      reaction.removed ? 0 : 1,
      clampTime(reaction.at),
    );
  }

  /** The id under which a message is stored: its own, or the one of another account that numbered it. */
  #storedId(chat: number, id: string): string {
    if (!this.#hasTwins) return id;
    const stored = this.#db.get("SELECT message FROM twin WHERE chat = ? AND id = ?", chat, id)?.["message"];
    return typeof stored === "string" ? stored : id;
  }

  #asStored({ chat }: ChatRef, sender: number | null, message: NativeMessage): NativeMessage {
    const { numberedBy, replyTo, thread } = message;
    if (numberedBy === undefined && !this.#hasTwins) return message;
    const id = this.#storedId(chat, message.id);
    const mayHaveTwin = numberedBy !== undefined && !this.#isDeleted(chat, id);
    const twin = !mayHaveTwin
      ? undefined
      : id === message.id
        ? this.#joinTwin(chat, sender, { ...message, numberedBy })
        : this.#correctTwin(chat, sender, { ...message, numberedBy }, id);
    return {
      ...message,
      id: twin ?? id,
      ...(replyTo === undefined ? {} : { replyTo: this.#storedId(chat, replyTo) }),
      ...(thread === undefined ? {} : { thread: this.#storedId(chat, thread) }),
    };
  }

  #joinTwin(chat: number, sender: number | null, message: NativeMessage & { numberedBy: string }): string | undefined {
    const { id, numberedBy, editedAt } = message;
    const known = this.#find(chat, id);
    // A stored message had no twin when it arrived; its text after an edit may have one.
    if (known !== undefined && editedAt === undefined) return undefined;
    const twin = this.findTwin(chat, { ...message, sender });
    if (twin === undefined) return undefined;
    if (known !== undefined) this.#forget(chat, known);
    this.addTwin({ chat, id, numberedBy, message: twin });
    return twin;
  }

  /** Of two equal messages the wrong one may have been chosen. An edit shows it: the other account already has the new text. */
  #correctTwin(
    chat: number,
    sender: number | null,
    message: NativeMessage & { numberedBy: string },
    stored: string,
  ): string | undefined {
    if (message.editedAt === undefined) return undefined;
    const known = this.#db.get("SELECT content FROM message WHERE chat = ? AND id = ?", chat, stored);
    if (known?.["content"] === message.content) return undefined;
    const twin = this.findTwin(chat, { ...message, sender });
    if (twin === undefined) return undefined;
    const { id, numberedBy } = message;
    this.#db.run("DELETE FROM twin WHERE chat = ? AND id = ?", chat, id);
    this.addTwin({ chat, id, numberedBy, message: twin });
    return twin;
  }

  /** The id of the same message in another account's numbering. Each of several equal messages gets its own twin. */
  findTwin(
    chat: number,
    message: { numberedBy: string; sender: number | null; at: number; kind: string; content: string },
  ): string | undefined {
    const at = clampTime(message.at);
    const found = this.#db.get(
      `SELECT m.id FROM message m WHERE m.chat = ?1 AND m.time_key BETWEEN ?2 AND ?3 AND m.numbered_by <> ?4
         AND m.sender IS ?5 AND m.kind = ?6
         AND (m.content = ?7 OR EXISTS (SELECT 1 FROM revision WHERE message = m.key AND content = ?7))
         AND NOT EXISTS (SELECT 1 FROM twin t WHERE t.chat = m.chat AND t.message = m.id AND t.numbered_by = ?4)
       ORDER BY m.time_key LIMIT 1`,
      chat,
      toTimeKey(at, 0),
      toTimeKey(at, MAX_NTH),
      message.numberedBy,
      message.sender,
      message.kind,
      message.content,
    )?.["id"];
    return typeof found === "string" ? found : undefined;
  }

  /** Makes both ids mean one message, also in stored replies, reactions and edits. */
  addTwin(twin: { chat: number; id: string; numberedBy: string; message: string }): void {
    const { chat, id, numberedBy, message } = twin;
    this.#hasTwins = true;
    const sql = "INSERT INTO twin (chat, id, numbered_by, message) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
    this.#db.run(sql, chat, id, numberedBy, message);
    for (const column of ["reply_to", "thread"]) {
      this.#db.run(`UPDATE message SET ${column} = ? WHERE chat = ? AND ${column} = ?`, message, chat, id);
    }
    this.#db.run("UPDATE OR IGNORE reaction SET message = ? WHERE chat = ? AND message = ?", message, chat, id);
    this.#db.run("DELETE FROM reaction WHERE chat = ? AND message = ?", chat, id);
    this.#db.run("UPDATE OR IGNORE early_edit SET id = ? WHERE chat = ? AND id = ?", message, chat, id);
    this.#db.run("DELETE FROM early_edit WHERE chat = ? AND id = ?", chat, id);
  }

  #insert(chatRef: ChatRef, sender: number | null, message: NativeMessage): number | undefined {
    const wantedAt = clampTime(message.at);
    const key = this.#tryInsert(chatRef, sender, message, toTimeKey(wantedAt, 0));
    if (key !== undefined) return this.#indexMessage(key, chatRef, sender, message, toTimeKey(wantedAt, 0), wantedAt);
    if (this.#find(chatRef.chat, message.id) !== undefined) return undefined;
    // The first time key of the millisecond is taken.
    const { at, nth } = this.#freeTimeKey(wantedAt);
    const later = this.#tryInsert(chatRef, sender, message, toTimeKey(at, nth));
    return later === undefined
      ? undefined
      : this.#indexMessage(later, chatRef, sender, message, toTimeKey(at, nth), at);
  }

  #tryInsert({ chat }: ChatRef, sender: number | null, message: NativeMessage, timeKey: bigint): number | undefined {
    const insert = this.#db.prepare(
      `INSERT INTO message (time_key, chat, id, sender, edited_at, kind, content, reply_to, thread, forwarded_from, attachments,
         expires_at, numbered_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    const { changes, lastInsertRowid } = insert.run(
      timeKey,
      chat,
      message.id,
      sender,
      message.editedAt === undefined ? null : clampTime(message.editedAt),
      message.kind,
      message.content,
      message.replyTo ?? null,
      message.thread ?? null,
      message.forwardedFrom ?? null,
      message.attachments === undefined || message.attachments.length === 0
        ? null
        : JSON.stringify(message.attachments),
      message.expiresAt === undefined ? null : clampTime(message.expiresAt),
      message.numberedBy ?? null,
    );
    return Number(changes) === 0 ? undefined : Number(lastInsertRowid);
  }

  #indexMessage(
    key: number,
    chatRef: ChatRef,
    sender: number | null,
    message: NativeMessage,
    timeKey: bigint,
    at: number,
  ): number {
    const scope = toScopeText(chatRef.chat, chatRef.source, sender);
    this.#index.add(key, timeKey, { content: message.content, isNotice: message.kind === "system", scope });
    this.#tallies.add(chatRef.chat, sender, at);
    return key;
  }

  #freeTimeKey(wantedAt: number): { at: number; nth: number } {
    for (let at = wantedAt; ; at++) {
      const taken = this.#db.get(
        `SELECT ${nthOf("max(time_key)")} AS nth FROM message WHERE time_key BETWEEN ? AND ?`,
        toTimeKey(at, 0),
        toTimeKey(at, MAX_NTH),
      )?.["nth"];
      if (typeof taken !== "number") return { at, nth: 0 };
      // All time keys of the millisecond are taken: use the next millisecond.
      if (taken < MAX_NTH) return { at, nth: taken + 1 };
    }
  }

  /** The message arrived again: it may have a newer text, or files that were missing. */
  #updateKnown(chatRef: ChatRef, { id, editedAt, content, attachments }: NativeMessage): void {
    this.#updateFiles(chatRef.chat, id, attachments);
    if (editedAt === undefined) return;
    const known = this.#find(chatRef.chat, id);
    if (known !== undefined) this.#applyEdit(chatRef, known, { id, content, at: editedAt });
  }

  /** An export that was moved, or made again with media, has new paths. One without media removes nothing. */
  #updateFiles(chat: number, id: string, attachments: NativeMessage["attachments"]): void {
    if (attachments?.some(({ file }) => file !== undefined) !== true) return;
    const json = JSON.stringify(attachments);
    this.#db.run(
      "UPDATE message SET attachments = ? WHERE chat = ? AND id = ? AND attachments IS NOT ?",
      json,
      chat,
      id,
      json,
    );
  }

  #applyEdit(chatRef: ChatRef, known: StoredRow, { content, at }: Edit): void {
    if (content === known.content) return;
    const editedAt = clampTime(at);
    const isOlder = known.editedAt !== null && editedAt < known.editedAt;
    if (isOlder) return this.#addRevision(known.key, editedAt, content);
    // Two edits have the same time, and this one is the earlier, arriving again.
    if (editedAt === known.editedAt && this.#hasRevision(known.key, editedAt, content)) return;
    this.#addRevision(known.key, known.editedAt ?? known.at, known.content);
    this.#db.run("UPDATE message SET content = ?, edited_at = ? WHERE key = ?", content, editedAt, known.key);
    const scope = toScopeText(chatRef.chat, chatRef.source, known.sender);
    this.#index.replace(known.key, known.timeKey, { content, isNotice: known.kind === "system", scope });
  }

  #addRevision(message: number, at: number, content: string): void {
    const sql = "INSERT INTO revision (message, at, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    this.#db.run(sql, message, at, content);
  }

  #hasRevision(message: number, at: number, content: string): boolean {
    const sql = "SELECT 1 FROM revision WHERE message = ? AND at = ? AND content = ?";
    return this.#db.get(sql, message, at, content) !== undefined;
  }

  #keepEarlyEdit(chat: number, { id, at, content }: Edit): void {
    this.#hasEarlyEdits = true;
    this.#db.run(
      `INSERT INTO early_edit (chat, id, at, content) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET at = excluded.at, content = excluded.content WHERE excluded.at >= early_edit.at`,
      chat,
      id,
      clampTime(at),
      content,
    );
  }

  #applyEarlyEdit(chatRef: ChatRef, { id }: NativeMessage): void {
    if (!this.#hasEarlyEdits) return;
    const early = this.#db.get("SELECT at, content FROM early_edit WHERE chat = ? AND id = ?", chatRef.chat, id);
    if (early === undefined) return;
    this.#db.run("DELETE FROM early_edit WHERE chat = ? AND id = ?", chatRef.chat, id);
    this.edit(chatRef, { id, at: Number(early["at"]), content: String(early["content"]) });
  }

  #addReaction(chat: number, id: string, reaction: NativeReaction, addressOf: (id: string) => number): void {
    const { emoji, by, at, count = 1 } = reaction;
    if (by === undefined) return this.#setReactionCount(chat, id, emoji, count);
    // A reaction without a time never overrides a known one.
    this.react(chat, id, { address: addressOf(by), emoji, removed: false, at: at ?? -Infinity });
  }

  #setReactionCount(chat: number, id: string, emoji: string, count: number): void {
    this.#db.run(
      `INSERT INTO reaction (chat, message, address, emoji, count, at) VALUES (?, ?, 0, ?, ?, 0)
       ON CONFLICT DO UPDATE SET count = excluded.count`,
      chat,
      id,
      emoji,
      count,
    );
  }

  #isDeleted(chat: number, id: string): boolean {
    return this.#hasDeleted && this.#db.get("SELECT 1 FROM gone WHERE chat = ? AND id = ?", chat, id) !== undefined;
  }

  #find(chat: number, id: string): StoredRow | undefined {
    const row = this.#db.get(
      `SELECT key, ${timeOf("time_key")} AS at, ${nthOf("time_key")} AS nth, sender, edited_at, kind, content
       FROM message WHERE chat = ? AND id = ?`,
      chat,
      id,
    );
    return row === undefined ? undefined : toKnown(row);
  }
}

function toKnown(row: SqlRow): StoredRow {
  const at = Number(row["at"]);
  return {
    key: Number(row["key"]),
    timeKey: toTimeKey(at, Number(row["nth"])),
    at,
    sender: row["sender"] === null ? null : Number(row["sender"]),
    editedAt: row["edited_at"] === null ? null : Number(row["edited_at"]),
    kind: String(row["kind"]),
    content: String(row["content"]),
  };
}
