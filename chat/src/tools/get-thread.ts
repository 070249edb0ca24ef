// `get_thread`: a message with what it answers, what answers it, and the rest of its thread.

import { z } from "zod";
import { MessageShape } from "../shapes.ts";
import { AllowStale, Chat, Limit, Source, toJsonMessages, toText } from "./parameters.ts";
import { tool } from "./tool.ts";

const MAX_CONTENT = 10_000;

export const getThread = tool({
  name: "get_thread",
  title: "Get the thread of a message",
  description:
    "Gets one message with what it answers, the answers to it, and what else belongs to its thread, oldest first. Where there " +
    "is more than the limit, the nearest ones.",
  input: z.strictObject({
    source: Source,
    chat: Chat,
    message_id: z.string().min(1).describe("id of a message, from get_messages or search_messages"),
    limit: Limit,
    allow_stale: AllowStale,
  }),
  output: z.object({
    messages: z.array(MessageShape),
    complete: z.boolean().describe("false where the limit left some out"),
  }),
  run: ({ source, chat: name, message_id: id, limit, allow_stale: stale }, { app: { reader } }) => {
    reader.source(source, stale);
    const chat = reader.chat(source, name);
    const { messages, complete } = reader.thread(reader.message(chat, id), limit);
    const text = toText(reader, messages, { withChat: false, maxChars: MAX_CONTENT });
    return {
      structured: { messages: toJsonMessages(reader, messages, MAX_CONTENT), complete },
      text: `${text}${complete ? "" : "(there is more)"}`.trimEnd(),
    };
  },
});
