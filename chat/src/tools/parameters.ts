// Parameters that several tools take, and how a page of messages is answered.

import { z } from "zod";
import { toLines } from "../lines.ts";
import type { StoredMessage } from "../query.ts";
import type { MessageArgs, MessagePage, Reader } from "../reader.ts";
import { MessageShape, type MessageJson } from "../shapes.ts";
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET } from "../uris.ts";

const TIME = "ISO 8601, a date, a span back from now (30min, 24h, 7d, 2w, 3mo, 1y), today or yesterday";

export const Source = z.string().min(1).describe("id of a source, from list_sources");
export const Chat = z.string().min(1).describe("id or name of a chat, from list_chats");
export const Limit = z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT);
export const Cursor = z.string().min(1).describe("next_cursor of the page before; repeat the other parameters");
export const AllowStale = z
  .boolean()
  .default(false)
  .describe("answer from what is stored where the source is not connected");
export const MaxChars = z
  .int()
  .min(500)
  .max(1_000_000)
  .default(40_000)
  .describe("the answer is cut between messages when it gets longer; next_cursor gives the rest");

export const FILTERS = {
  since: z.string().optional().describe(`only messages from then on: ${TIME}`),
  before: z.string().optional().describe(`only messages before then: ${TIME}`),
  sender: z.string().min(1).optional().describe("only from this person: name, number, username or id"),
};

export const PAGE = {
  messages: z.array(MessageShape),
  next_cursor: z.string().optional().describe("there is more; absent on the last page"),
  not_connected: z
    .array(z.string())
    .optional()
    .describe("sources that are not connected: left out, or with allow_stale answered from what is stored"),
};

export const Offset = z
  .int()
  .min(0)
  .max(MAX_OFFSET)
  .optional()
  .describe("skip so many, counted from the newest; shifts while messages arrive, a cursor does not");

export interface PageRequest {
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly max_chars: number;
}

/** A page within its budget. */
export function readPage(reader: Reader, args: MessageArgs, { max_chars: chars, ...page }: PageRequest): MessagePage {
  const cost = (message: StoredMessage): number => JSON.stringify(reader.outgoing.message(message)).length;
  return reader.messages(args, { ...page, budget: { chars, cost } });
}

export function toJsonMessages(reader: Reader, messages: readonly StoredMessage[], maxChars: number): MessageJson[] {
  return messages.map((message) => {
    const json = reader.outgoing.message(message);
    if (json.content.length <= maxChars) return json;
    return { ...json, content: json.content.slice(0, maxChars), truncated: true };
  });
}

/** Oldest first, as a conversation is read. */
export function toText(
  reader: Reader,
  messages: readonly StoredMessage[],
  { withChat, maxChars }: { readonly withChat: boolean; readonly maxChars: number },
): string {
  const oldestFirst = messages.toSorted((a, b) => a.at - b.at || a.key - b.key);
  const lines = oldestFirst.map((message) => {
    const redacted = reader.outgoing.redacted(message);
    return redacted.content.length <= maxChars
      ? redacted
      : { ...redacted, content: `${redacted.content.slice(0, maxChars)} …` };
  });
  return toLines(lines, { zone: reader.outgoing.zone, withChat });
}

export function pageAnswer(
  reader: Reader,
  { messages, nextCursor, selection }: MessagePage,
  maxChars: number,
): { structured: z.input<z.ZodObject<typeof PAGE>>; text: string } {
  const { notConnected } = selection;
  const notes = [
    ...(messages.length === 0 ? ["(no messages)"] : []),
    ...(nextCursor === undefined ? [] : [`next_cursor: ${nextCursor}`]),
    ...(notConnected.length === 0 ? [] : [`not connected: ${notConnected.join(", ")}`]),
  ];
  return {
    structured: {
      messages: toJsonMessages(reader, messages, maxChars),
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
      ...(notConnected.length === 0 ? {} : { not_connected: [...notConnected] }),
    },
    text: `${toText(reader, messages, { withChat: selection.chat === undefined, maxChars })}${notes.join("\n")}`.trimEnd(),
  };
}
