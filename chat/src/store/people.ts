// Who is meant by a name, an address, a number or a username.

import type { StoredPerson, StoredSender } from "../query.ts";
import { keyOf, nameOf, number, text } from "./columns.ts";
import type { Database, SqlRow } from "./driver.ts";
import { fold, phoneDigits } from "./fold.ts";

/** The addresses of all who are called exactly so; where nobody is, of those whose name has these words. */
export function findSenders(db: Database, name: string): readonly number[] {
  const { folded, plain, digits } = forms(name);
  const exact = db.all(
    `SELECT key FROM address WHERE person IN (SELECT person FROM address
       WHERE folded_name = ?1 OR id = ?2 OR lower(id) = ?1 OR lower(username) = ?1 OR digits = ?3)`,
    folded,
    plain,
    digits,
  );
  if (exact.length > 0 || folded === "") return exact.map(keyOf);
  const partial = db.all(
    `SELECT key FROM address WHERE person IN
       (SELECT person FROM address WHERE instr(' ' || folded_name || ' ', ' ' || ? || ' ') > 0)`,
    folded,
  );
  return partial.map(keyOf);
}

/** Those whose name, username, number or address has this in it; the best known ones first. */
export function findPeople(db: Database, name: string, limit: number): readonly StoredPerson[] {
  const { folded, plain, digits } = forms(name);
  const people = db.all(
    `SELECT person, max(folded_name = ?1 OR lower(username) = ?1 OR id = ?2 OR digits = ?3) AS is_exact FROM address
     WHERE instr(folded_name, ?1) > 0 OR instr(lower(username), ?1) > 0 OR id = ?2 OR lower(id) = ?1 OR instr(digits, ?3) > 0
     GROUP BY person ORDER BY is_exact DESC,
       (SELECT sum(messages) FROM chat_sender WHERE address = person) DESC, person LIMIT ?4`,
    folded,
    plain,
    digits,
    limit,
  );
  return people.map((row) => readPerson(db, Number(row["person"])));
}

/** Who has written in a chat, most messages first; each human once. */
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
     FROM address a JOIN source x ON x.key = a.source WHERE a.person = ? ORDER BY a.key`,
    person,
  );
  return {
    name: text(rows[0] ?? {}, "name") ?? "",
    isSelf: rows.some((row) => number(row, "is_self") === 1),
    addresses: rows.map((row) => ({
      source: String(row["source"]),
      id: String(row["id"]),
      phone: text(row, "phone"),
      username: text(row, "username"),
    })),
  };
}

function forms(name: string): { folded: string; plain: string; digits: string | null } {
  const plain = name.trim();
  return { folded: fold(plain.replace(/^@/, "")), plain, digits: phoneDigits(plain) ?? null };
}
