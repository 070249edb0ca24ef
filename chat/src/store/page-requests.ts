// Stores requests for pages of older messages, from processes that only read to the one that runs the sources.

import { z } from "zod";
import type { PageOutcome, PageRequest } from "../model/store-port.ts";
import { number } from "./read/columns.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";

/** Older requests were left behind by killed processes. */
const MAX_AGE_MS = 120_000;
const MAX_REQUESTS = 100;

const Outcome = z.discriminatedUnion("status", [
  z.object({ status: z.literal("fetched"), reachedAt: z.number().exactOptional() }),
  z.object({ status: z.literal("complete") }),
  z.object({ status: z.literal("failed"), message: z.string() }),
]);

export function addPageRequest(db: Database, { chat, since, before }: Omit<PageRequest, "key">, now: number): number {
  db.run("DELETE FROM page_request WHERE asked_at < ?", now - MAX_AGE_MS);
  db.run(
    "INSERT INTO page_request (chat, since_at, before_at, asked_at) VALUES (?, ?, ?, ?)",
    chat,
    since ?? null,
    before ?? null,
    now,
  );
  return Number(db.get("SELECT last_insert_rowid() AS key")?.["key"]);
}

/** Oldest first. */
export function openPageRequests(db: Database): readonly PageRequest[] {
  const rows = db.all("SELECT * FROM page_request WHERE outcome IS NULL ORDER BY key LIMIT ?", MAX_REQUESTS);
  return rows.map((row) => ({
    key: Number(row["key"]),
    chat: Number(row["chat"]),
    since: number(row, "since_at") ?? undefined,
    before: number(row, "before_at") ?? undefined,
  }));
}

export function answerPageRequest(db: Database, key: number, outcome: PageOutcome): void {
  db.run("UPDATE page_request SET outcome = ? WHERE key = ?", JSON.stringify(outcome), key);
}

/** Undefined until it is answered. */
export function pageRequestOutcome(db: Database, key: number): PageOutcome | undefined {
  const json = db.get("SELECT outcome FROM page_request WHERE key = ?", key)?.["outcome"];
  return typeof json === "string" ? Outcome.parse(JSON.parse(json)) : undefined;
}
