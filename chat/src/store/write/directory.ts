// Finds or creates the chats and people of one source by the network's ids. Its cache is valid for one transaction, since
// another process may change the rows.

import type { NativeChat, NativePerson } from "../../model/source.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";
import { fold, phoneDigits } from "../read/fold.ts";
import { addAlias, type Alias } from "./merge-chats.ts";
import { setPhoneNumber, propagateIsSelf } from "./phone-numbers.ts";

/** Former names of one chat. */
const MAX_NAMES = 50;

export class Directory {
  readonly #db: Database;
  readonly source: number;
  readonly #chats = new Map<string, number>();
  readonly #addresses = new Map<string, number>();

  constructor(db: Database, sourceId: string) {
    this.#db = db;
    db.run("INSERT INTO source (id) VALUES (?) ON CONFLICT DO NOTHING", sourceId);
    this.source = Number(db.get("SELECT key FROM source WHERE id = ?", sourceId)?.["key"]);
  }

  chat(id: string): number {
    const known = this.#chats.get(id) ?? this.#find("chat", id) ?? this.#findAlias(id);
    const key = known ?? this.#insertChat(id);
    this.#chats.set(id, key);
    return key;
  }

  address(id: string): number {
    const known = this.#addresses.get(id) ?? this.#find("address", id);
    const key = known ?? this.#insertAddress(id);
    this.#addresses.set(id, key);
    return key;
  }

  /**
   * Fields that are absent stay as they are; former names still find the chat. Returns the chats that are the same as this
   * one: the caller merges them.
   */
  updateChat({ id, name, type, participantCount, counterpart, sameAs = [] }: NativeChat): readonly number[] {
    const key = this.chat(id);
    const known = this.#db.get("SELECT id, name FROM chat WHERE key = ?", key);
    // Events under another id come from another account, such as a bot in the user's chat: they do not override name and type.
    const isOwnId = known?.["id"] === id;
    const knownName = typeof known?.["name"] === "string" ? known["name"] : undefined;
    const shown = isOwnId || knownName === undefined ? name : undefined;
    if (name && knownName !== undefined && name !== knownName) this.#addAlias(key, "name", isOwnId ? knownName : name);
    this.#db.run(
      `UPDATE chat SET name = coalesce(?, name), folded_name = coalesce(?, folded_name), type = coalesce(?, type),
         participant_count = coalesce(?, participant_count), counterpart = coalesce(?, counterpart) WHERE key = ?`,
      shown || null,
      shown ? fold(shown) : null,
      isOwnId ? (type ?? null) : null,
      participantCount ?? null,
      isOwnId && counterpart !== undefined ? this.address(counterpart) : null,
      key,
    );
    // The person's id finds the chat if no chat has that id. Hiding a person by id hides all private chats with them.
    if (isOwnId && counterpart !== undefined && counterpart !== id) this.#addAlias(key, "former_id", counterpart);
    return sameAs.flatMap((alias) => this.#link(key, alias));
  }

  #link(chat: number, alias: string): number[] {
    const other = this.#find("chat", alias);
    if (other === chat || (other === undefined && this.#findAlias(alias) !== undefined)) return [];
    this.#addAlias(chat, "id", alias);
    this.#chats.set(alias, chat);
    return other === undefined ? [] : [other];
  }

  #addAlias(chat: number, kind: Alias["kind"], value: string): void {
    const known = this.#db.get("SELECT count(*) AS count FROM chat_alias WHERE chat = ? AND kind = ?", chat, kind);
    if (kind === "name" && Number(known?.["count"]) >= MAX_NAMES) return;
    addAlias(this.#db, { source: this.source, kind, value, chat });
  }

  #findAlias(id: string): number | undefined {
    const sql = "SELECT chat FROM chat_alias WHERE source = ? AND kind = 'id' AND value = ?";
    const key = this.#db.get(sql, this.source, id)?.["chat"];
    return key === undefined ? undefined : Number(key);
  }

  updatePerson({ id, name, phone, username, isSelf, isBot, sameAs = [] }: NativePerson): void {
    const key = this.address(id);
    this.#db.run(
      `UPDATE address SET name = coalesce(?, name), folded_name = coalesce(?, folded_name), phone = coalesce(?, phone),
         digits = coalesce(?, digits), username = coalesce(?, username), folded_username = coalesce(?, folded_username),
         is_bot = coalesce(?, is_bot) WHERE key = ?`,
      name || null,
      name ? fold(name) : null,
      phone || null,
      phone ? (phoneDigits(phone) ?? null) : null,
      username || null,
      username ? fold(username) : null,
      isBot === undefined ? null : Number(isBot),
      key,
    );
    if (isSelf === true) this.#db.run("UPDATE address SET is_self = 1 WHERE key = ?", key);
    for (const other of sameAs) this.#merge(key, this.address(other));
    if (isSelf === true || sameAs.length > 0) propagateIsSelf(this.#db, this.#personOf(key) ?? key);
    if (phone) setPhoneNumber(this.#db, key, phone);
  }

  #merge(one: number, other: number): void {
    const [person = one, otherPerson = other] = [this.#personOf(one), this.#personOf(other)];
    if (person === otherPerson) return;
    const [kept, merged] = [Math.min(person, otherPerson), Math.max(person, otherPerson)];
    this.#db.run("UPDATE address SET person = ? WHERE person = ?", kept, merged);
  }

  #personOf(address: number): number | undefined {
    const person = this.#db.get("SELECT person FROM address WHERE key = ?", address)?.["person"];
    return person === undefined ? undefined : Number(person);
  }

  #find(table: "chat" | "address", id: string): number | undefined {
    const key = this.#db.get(`SELECT key FROM ${table} WHERE source = ? AND id = ?`, this.source, id)?.["key"];
    return key === undefined ? undefined : Number(key);
  }

  #insertChat(id: string): number {
    const insert = this.#db.prepare("INSERT INTO chat (source, id, folded_name, type) VALUES (?, ?, ?, 'direct')");
    return Number(insert.run(this.source, id, fold(id)).lastInsertRowid);
  }

  #insertAddress(id: string): number {
    const insert = this.#db.prepare(
      "INSERT INTO address (source, id, folded_id, person, digits) VALUES (?, ?, ?, 0, ?)",
    );
    const key = Number(insert.run(this.source, id, fold(id), phoneDigits(id) ?? null).lastInsertRowid);
    this.#db.run("UPDATE address SET person = key WHERE key = ?", key);
    if (id.startsWith("+")) setPhoneNumber(this.#db, key, id);
    return key;
  }
}
