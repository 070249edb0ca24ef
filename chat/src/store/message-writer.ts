// Puts messages into the store, changes and removes them. Each event may come again, and before what it is about; what is
// known then decides, so that the outcome is the same.

import type { NativeMessage, NativeReaction } from "../source.ts";
import { ChatTallies } from "./chat-tallies.ts";
import type { Database, SqlRow } from "./driver.ts";
import { IndexChanges } from "./index-changes.ts";
import { toScopeText } from "./match.ts";
import { AT, MAX_NTH, NTH, toSlot, toTime } from "./slot.ts";

/** Where a message belongs, in keys of the store. */
export interface Place {
  readonly chat: number;
  readonly source: number;
}

interface Known {
  readonly key: number;
  readonly slot: bigint;
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
  /** Empty tables need not be asked for every message. */
  #hasGone: boolean;
  #hasEarlyEdits: boolean;

  /** For one commit. */
  constructor(db: Database) {
    this.#db = db;
    this.#index = new IndexChanges(db);
    this.#tallies = new ChatTallies(db);
    this.#hasGone = db.get("SELECT 1 FROM gone LIMIT 1") !== undefined;
    this.#hasEarlyEdits = db.get("SELECT 1 FROM early_edit LIMIT 1") !== undefined;
  }

  /** Writes what was gathered: the last thing in the commit. */
  finish(): void {
    this.#index.write();
    this.#tallies.write();
  }

