// `search_messages`: words, phrases and parts of words in all sources, optionally with the messages around each hit.

import { z } from "zod";
import { MESSAGE_FILTERS, MODES } from "../access/message-filters.ts";
import type { Reader } from "../access/reader.ts";
import { SEARCH_MODES, type StoredMessage } from "../model/store-port.ts";
import { MessageShape } from "../model/shapes.ts";
import {
  Cursor,
  Limit,
  MaxChars,
  PAGE,
  pageAnswer,
  readPage,
  toAnswerLines,
  toJsonMessages,
  describeChats,
  withNotes,
} from "./parameters.ts";
import { tool } from "./tool.ts";

const MAX_CONTEXT = 10;

export const searchMessages = tool({
  name: "search_messages",
  title: "Search messages",
  description:
    "Searches all sources at once, newest hits first. mode words (the default), phrase and prefix use an index and are fast; " +
    "contains and substring also find parts of words, and may answer unfinished with a next_cursor. context is the number of " +
    "messages to show before and after each hit. Lines of the text are `[timestamp #id] chat › sender: content`; with context " +
    'a hit is marked by >. Example: {"query": "invoice", "since": "3mo", "context": 2}.',
  input: z.strictObject({
    query: z.string().min(1),
    ...z.object(MESSAGE_FILTERS).omit({ search: true }).shape,
    mode: z.enum(SEARCH_MODES).default("words").describe(MODES),
    context: z.int().min(0).max(MAX_CONTEXT).default(0),
    limit: Limit.default(20),
    cursor: Cursor.optional(),
    max_chars: MaxChars,
  }),
  output: z.object({
    ...PAGE,
    context: z
      .array(z.object({ message_id: z.string(), chat_id: z.string(), messages: z.array(MessageShape) }))
      .optional()
      .describe("the messages around each hit, oldest first, including the hit"),
    chats: z
      .array(z.object({ source: z.string(), chat_id: z.string(), chat_name: z.string(), hits: z.number().int() }))
      .describe("where the hits of this page are"),
  }),
  run: async ({ query: search, context, limit, cursor, max_chars: maxChars, ...filters }, toolContext) => {
    const { reader } = toolContext.app;
    // The messages around a hit count towards the size limit, too.
    const share = Math.max(500, Math.floor(maxChars / (1 + 2 * context)));
    const page = await readPage(toolContext, { ...filters, search }, { limit, cursor, maxChars: share });
    const { structured, text } = pageAnswer(reader, page, { maxChars: share, forPerson: toolContext.forPerson });
    const around =
      context === 0 ? [] : page.messages.map((hit) => ({ hit, messages: reader.around(hit, context, context) }));
    return {
      structured: {
        ...structured,
        chats: countChats(page.messages).map(({ message, hits }) => ({
          source: message.source,
          chat_id: reader.presenter.chatId(message.chat),
          chat_name: reader.presenter.name(message.chat.name),
          hits,
        })),
        ...(context === 0
          ? {}
          : {
              context: around.map(({ hit, messages }) => ({
                message_id: reader.presenter.messageId(hit),
                chat_id: reader.presenter.chatId(hit.chat),
                messages: toJsonMessages(reader, messages, share),
              })),
            }),
      },
      text: context === 0 ? text : withNotes(contextText(reader, around, share), page),
    };
  },
});

interface HitInContext {
  readonly hit: StoredMessage;
  readonly messages: readonly StoredMessage[];
}

/** One block for each hit, in the order of the structured part; oldest first within a block. */
function contextText(reader: Reader, around: readonly HitInContext[], maxChars: number): string {
  const blocks = around.map(({ hit, messages }) =>
    messages
      .map((message) => {
        const line = toAnswerLines(reader, [message], { withChat: true, maxChars });
        return message.key === hit.key ? `> ${line}` : line;
      })
      .join(""),
  );
  const hits = around.map(({ hit }) => hit);
  return `${blocks.map((block) => `${block}\n`).join("")}${describeChats(reader, hits)}`;
}

function countChats(messages: readonly StoredMessage[]): { message: StoredMessage; hits: number }[] {
  const counted = new Map<number, { message: StoredMessage; hits: number }>();
  for (const message of messages) {
    const known = counted.get(message.chat.key);
    if (known === undefined) counted.set(message.chat.key, { message, hits: 1 });
    else known.hits += 1;
  }
  return [...counted.values()];
}
