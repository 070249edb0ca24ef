// `get_thread`: a message with the message it replies to, its replies, and the rest of its thread.

import { z } from "zod";
import { ALLOW_STALE, CHAT, SOURCE } from "../access/message-filters.ts";
import { MessageShape } from "../model/shapes.ts";
import { Limit, MessageId, toAnswer, toJsonMessages } from "./parameters.ts";
import { tool } from "./tool.ts";

const MAX_CONTENT = 10_000;

export const getThread = tool({
  name: "get_thread",
  title: "Get the thread of a message",
  description:
    "Gets one message with the message it replies to, the replies to it, and the rest of its thread, oldest first. If there " +
    "are more than limit, it returns the nearest ones.",
  input: z.strictObject({
    source: SOURCE,
    chat: CHAT,
    message_id: MessageId,
    limit: Limit,
    allow_stale: ALLOW_STALE.default(false),
  }),
  output: z.object({
    messages: z.array(MessageShape),
    complete: z.boolean().describe("false if there are more than limit"),
  }),
  run: ({ source, chat: name, message_id: id, limit, allow_stale: stale }, { app: { reader } }) => {
    reader.source(source, stale);
    const message = reader.message(reader.conversation(source, name), id);
    const { messages, complete } = reader.thread(message, limit);
    const text = toAnswer(reader, messages, { withChat: false, maxChars: MAX_CONTENT });
    return {
      structured: { messages: toJsonMessages(reader, messages, MAX_CONTENT), complete },
      text: `${text}${complete ? "" : "(there is more)"}`.trimEnd(),
    };
  },
});
