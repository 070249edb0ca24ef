// What a filter means in this store: which keys, which words, which slots. How the matching messages are found is left to
// message-finder.ts.

import { invalid } from "../errors.ts";
import type { MessageFilter } from "../query.ts";
import { keyOf } from "./columns.ts";
import type { Database } from "./driver.ts";
import { fold } from "./fold.ts";
import { matchAll, matchScope, matchText } from "./match.ts";
import { findSenders } from "./people.ts";
import { FIRST_SLOT, LAST_SLOT, toSlot, toTime } from "./slot.ts";

/** More chats than this are looked at message by message; as terms of one search they would cost more. */
const MAX_CHAT_TERMS = 100;
const MAX_SEARCH_LENGTH = 1000;

export interface Criteria {
  /** What the index is asked for. */
  readonly match: string | undefined;
  /** The only chat; then the index need not be asked, unless there is something else to match. */
  readonly chat: number | undefined;
  /** Chats that are too many to be part of the match. */
  readonly chats: readonly number[] | undefined;
  /** What the text has to contain, folded. */
  readonly substring: string | undefined;
  readonly includeSystem: boolean;
  readonly first: bigint;
  readonly last: bigint;
}

/** Undefined where nothing can match. */
export function toCriteria(db: Database, filter: MessageFilter): Criteria | undefined {
  const { chats, since, before, includeSystem } = filter;
  const sources = findSources(db, filter.sources);
  const senders = filter.sender === undefined ? undefined : findSenders(db, filter.sender);
  if (sources?.length === 0 || senders?.length === 0 || chats?.length === 0) return undefined;
  const { words, substring } = parseSearch(filter);
  const isWordOrSender = words !== undefined || senders !== undefined;
  const [chat] = chats?.length === 1 && !isWordOrSender && sources === undefined ? chats : [];
  const hasTooMany = chats !== undefined && chats.length > MAX_CHAT_TERMS;
  const scope = matchScope({ sources, chats: chat !== undefined || hasTooMany ? undefined : chats, senders });
  return {
    match: matchAll(words, scope, includeSystem),
    chat,
    chats: hasTooMany ? chats : undefined,
    substring,
    includeSystem,
    first: since === undefined ? FIRST_SLOT : toSlot(toTime(Math.ceil(since)), 0),
    last: before === undefined ? LAST_SLOT : toSlot(toTime(Math.ceil(before)), 0) - 1n,
  };
}

function parseSearch({ search, mode = "words" }: MessageFilter): { words?: string; substring?: string } {
  if (search === undefined || search.trim() === "") return {};
  if (search.length > MAX_SEARCH_LENGTH)
    throw invalid("search", `A search has at most ${MAX_SEARCH_LENGTH} characters`);
  const words = mode === "substring" ? undefined : matchText(search, mode);
  // What has no words at all, such as `!!!`, can still be part of a text.
  return words === undefined ? { substring: fold(search.trim()) } : { words };
}

/** Undefined where all of them are meant: then there is nothing to look for. */
function findSources(db: Database, ids: readonly string[] | undefined): readonly number[] | undefined {
  if (ids === undefined) return undefined;
  const rows = db.all("SELECT key, id IN (SELECT value FROM json_each(?)) AS wanted FROM source", JSON.stringify(ids));
  const wanted = rows.filter((row) => row["wanted"] === 1);
  return wanted.length === rows.length && rows.length > 0 ? undefined : wanted.map(keyOf);
}