  /** The key of a message that is new; undefined where it is known, or deleted. */
  add(
    place: Place,
    sender: number | null,
    message: NativeMessage,
    addressOf: (id: string) => number,
  ): number | undefined {
    if (this.#isGone(place.chat, message.id)) return undefined;
    const key = this.#insert(place, sender, message);
    if (key === undefined) this.#updateKnown(place, message);
    else this.#applyEarlyEdit(place, message);
    for (const reaction of message.reactions ?? []) this.#addReaction(place.chat, message.id, reaction, addressOf);
    return key;
  }

  edit(place: Place, edit: Edit): void {
    const known = this.#find(place.chat, edit.id);
    if (known !== undefined) this.#applyEdit(place, known, edit);
    else if (!this.#isGone(place.chat, edit.id)) this.#keepEarlyEdit(place.chat, edit);
  }

  /** Whether there was one. It does not come back, either way. */
  delete(chat: number, id: string): boolean {
    this.#db.run("INSERT INTO gone (chat, id) VALUES (?, ?) ON CONFLICT DO NOTHING", chat, id);
    this.#hasGone = true;
    this.#db.run("DELETE FROM reaction WHERE chat = ? AND message = ?", chat, id);
    this.#db.run("DELETE FROM early_edit WHERE chat = ? AND id = ?", chat, id);
    const known = this.#find(chat, id);
    if (known === undefined) return false;
    this.#db.run("DELETE FROM message WHERE key = ?", known.key);
    this.#db.run("DELETE FROM revision WHERE message = ?", known.key);
    this.#index.remove(known.key, known.slot);
    this.#tallies.remove(chat, known.sender);
    return true;
  }

  react(chat: number, id: string, reaction: { address: number; emoji: string; removed: boolean; at: number }): void {
    if (this.#isGone(chat, id)) return;
    this.#db.run(
      `INSERT INTO reaction (chat, message, address, emoji, count, at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = excluded.count, at = excluded.at WHERE excluded.at >= reaction.at`,
      chat,
      id,
      reaction.address,
      reaction.emoji,
      reaction.removed ? 0 : 1,
      toTime(reaction.at),
    );
  }

  #insert(place: Place, sender: number | null, message: NativeMessage): number | undefined {
    const wantedAt = toTime(message.at);
    const key = this.#tryInsert(place, sender, message, toSlot(wantedAt, 0));
    if (key !== undefined) return this.#enter(key, place, sender, message, toSlot(wantedAt, 0), wantedAt);
    if (this.#find(place.chat, message.id) !== undefined) return undefined;
    // Its millisecond is taken.
    const { at, nth } = this.#freeSlot(wantedAt);
    const later = this.#tryInsert(place, sender, message, toSlot(at, nth));
    return later === undefined ? undefined : this.#enter(later, place, sender, message, toSlot(at, nth), at);
  }

  #tryInsert({ chat }: Place, sender: number | null, message: NativeMessage, slot: bigint): number | undefined {
    const insert = this.#db.prepare(
      `INSERT INTO message (slot, chat, id, sender, edited_at, kind, content, reply_to, thread, forwarded_from, attachments,
         expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    const { changes, lastInsertRowid } = insert.run(
      slot,
      chat,
      message.id,
      sender,
      message.editedAt === undefined ? null : toTime(message.editedAt),
      message.kind,
      message.content,
      message.replyTo ?? null,
      message.thread ?? null,
      message.forwardedFrom ?? null,
      message.attachments === undefined || message.attachments.length === 0
        ? null
        : JSON.stringify(message.attachments),
      message.expiresAt === undefined ? null : toTime(message.expiresAt),
    );
    return Number(changes) === 0 ? undefined : Number(lastInsertRowid);
  }

  #enter(key: number, place: Place, sender: number | null, message: NativeMessage, slot: bigint, at: number): number {
    const scope = toScopeText(place.chat, place.source, sender);
    this.#index.add(key, slot, { content: message.content, isNotice: message.kind === "system", scope });
    this.#tallies.add(place.chat, sender, at);
    return key;
  }

  #freeSlot(wantedAt: number): { at: number; nth: number } {
    for (let at = wantedAt; ; at++) {
      const taken = this.#db.get(
        `SELECT ${NTH("max(slot)")} AS nth FROM message WHERE slot BETWEEN ? AND ?`,
        toSlot(at, 0),
        toSlot(at, MAX_NTH),
      )?.["nth"];
      if (typeof taken !== "number") return { at, nth: 0 };
      // Two million of one millisecond: the next one is as good.
      if (taken < MAX_NTH) return { at, nth: taken + 1 };
    }
  }

  /** The same message once more: only what was edited since is news. */
  #updateKnown(place: Place, { id, editedAt, content }: NativeMessage): void {
    if (editedAt === undefined) return;
    const known = this.#find(place.chat, id);
    if (known !== undefined) this.#applyEdit(place, known, { id, content, at: editedAt });
  }

  #applyEdit(place: Place, known: Known, { content, at }: Edit): void {
    if (content === known.content) return;
    const editedAt = toTime(at);
    const isOlder = known.editedAt !== null && editedAt < known.editedAt;
    if (isOlder) return this.#addRevision(known.key, editedAt, content);
    // Of two edits at one moment the later one won already, when the first one comes again.
    if (editedAt === known.editedAt && this.#hasRevision(known.key, editedAt, content)) return;
    this.#addRevision(known.key, known.editedAt ?? known.at, known.content);
    this.#db.run("UPDATE message SET content = ?, edited_at = ? WHERE key = ?", content, editedAt, known.key);
    const scope = toScopeText(place.chat, place.source, known.sender);
    this.#index.replace(known.key, known.slot, { content, isNotice: known.kind === "system", scope });
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
      toTime(at),
      content,
    );
  }

  #applyEarlyEdit(place: Place, { id }: NativeMessage): void {
    if (!this.#hasEarlyEdits) return;
    const early = this.#db.get("SELECT at, content FROM early_edit WHERE chat = ? AND id = ?", place.chat, id);
    if (early === undefined) return;
    this.#db.run("DELETE FROM early_edit WHERE chat = ? AND id = ?", place.chat, id);
    this.edit(place, { id, at: Number(early["at"]), content: String(early["content"]) });
  }

  #addReaction(chat: number, id: string, reaction: NativeReaction, addressOf: (id: string) => number): void {
    const { emoji, by, at, count = 1 } = reaction;
    if (by === undefined) return this.#setReactionCount(chat, id, emoji, count);
    // Without a time it is older than whatever is known.
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

  #isGone(chat: number, id: string): boolean {
    return this.#hasGone && this.#db.get("SELECT 1 FROM gone WHERE chat = ? AND id = ?", chat, id) !== undefined;
  }

  #find(chat: number, id: string): Known | undefined {
    const row = this.#db.get(
      `SELECT key, ${AT("slot")} AS at, ${NTH("slot")} AS nth, sender, edited_at, kind, content
       FROM message WHERE chat = ? AND id = ?`,
      chat,
      id,
    );
    return row === undefined ? undefined : toKnown(row);
  }
}

function toKnown(row: SqlRow): Known {
  const at = Number(row["at"]);
  return {
    key: Number(row["key"]),
    slot: toSlot(at, Number(row["nth"])),
    at,
    sender: row["sender"] === null ? null : Number(row["sender"]),
    editedAt: row["edited_at"] === null ? null : Number(row["edited_at"]),
    kind: String(row["kind"]),
    content: String(row["content"]),
  };
}
