// Pages of messages, within what agents may see, a time limit and a size limit.

import { setImmediate as nextTurn } from "node:timers/promises";
import { invalid } from "../errors.ts";
import { decodeCursor, encodeCursor, type CursorState } from "../model/cursor.ts";
import type { StoredMessage } from "../model/store-port.ts";
import { cursorFingerprint, type MessageArgs } from "./message-filters.ts";
import { selectMessages, type Selection } from "./message-selection.ts";
import type { Reader } from "./reader.ts";

export interface PageArgs {
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly budget?: Budget | undefined;
  /** Ends a long search early. */
  readonly signal?: AbortSignal | undefined;
}

/** The size limit of an answer, and the size of a message. */
interface Budget {
  readonly chars: number;
  readonly cost: (message: StoredMessage) => number;
}

export interface MessagePage {
  readonly messages: readonly StoredMessage[];
  readonly nextCursor: string | undefined;
  /** The search ran out of time: there may be matches after the cursor, even if none was found so far. */
  readonly unfinished: boolean;
  readonly selection: Selection;
}

const MAX_CURSOR_AGE_MS = 24 * 3_600_000;

/**
 * A search for parts of words scans messages in steps, and yields to the event loop between them. It ends when the page is
 * full, nothing is left, or the time is over.
 */
export async function findMessages(
  reader: Reader,
  args: MessageArgs,
  { signal, ...page }: PageArgs,
): Promise<MessagePage> {
  const deadline = performance.now() + reader.searchMs;
  let { selection, ...found } = findStep(reader, args, page);
  const messages = [...found.messages];
  let { nextCursor } = found;
  while (nextCursor !== undefined && found.isShort) {
    if (performance.now() >= deadline || signal?.aborted === true) {
      return { messages, nextCursor, unfinished: true, selection };
    }
    await nextTurn();
    const { limit, budget, order } = page;
    const left = { limit: limit - messages.length, cursor: nextCursor, order, budget: shrink(budget, messages) };
    ({ selection, ...found } = findStep(reader, args, left));
    // Messages that exceed the budget begin the next page.
    if (messages.length > 0 && left.budget !== undefined && costOf(left.budget, found.messages) > left.budget.chars)
      break;
    messages.push(...found.messages);
    ({ nextCursor } = found);
  }
  return { messages, nextCursor, unfinished: false, selection };
}

/** As much of a page as the store returns in one call. */
function findStep(
  reader: Reader,
  args: MessageArgs,
  { limit, offset, cursor, order = "desc", budget }: PageArgs,
): Omit<MessagePage, "unfinished"> & { readonly isShort: boolean } {
  if (cursor !== undefined && offset !== undefined) {
    throw invalid(
      "offset",
      "'offset' and 'cursor' exclude each other",
      "Use the cursor: it is stable while messages arrive",
    );
  }
  const fingerprint = [...cursorFingerprint(args), order];
  const state = cursor === undefined ? undefined : decodeCursor(cursor, fingerprint);
  if (state !== undefined) refuseOldCursor(reader, state);
  const selection = selectMessages(reader, args, state);
  if (selection.filter === undefined) return { messages: [], nextCursor: undefined, isShort: false, selection };
  const query = {
    ...selection.filter,
    order,
    limit,
    offset: state?.offset ?? offset ?? 0,
    ...(state === undefined ? {} : { cursor: state.cursor }),
  };
  let page = reader.store.messages(query);
  const isShort = page.items.length < limit;
  const fitting = budget === undefined ? page.items.length : countFitting(page.items, budget);
  const isCut = fitting < page.items.length;
  // Query again with a smaller limit, for a cursor after the last message that fits.
  if (isCut) page = reader.store.messages({ ...query, limit: fitting });
  const { since, before } = selection.filter;
  const { newestChat } = selection;
  const nextCursor =
    page.nextCursor === undefined
      ? undefined
      : encodeCursor({ cursor: page.nextCursor, since, before, newestChat, offset: page.offset ?? 0 }, fingerprint);
  return { messages: page.items, nextCursor, isShort: isShort && !isCut, selection };
}

/** A cursor contains its own `since`, which must not be older than what is shown by now. */
function refuseOldCursor({ oldestShown }: Reader, { since }: CursorState): void {
  if (oldestShown === undefined || (since !== undefined && since >= oldestShown - MAX_CURSOR_AGE_MS)) return;
  throw invalid("cursor", "The cursor has expired", "Begin with the first page again");
}

/** At least one: a message that is too long by itself is truncated where it is presented. */
function countFitting(messages: readonly StoredMessage[], { chars, cost }: Budget): number {
  let used = 0;
  for (const [index, message] of messages.entries()) {
    used += cost(message);
    if (used > chars) return Math.max(1, index);
  }
  return messages.length;
}

function costOf({ cost }: Budget, messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, message) => sum + cost(message), 0);
}

/** The budget that the messages leave. */
function shrink(budget: Budget | undefined, messages: readonly StoredMessage[]): Budget | undefined {
  return budget === undefined ? undefined : { ...budget, chars: budget.chars - costOf(budget, messages) };
}
