// Parameters that several tools share, and the result for a page of messages.

import { z } from "zod";
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET, type MessageArgs } from "../access/message-filters.ts";
import type { PageArgs } from "../access/message-pages.ts";
import type { Reader } from "../access/reader.ts";
import { readMessages, type CoveredPage } from "../history/read-messages.ts";
import { toLines } from "../model/lines.ts";
import { MessageShape, type MessageJson } from "../model/shapes.ts";
import type { StoredMessage } from "../model/store-port.ts";
import { fetchOptions, type ToolContext } from "./tool.ts";

export const MessageId = z
  .union([z.string().min(1), z.int()])
  .transform(String)
  .describe("id of a message, from get_messages or search_messages");
export const Limit = z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT);
export const Cursor = z.string().min(1).describe("next_cursor of the previous page; repeat the other parameters");
export const MaxChars = z
  .int()
  .min(500)
  .max(1_000_000)
  .default(40_000)
  .describe("a longer answer is cut between messages; next_cursor gives the rest");
export const Offset = z
  .int()
  .min(0)
  .max(MAX_OFFSET)
  .optional()
  .describe("number of messages to skip, counted from the newest; shifts while messages arrive, a cursor does not");

export const PAGE = {
  messages: z.array(MessageShape),
  next_cursor: z.string().optional().describe("there is more; absent on the last page"),
  unfinished: z
    .literal(true)
    .optional()
    .describe("the search ran out of time: there may be matches after next_cursor, even if messages is empty"),
  not_connected: z
    .array(z.string())
    .optional()
    .describe("sources that are not connected: left out, or with allow_stale answered from stored messages"),
  coverage: z.string().optional().describe("what this answer may lack, and why: older messages that were not fetched"),
};

/** A page within its size limit; older messages that are missing for it are fetched. */
export function readPage(
  context: ToolContext,
  args: MessageArgs,
  { maxChars, ...page }: Omit<PageArgs, "budget" | "signal"> & { readonly maxChars: number },
): Promise<CoveredPage> {
  const { app } = context;
  const cost = (message: StoredMessage): number => JSON.stringify(app.reader.presenter.message(message)).length;
  return readMessages(app, args, { ...page, budget: { chars: maxChars, cost } }, fetchOptions(context));
}

export function toJsonMessages(reader: Reader, messages: readonly StoredMessage[], maxChars: number): MessageJson[] {
  return messages.map((message) => {
    const json = reader.presenter.message(message);
    if (json.content.length <= maxChars) return json;
    return { ...json, content: json.content.slice(0, maxChars), truncated: true };
  });
}

interface TextOptions {
  readonly withChat: boolean;
  readonly maxChars: number;
}

/** Oldest first, for people to read: `[timestamp] sender: content`. */
export function toConversation(reader: Reader, messages: readonly StoredMessage[], options: TextOptions): string {
  const oldestFirst = messages.toSorted((a, b) => a.at - b.at || a.key - b.key);
  return toText(reader, oldestFirst, { ...options, withIds: false });
}

/** In the order of the structured part, with the ids that the next call needs: `[timestamp #id] sender: content`. */
export function toAnswer(reader: Reader, messages: readonly StoredMessage[], options: TextOptions): string {
  const text = toAnswerLines(reader, messages, options);
  return options.withChat ? `${text}${describeChats(reader, messages)}` : text;
}

export function toAnswerLines(reader: Reader, messages: readonly StoredMessage[], options: TextOptions): string {
  return toText(reader, messages, { ...options, withIds: true });
}

function toText(
  reader: Reader,
  messages: readonly StoredMessage[],
  { withChat, maxChars, withIds }: TextOptions & { readonly withIds: boolean },
): string {
  const shown = messages.map((message) => {
    const redacted = reader.presenter.redact(message);
    return redacted.content.length <= maxChars
      ? redacted
      : { ...redacted, content: `${redacted.content.slice(0, maxChars)} …` };
  });
  return toLines(shown, { zone: reader.presenter.zone, withChat, withIds });
}

/** Source and id of each chat, since the lines have only its name, which several chats may share. */
export function describeChats({ presenter }: Reader, messages: readonly StoredMessage[]): string {
  if (messages.length === 0) return "";
  const chats = new Map(messages.map(({ chat, source }) => [chat.key, { ...chat, source }]));
  const named = [...chats.values()].map(
    (chat) => `${presenter.name(chat.name)} (source ${chat.source}, id ${presenter.chatId(chat)})`,
  );
  return `chats: ${named.join("; ")}\n`;
}

type PageJson = z.input<z.ZodObject<typeof PAGE>>;

export function pageAnswer(
  reader: Reader,
  page: CoveredPage,
  { maxChars, forPerson = false }: { readonly maxChars: number; readonly forPerson?: boolean | undefined },
): { structured: PageJson; text: string } {
  const { messages, nextCursor, unfinished, selection, coverage } = page;
  const { notConnected } = selection;
  const write = forPerson ? toConversation : toAnswer;
  return {
    structured: {
      messages: toJsonMessages(reader, messages, maxChars),
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
      ...(unfinished ? { unfinished } : {}),
      ...(notConnected.length === 0 ? {} : { not_connected: [...notConnected] }),
      ...(coverage === undefined ? {} : { coverage }),
    },
    text: withNotes(write(reader, messages, { withChat: selection.chat === undefined, maxChars }), page),
  };
}

/** Adds the notes about a page. */
export function withNotes(
  text: string,
  { messages, nextCursor, unfinished, selection, coverage }: CoveredPage,
): string {
  const { notConnected } = selection;
  const notes = [
    ...(messages.length === 0 && !unfinished ? ["(no messages)"] : []),
    ...(unfinished
      ? [
          `The search is not finished: ${messages.length === 0 ? "nothing was found so far, but " : ""}there may be more ` +
            "matches. Call again with the same parameters and this cursor.",
        ]
      : []),
    ...(nextCursor === undefined ? [] : [`next_cursor: ${nextCursor}`]),
    ...(notConnected.length === 0 ? [] : [`not connected: ${notConnected.join(", ")}`]),
    ...(coverage === undefined ? [] : [`(${coverage})`]),
  ];
  return `${text}${notes.join("\n")}`.trimEnd();
}
