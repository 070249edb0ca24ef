// Translates a filter into the terms of this store: keys, an FTS expression, a range of time keys. message-finder.ts runs it.

import { invalid } from "../../errors.ts";
import { noFieldsLeft } from "@plugboard/shared/fields";
import type { MessageFilter } from "../../model/store-port.ts";
import { keyOf } from "./columns.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";
import { matchAll, matchScope, matchText } from "./fts-query.ts";
import { findSenders } from "./people.ts";
import { toPlainText } from "./search-text.ts";
import { trimEnd } from "@plugboard/shared/trim";
import { clampTime, FIRST_TIME_KEY, LAST_TIME_KEY, toTimeKey } from "./time-key.ts";

/** Above this number chats are compared message by message, which is cheaper than that many terms in one FTS query. */
const MAX_CHAT_TERMS = 100;
const MAX_SEARCH_LENGTH = 1000;

export interface Criteria {
  /** The FTS expression. */
  readonly match: string | undefined;
  /** Set if there is only one chat and nothing to match: the table's own index is enough. */
  readonly chat: number | undefined;
  /** Set if there are too many chats for `match`. */
  readonly chats: readonly number[] | undefined;
  /** Texts that the content must contain, all of them, normalized by toPlainText(). */
  readonly parts: readonly string[] | undefined;
  readonly includeSystem: boolean;
  /** Range of time keys, both inclusive. */
  readonly first: bigint;
  readonly last: bigint;
}

/** Undefined if nothing can match. */
export function toCriteria(db: Database, filter: MessageFilter): Criteria | undefined {
  const { sources: sourceIds, chats, since, before, sender, search, mode, includeSystem, ...rest } = filter;
  noFieldsLeft(rest);
  const sources = findSources(db, sourceIds);
  const senders = sender === undefined ? undefined : findSenders(db, sender);
  if (sources?.length === 0 || senders?.length === 0 || chats?.length === 0) return undefined;
  const { words, parts } = parseSearch(search, mode);
  const isWordOrSender = words !== undefined || senders !== undefined;
  const [chat] = chats?.length === 1 && !isWordOrSender && sources === undefined ? chats : [];
  const hasTooMany = chats !== undefined && chats.length > MAX_CHAT_TERMS;
  const scope = matchScope({ sources, chats: chat !== undefined || hasTooMany ? undefined : chats, senders });
  return {
    match: matchAll(words, scope, includeSystem),
    chat,
    chats: hasTooMany ? chats : undefined,
    parts,
    includeSystem,
    first: since === undefined ? FIRST_TIME_KEY : toTimeKey(clampTime(Math.ceil(since)), 0),
    last: before === undefined ? LAST_TIME_KEY : toTimeKey(clampTime(Math.ceil(before)), 0) - 1n,
  };
}

function parseSearch(
  search: string | undefined,
  mode: MessageFilter["mode"] = "words",
): { words?: string; parts?: readonly string[] } {
  if (search === undefined || search.trim() === "") return {};
  if (search.length > MAX_SEARCH_LENGTH)
    throw invalid("search", `A search has at most ${MAX_SEARCH_LENGTH} characters`);
  if (mode === "contains") {
    const parts = search
      .split(/\s+/u)
      .map(toPart)
      .filter((part) => part !== "");
    return parts.length === 0 ? {} : { parts: [...new Set(parts)] };
  }
  const words = mode === "substring" ? undefined : matchText(search, mode);
  // Text without any word, such as `!!!`, is not in the index but can be part of a message.
  return words === undefined ? { parts: [toPlainText(search.trim())] } : { words };
}

/** Strips surrounding punctuation unless nothing else is left: `"plan",` means plan, but `C++` keeps its signs. */
function toPart(word: string): string {
  const plain = toPlainText(word);
  return trimEnd(plain.replace(/^["'([{«¿¡]+/u, ""), "\"')]}».,;:!?") || plain;
}

/** Undefined if the ids are those of all sources: then there is nothing to filter by. */
function findSources(db: Database, ids: readonly string[] | undefined): readonly number[] | undefined {
  if (ids === undefined) return undefined;
  const rows = db.all("SELECT key, id IN (SELECT value FROM json_each(?)) AS wanted FROM source", JSON.stringify(ids));
  const wanted = rows.filter((row) => row["wanted"] === 1);
  return wanted.length === rows.length && rows.length > 0 ? undefined : wanted.map(keyOf);
}
