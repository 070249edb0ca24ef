// `search_messages`: words, phrases and parts of words across everything, with what was said around them.

import { z } from "zod";
import type { StoredMessage } from "../query.ts";
import { MessageShape } from "../shapes.ts";
import {
  AllowStale,
  Chat,
  Cursor,
  FILTERS,
  Limit,
  MaxChars,
  PAGE,
  pageAnswer,
  readPage,
  Source,
  toJsonMessages,
} from "./parameters.ts";
import { tool } from "./tool.ts";

const MAX_CONTEXT = 10;

export const searchMessages = tool({
  name: "search_messages",
  title: "Search messages",
  description:
    "Searches all sources at once, the newest hits first. mode: words (all of them, in any order), phrase (in this order), " +
    "prefix (words that begin so), substring (any part of a word, slower). context gives so many messages before and after " +
    'each hit. Example: {"query": "invoice", "since": "3mo", "context": 2}.',
  input: z.strictObject({
    query: z.string().min(1),
    mode: z.enum(["words", "phrase", "prefix", "substring"]).default("words"),
    source: Source.optional(),
    chat: Chat.optional(),
    ...FILTERS,
    context: z.int().min(0).max(MAX_CONTEXT).default(0),
    limit: Limit.default(20),
    cursor: Cursor.optional(),
    max_chars: MaxChars,
    allow_stale: AllowStale,
  }),
  output: z.object({
    ...PAGE,
    context: z
      .array(z.object({ message_id: z.string(), chat_id: z.string(), messages: z.array(MessageShape) }))
      .optional()
      .describe("what was said around each hit, oldest first, with the hit in it"),
    chats: z
      .array(z.object({ source: z.string(), chat_id: z.string(), chat_name: z.string(), hits: z.number().int() }))
      .describe("where the hits of this page are"),
  }),
  run: (args, { app: { reader } }) => {
    const { query: search, mode, source, chat, since, before, sender, context } = args;
    const filter = { source, chat, since, before, sender, search, mode, allowStale: args.allow_stale };
    // A hit with its neighbours takes more of the budget.
    const share = Math.max(500, Math.floor(args.max_chars / (1 + 2 * context)));
    const page = readPage(reader, filter, { ...args, max_chars: share });
    const { structured, text } = pageAnswer(reader, page, share);
    const around =
      context === 0 ? [] : page.messages.map((hit) => ({ hit, messages: reader.around(hit, context, context) }));
    return {
      structured: {
        ...structured,
        chats: countChats(page.messages).map(({ message, hits }) => ({
          source: message.source,
          chat_id: reader.outgoing.chatId(message.chat),
          chat_name: reader.outgoing.name(message.chat.name),
          hits,
        })),
        ...(context === 0
          ? {}
          : {
              context: around.map(({ hit, messages }) => ({
                message_id: reader.outgoing.messageId(hit),
                chat_id: reader.outgoing.chatId(hit.chat),
                messages: toJsonMessages(reader, messages, share),
              })),
            }),
      },
      text,
    };
  },
});

function countChats(messages: readonly StoredMessage[]): { message: StoredMessage; hits: number }[] {
  const counted = new Map<number, { message: StoredMessage; hits: number }>();
  for (const message of messages) {
    const known = counted.get(message.chat.key);
    if (known === undefined) counted.set(message.chat.key, { message, hits: 1 });
    else known.hits += 1;
  }
  return [...counted.values()];
}
