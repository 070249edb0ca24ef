// `get_message_context`: what was said around one message.

import { z } from "zod";
import { MessageShape } from "../shapes.ts";
import { AllowStale, Chat, Source, toJsonMessages, toText } from "./parameters.ts";
import { tool } from "./tool.ts";

const MAX_CONTENT = 10_000;

export const getMessageContext = tool({
  name: "get_message_context",
  title: "Get what was said around a message",
  description: "Gets one message and so many before and after it in the same chat, oldest first.",
  input: z.strictObject({
    source: Source,
    chat: Chat,
    message_id: z.string().min(1).describe("id of a message, from get_messages or search_messages"),
    before: z.int().min(0).max(100).default(10),
    after: z.int().min(0).max(100).default(10),
    allow_stale: AllowStale,
  }),
  output: z.object({ messages: z.array(MessageShape) }),
  run: ({ source, chat: name, message_id: id, before, after, allow_stale: stale }, { app: { reader } }) => {
    reader.source(source, stale);
    const chat = reader.chat(source, name);
    const messages = reader.around(reader.message(chat, id), before, after);
    return {
      structured: { messages: toJsonMessages(reader, messages, MAX_CONTENT) },
      text: toText(reader, messages, { withChat: false, maxChars: MAX_CONTENT }).trimEnd(),
    };
  },
});
