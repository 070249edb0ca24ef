// `list_chats`: the chats of a source, the most recent first.

import { z } from "zod";
import { ChatShape } from "../shapes.ts";
import { CHAT_TYPES } from "../source.ts";
import { AllowStale, Cursor, Limit, Source } from "./parameters.ts";
import { tool } from "./tool.ts";

export const listChats = tool({
  name: "list_chats",
  title: "List chats",
  description:
    "Lists chats, the most recent first, with their type and number of participants. Give a source, or leave it out for all. " +
    'Example: {"source": "telegram", "filter": {"chat_type": "group", "name_pattern": "fam"}}.',
  input: z.strictObject({
    source: Source.optional(),
    filter: z
      .strictObject({
        chat_type: z.enum(CHAT_TYPES).optional(),
        name_pattern: z
          .string()
          .min(1)
          .optional()
          .describe("part of the name; case and accents do not count, * and ? are wildcards"),
        active_since: z.string().optional().describe("with a message since then: a time such as 7d or 2025-01-13"),
      })
      .default({}),
    limit: Limit,
    cursor: Cursor.optional(),
    allow_stale: AllowStale,
  }),
  output: z.object({ chats: z.array(ChatShape), next_cursor: z.string().optional() }),
  run: ({ source, filter, limit, cursor, allow_stale: allowStale }, { app: { reader } }) => {
    const page = reader.chats({
      source,
      type: filter.chat_type,
      namePattern: filter.name_pattern,
      activeSince: filter.active_since,
      limit,
      cursor,
      allowStale,
    });
    const chats = page.items.map((chat) => reader.outgoing.chat(chat));
    const lines = chats.map(
      ({ id, source: of, name, type, participant_count: people, last_message_at: last }) =>
        `${of}/${id}: ${name} (${type}${people === null ? "" : `, ${people} participants`}${last === null ? "" : `, last message ${last}`})`,
    );
    if (page.nextCursor !== undefined) lines.push(`next_cursor: ${page.nextCursor}`);
    return {
      structured: { chats, ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }) },
      text: lines.length === 0 ? "(no chats)" : lines.join("\n"),
    };
  },
});
