// `get_message_context`: the messages around one message.

import { z } from "zod";
import { ALLOW_STALE, CHAT, SOURCE } from "../access/message-filters.ts";
import { describeCoverage } from "../history/read-messages.ts";
import type { Range } from "../model/unfetched.ts";
import { MessageShape } from "../model/shapes.ts";
import { MessageId, PAGE, toAnswer, toJsonMessages } from "./parameters.ts";
import { fetchOptions, tool } from "./tool.ts";

const MAX_CONTENT = 10_000;

export const getMessageContext = tool({
  name: "get_message_context",
  title: "Get the messages around a message",
  description: "Gets one message with those before and after it in the same chat, oldest first.",
  input: z.strictObject({
    source: SOURCE,
    chat: CHAT,
    message_id: MessageId,
    before: z.int().min(0).max(100).default(10),
    after: z.int().min(0).max(100).default(10),
    allow_stale: ALLOW_STALE.default(false),
  }),
  output: z.object({ messages: z.array(MessageShape), coverage: PAGE.coverage }),
  run: async ({ source, chat: name, message_id: id, before, after, allow_stale: stale }, context) => {
    const { reader, history } = context.app;
    reader.source(source, stale);
    const chats = reader.conversation(source, name);
    const message = reader.message(chats, id);
    const chat = chats.find(({ key }) => key === message.chat.key) ?? chats[0];
    let messages = reader.around(message, before, after);
    const need = (): Range => {
      messages = reader.around(message, before, after);
      const older = messages.findIndex(({ key }) => key === message.key);
      const newer = messages.length - 1 - older;
      return {
        since: older < before ? reader.oldestShown : messages[0]?.at,
        before: newer < after ? undefined : (messages.at(-1)?.at ?? message.at) + 1,
      };
    };
    const coverage = describeCoverage(reader, await history.fill(chat, need, fetchOptions(context)));
    const text = toAnswer(reader, messages, { withChat: false, maxChars: MAX_CONTENT }).trimEnd();
    return {
      structured: {
        messages: toJsonMessages(reader, messages, MAX_CONTENT),
        ...(coverage === undefined ? {} : { coverage }),
      },
      text: coverage === undefined ? text : `${text}\n(${coverage})`,
    };
  },
});
