// A page of messages: the filter, where the page before ended, and where the next one begins.

import type { MessageFilter, MessageQuery, Page, StoredMessage } from "../query.ts";
import { parseCursor, toCursor, type Position } from "./cursor.ts";
import type { Database } from "./driver.ts";
import { toCriteria, type Criteria } from "./message-filter.ts";
import { findMessages } from "./message-finder.ts";
import { readMessages } from "./message-reader.ts";
import { toSlot } from "./slot.ts";

export function pageMessages(db: Database, query: MessageQuery): Page<StoredMessage> {
  const { order, limit, offset = 0, cursor, since, before, ...filter } = query;
  const question = toQuestion(order, filter);
  const { position, bounds } = parse(cursor, question, { since, before });
  const criteria = toCriteria(db, { ...filter, ...bounds });
  if (criteria === undefined) return { items: [] };
  const { found, end } = findMessages(db, beyond(criteria, order, position), { order, limit, offset });
  const keys = found.map(({ key }) => key);
  const items = readMessages(db, keys);
  return end === undefined ? { items } : { items, nextCursor: toCursor(question, bounds, [end.at, end.nth]) };
}

function parse(
  cursor: string | undefined,
  question: unknown,
  bounds: { since: number | undefined; before: number | undefined },
): { position?: Position; bounds: Pick<MessageFilter, "since" | "before"> } {
  const parsed = cursor === undefined ? { bounds } : parseCursor(cursor, question, bounds);
  const { since, before } = parsed.bounds;
  return {
    ...("position" in parsed ? { position: parsed.position } : {}),
    bounds: { ...(since === undefined ? {} : { since }), ...(before === undefined ? {} : { before }) },
  };
}

/** All that must be the same on every page; the times are compared apart. */
function toQuestion(order: string, { sources, chats, sender, search, mode, includeSystem }: MessageFilter): unknown {
  const sorted = [sources?.toSorted() ?? null, chats?.toSorted((a, b) => a - b) ?? null];
  return ["messages", order, ...sorted, sender ?? null, search ?? null, mode ?? "words", includeSystem];
}

function beyond(criteria: Criteria, order: "desc" | "asc", position: Position | undefined): Criteria {
  if (position === undefined) return criteria;
  const [at, nth] = position;
  const slot = toSlot(at ?? 0, nth);
  return order === "desc" ? { ...criteria, last: slot - 1n } : { ...criteria, first: slot + 1n };
}
