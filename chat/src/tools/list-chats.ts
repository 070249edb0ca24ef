// `list_chats`: the chats of a source, most recent first.

import { z } from "zod";
import { ALLOW_STALE, SOURCE } from "../access/message-filters.ts";
import { ChatShape, type ChatJson } from "../model/shapes.ts";
import { CHAT_TYPES } from "../model/source.ts";
import { Cursor, Limit } from "./parameters.ts";
import { tool } from "./tool.ts";

/** The options of the command line are checked against this list. */
export const CHAT_FILTERS = {
  chat_type: z.enum(CHAT_TYPES).optional(),
  name_pattern: z
    .string()
    .min(1)
    .optional()
    .describe("part of the name; case and accents are ignored, * and ? are wildcards"),
  unread: z.boolean().optional().describe("true: with unread messages; false: without"),
  awaiting_reply: z.boolean().optional().describe("true: a reply of the user is awaited; false: it is not"),
  active_since: z.string().optional().describe("only chats with a message since this time, such as 7d or 2025-01-13"),
};

export const listChats = tool({
  name: "list_chats",
  title: "List chats",
  description:
    "Lists chats, most recent first, with their type, number of participants, unread messages and whether a reply is awaited, " +
    "as far as known. Give a source, or leave it out for all. Chats that need the user: " +
    '{"filter": {"awaiting_reply": true}} or {"filter": {"unread": true}}. ' +
    'Example: {"source": "telegram", "filter": {"chat_type": "group", "name_pattern": "fam"}}.',
  input: z.strictObject({
    source: SOURCE.optional(),
    filter: z.strictObject(CHAT_FILTERS).default({}),
    limit: Limit,
    cursor: Cursor.optional(),
    allow_stale: ALLOW_STALE.default(false),
  }),
  output: z.object({ chats: z.array(ChatShape), next_cursor: z.string().optional() }),
  run: ({ source, filter, limit, cursor, allow_stale: allowStale }, { app: { reader } }) => {
    const page = reader.chats({
      source,
      type: filter.chat_type,
      namePattern: filter.name_pattern,
      activeSince: filter.active_since,
      unread: filter.unread,
      awaitingReply: filter.awaiting_reply,
      limit,
      cursor,
      allowStale,
    });
    const chats = page.items.map((chat) => reader.describe(chat));
    const lines = chats.map((chat) => {
      const last = chat.last_message_at === null ? [] : [`last message ${chat.last_message_at}`];
      return `${chat.source}/${chat.id}: ${chat.name} (${[chat.type, ...describeState(chat), ...last].join(", ")})`;
    });
    if (page.nextCursor !== undefined) lines.push(`next_cursor: ${page.nextCursor}`);
    return {
      structured: { chats, ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }) },
      text: lines.length === 0 ? "(no chats)" : lines.join("\n"),
    };
  },
});

/** The known facts about a chat, a few words each. */
export function describeState({
  participant_count: people,
  participant_count_estimated: isEstimate,
  unread_count: unread,
  awaiting_reply: awaits,
}: ChatJson): string[] {
  return [
    ...(people === null ? [] : [isEstimate === true ? `${people} have written` : plural(people, "participant")]),
    ...(unread === null || unread === 0 ? [] : [`${unread} unread`]),
    ...(awaits === true ? ["awaiting reply"] : []),
  ];
}

function plural(count: number, word: string): string {
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}
