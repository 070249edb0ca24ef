// Finds people by name, address, number or username.

import type { StoredPerson, StoredSender } from "../../model/store-port.ts";
import { keyOf, nameOf, number, text } from "./columns.ts";
import type { Database, SqlRow } from "@plugboard/shared/sqlite/driver";
import { fold, phoneDigits } from "./fold.ts";

/** The addresses of people with exactly this name; if there is none, of those whose name contains these words. */
export function findSenders(db: Database, name: string): readonly number[] {
  const { folded, digits, address } = forms(name);
  if (folded === "") return [];
  const exact = db.all(
    `SELECT key FROM address WHERE person IN (SELECT person FROM address
       WHERE folded_name = ?1 OR folded_id = ?3 OR folded_username = ?1 OR digits = ?2)`,
    folded,
    digits,
    address,
  );
  if (exact.length > 0) return exact.map(keyOf);
  const partial = db.all(
    `SELECT key FROM address WHERE person IN
       (SELECT person FROM address WHERE instr(' ' || folded_name || ' ', ' ' || ? || ' ') > 0)`,
    folded,
  );
  return partial.map(keyOf);
}

/** People whose name, username or number contains the text, or whose address it is; exact matches first. */
export function findPeople(db: Database, name: string, limit: number): readonly StoredPerson[] {
  const { folded, digits, address } = forms(name);
  const people = db.all(
    `SELECT person, max(coalesce(folded_name = ?1, 0) OR coalesce(folded_username = ?1, 0) OR folded_id = ?3) AS is_exact
     FROM address
     WHERE instr(folded_name, ?1) > 0 OR instr(folded_username, ?1) > 0 OR folded_id = ?3 OR instr(digits, ?2) > 0
     GROUP BY person ORDER BY is_exact DESC, person LIMIT ?4`,
    folded,
    digits,
    address,
    limit,
  );
  return people.map((row) => readPerson(db, Number(row["person"])));
}

/** The people who have written in a chat, most messages first. */
export function findParticipants(db: Database, chat: number, limit: number): readonly StoredSender[] {
  const rows = db.all(
    `SELECT a.id, ${nameOf("a")} AS name, a.is_self, a.is_bot, sum(s.messages) AS messages
     FROM chat_sender s JOIN address a ON a.key = s.address WHERE s.chat = ?
     GROUP BY a.person ORDER BY messages DESC, a.key LIMIT ?`,
    chat,
    limit,
  );
  return rows.map(toSender);
}

export function toSender(row: SqlRow): StoredSender {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    isSelf: row["is_self"] === 1,
    isBot: row["is_bot"] === 1,
  };
}

function readPerson(db: Database, person: number): StoredPerson {
  const rows = db.all(
    `SELECT a.id, ${nameOf("a")} AS name, a.phone, a.username, a.is_self, x.id AS source
     FROM address a JOIN source x ON x.key = a.source WHERE a.person = ? ORDER BY a.name IS NULL, a.key`,
    person,
  );
  return {
    name: text(rows[0] ?? {}, "name") ?? "",
    isSelf: rows.some((row) => number(row, "is_self") === 1),
    addresses: rows.map((row) => ({
      source: String(row["source"]),
      id: String(row["id"]),
      name: String(row["name"]),
      phone: text(row, "phone"),
      username: text(row, "username"),
    })),
  };
}

/** A username may be written with an @; Matrix addresses begin with one. */
function forms(name: string): { folded: string; digits: string | null; address: string } {
  const address = fold(name.trim());
  return { folded: address.replace(/^@/, ""), digits: phoneDigits(address) ?? null, address };
}
