// One page of messages: applies the cursor of the previous page, and makes the one of the next.

import { noFieldsLeft } from "@plugboard/shared/fields";
import type { MessageFilter, MessageQuery, Page, StoredMessage } from "../../model/store-port.ts";
import { parseCursor, toCursor, type Position } from "./cursor.ts";
import type { Database } from "@plugboard/shared/sqlite/driver";
import { toCriteria, type Criteria } from "./message-filter.ts";
import { findMessages } from "./message-finder.ts";
import { readMessages } from "./message-reader.ts";
import { toTimeKey } from "./time-key.ts";

export function pageMessages(db: Database, query: MessageQuery): Page<StoredMessage> {
  const { order, limit, offset = 0, cursor, since, before, ...filter } = query;
  const fingerprint = fingerprintOf(order, filter);
  const { position, bounds } = parse(cursor, fingerprint, { since, before });
  const criteria = toCriteria(db, { ...filter, ...bounds });
  if (criteria === undefined) return { items: [] };
  const page = findMessages(db, startAfter(criteria, order, position), { order, limit, offset });
  const { nextFrom, offsetLeft } = page;
  const keys = page.found.map(({ key }) => key);
  const items = readMessages(db, keys);
  if (nextFrom === undefined) return { items };
  const nextCursor = toCursor(fingerprint, bounds, [nextFrom.at, nextFrom.nth]);
  return offsetLeft === 0 ? { items, nextCursor } : { items, nextCursor, offset: offsetLeft };
}

function parse(
  cursor: string | undefined,
  fingerprint: unknown,
  bounds: { since: number | undefined; before: number | undefined },
): { position?: Position; bounds: Pick<MessageFilter, "since" | "before"> } {
  const parsed = cursor === undefined ? { bounds } : parseCursor(cursor, fingerprint, bounds);
  const { since, before } = parsed.bounds;
  return {
    ...("position" in parsed ? { position: parsed.position } : {}),
    bounds: { ...(since === undefined ? {} : { since }), ...(before === undefined ? {} : { before }) },
  };
}

/** All that must stay the same from page to page. The times are compared separately, since relative ones move on. */
function fingerprintOf(order: string, filter: Omit<MessageFilter, "since" | "before">): unknown {
  const { sources, chats, sender, search, mode, includeSystem, ...rest } = filter;
  noFieldsLeft(rest);
  const sorted = [sources?.toSorted() ?? null, chats?.toSorted((a, b) => a - b) ?? null];
  return ["messages", order, ...sorted, sender ?? null, search ?? null, mode ?? "words", includeSystem];
}

function startAfter(criteria: Criteria, order: "desc" | "asc", position: Position | undefined): Criteria {
  if (position === undefined) return criteria;
  const [at, nth] = position;
  const timeKey = toTimeKey(at ?? 0, nth);
  return order === "desc" ? { ...criteria, last: timeKey - 1n } : { ...criteria, first: timeKey + 1n };
}
