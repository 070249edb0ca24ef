// Merges people by phone number: the same number in two sources is one person. Only complete international numbers count. A
// number that two people of one source have is ambiguous and merges no contacts.

import { keyOf } from "../read/columns.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";
import { internationalNumber } from "../read/fold.ts";

/** Stores an address's number, and merges its person with those of other sources who have the same. */
export function setPhoneNumber(db: Database, address: number, phone: string): void {
  const e164 = internationalNumber(phone);
  if (e164 === undefined) return;
  const sql = "UPDATE address SET e164 = ?1 WHERE key = ?2 AND e164 IS NOT ?1";
  if (db.run(sql, e164, address) > 0) mergePeopleByNumber(db, e164);
}

function mergePeopleByNumber(db: Database, e164: string): void {
  const people = db.all("SELECT DISTINCT source, person FROM address WHERE e164 = ? ORDER BY person", e164);
  if (new Set(people.map(({ source }) => source)).size < people.length) return;
  const [first, ...others] = people.map(({ person }) => Number(person));
  if (first === undefined) return;
  for (const other of others) {
    if (other !== first) db.run("UPDATE address SET person = ? WHERE person = ?", first, other);
  }
  propagateIsSelf(db, first);
}

/** If one address of a person is the user, all of them are. */
export function propagateIsSelf(db: Database, person: number): void {
  db.run(
    `UPDATE address SET is_self = 1 WHERE person = ?1
       AND EXISTS (SELECT 1 FROM address WHERE person = ?1 AND is_self = 1)`,
    person,
  );
}

/** A repair of stored rows: fills in the column of numbers. */
export function setStoredPhoneNumbers(db: Database): void {
  for (const row of db.all(
    "SELECT key, coalesce(phone, id) AS phone FROM address WHERE phone IS NOT NULL OR id GLOB '+*'",
  )) {
    setPhoneNumber(db, keyOf(row), String(row["phone"]));
  }
}
