// The query plans of SQLite for queries that must be fast in a large store.

import { afterEach, beforeEach, expect, it } from "vitest";
import { message, person } from "../../../../test/support/chat/events.ts";
import type { MessageFilter } from "../../model/store-port.ts";
import { openStoreFile } from "../database.ts";
import { MEMORY, type Database } from "@plugboard/shared/sqlite/driver";
import { applyEvents } from "../write/apply.ts";
import { toCriteria } from "./message-filter.ts";
import { afterQuery } from "./message-finder.ts";

let db: Database;

beforeEach(async () => {
  db = await openStoreFile(MEMORY);
  applyEvents(db, "telegram", [person({ id: "u", name: "Ann" }), message({ id: "1", sender: "u" })]);
  applyEvents(db, "signal", [message({ id: "1", sender: "u" })]);
});

afterEach(() => db.close());

it.each<Partial<MessageFilter>>([
  {},
  { chats: [1] },
  { chats: [1], since: 1000, before: 2000 },
  { chats: [1, 2] },
  { chats: Array.from({ length: 200 }, (_, key) => key) },
  { sources: ["telegram"] },
  { sender: "Ann" },
  { search: "word" },
  { chats: [1], search: "part", mode: "contains" },
])("CH-10 messages stored after a key, with %j, are read in the order of keys without sorting", (filter) => {
  const criteria = toCriteria(db, { includeSystem: false, ...filter });
  if (criteria === undefined) throw new Error("the filter matches nothing");
  const { sql, values } = afterQuery(criteria);
  const plan = db.all(`EXPLAIN QUERY PLAN ${sql}`, 0, ...values, 10).map((row) => String(row["detail"]));
  expect(plan[0]).toBe("SEARCH m USING INTEGER PRIMARY KEY (rowid>?)");
  expect(plan.join("\n")).not.toContain("TEMP B-TREE");
});
