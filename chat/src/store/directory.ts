// The chats and people of one source, found or made by the network's ids. It lives for one commit: another process may
// change what it has looked up.

import type { NativeChat, NativePerson } from "../source.ts";
import type { Database } from "./driver.ts";
import { fold, phoneDigits } from "./fold.ts";

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
    const known = this.#chats.get(id) ?? this.#find("chat", id);
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

  /** What is not told stays as it is. */
  updateChat({ id, name, type, participantCount }: NativeChat): void {
    this.#db.run(
      `UPDATE chat SET name = coalesce(?, name), folded_name = coalesce(?, folded_name), type = coalesce(?, type),
         participant_count = coalesce(?, participant_count) WHERE key = ?`,
      name || null,
      name ? fold(name) : null,
      type ?? null,
      participantCount ?? null,
      this.chat(id),
    );
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
    if (isSelf === true || sameAs.length > 0) this.#shareSelf(key);
  }

  #merge(one: number, other: number): void {
    const [person = one, otherPerson = other] = [this.#personOf(one), this.#personOf(other)];
    if (person === otherPerson) return;
    const [kept, given] = [Math.min(person, otherPerson), Math.max(person, otherPerson)];
    this.#db.run("UPDATE address SET person = ? WHERE person = ?", kept, given);
  }

  /** Whoever is the user under one address is so under all. */
  #shareSelf(address: number): void {
    const person = this.#personOf(address) ?? address;
    this.#db.run(
      `UPDATE address SET is_self = 1 WHERE person = ?1
         AND EXISTS (SELECT 1 FROM address WHERE person = ?1 AND is_self = 1)`,
      person,
    );
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
    return key;
  }
}
