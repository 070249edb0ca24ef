// `send_message`: writes to a chat that the user has named for it. What is sent is written down first-hand (sent-log.ts).

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ChatError } from "../errors.ts";
import type { StoredChat } from "../query.ts";
import type { Reader } from "../reader.ts";
import { Source } from "./parameters.ts";
import { tool } from "./tool.ts";

export const sendMessage = tool({
  name: "send_message",
  title: "Send a message",
  description:
    "Sends a text to a chat, as the user. Only chats that the user has allowed; the chat's exact id or exact name. Ask the " +
    "user before you send. The same idempotency_key is sent once, however often it is asked for.",
  input: z.strictObject({
    source: Source,
    chat: z.string().min(1).describe("exact id or exact name"),
    text: z.string().min(1).max(10_000),
    reply_to: z.string().min(1).optional().describe("id of the message that this answers"),
    idempotency_key: z.string().min(1).max(200).optional(),
  }),
  output: z.object({
    id: z.string(),
    chat_id: z.string(),
    chat_name: z.string(),
    timestamp: z.string(),
    repeated: z.boolean(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  run: async (
    { source: id, chat: name, text, reply_to: replyTo, idempotency_key: given },
    { app: { reader, sent } },
  ) => {
    const { source, sendTo } = reader.source(id);
    if (sendTo === undefined || source.send === undefined) throw notAllowed(`Source '${id}' is read-only`);
    const chat = exactChat(reader, id, name);
    if (!sendTo.some((allowed) => allowed === chat.id || allowed === chat.name)) {
      throw notAllowed(`Chat '${name}' is not among the chats that may be written to`);
    }
    const replied = replyTo === undefined ? undefined : reader.message(chat, replyTo);
    const key = given ?? randomUUID();
    const { entry, repeated } = await sent.once(
      { source: id, chat: chat.id, key, text },
      () =>
        source.send?.({
          chat: chat.id,
          text,
          idempotencyKey: key,
          ...(replied === undefined ? {} : { replyTo: replied.id }),
        }) ?? Promise.reject(notAllowed(`Source '${id}' is read-only`)),
    );
    const { outgoing } = reader;
    const answer = {
      id: outgoing.name(entry.id),
      chat_id: outgoing.chatId(chat),
      chat_name: outgoing.name(chat.name),
      timestamp: outgoing.time(entry.at),
      repeated,
    };
    return { structured: answer, text: `Sent to ${answer.chat_name} at ${answer.timestamp} (message ${answer.id})` };
  },
});

/** Names that differ by a letter are other people: what is only nearly right is refused. */
function exactChat(reader: Reader, source: string, name: string): StoredChat {
  const chat = reader.chat(source, name);
  if ([chat.id, chat.name, reader.outgoing.chatId(chat)].includes(name)) return chat;
  throw new ChatError("CHAT_NOT_FOUND", `Chat '${name}' not found in source '${source}'`, {
    field: "chat",
    hint: "To send, give the exact id or the exact name",
    candidates: [reader.outgoing.chatId(chat), chat.name],
  });
}

function notAllowed(message: string): ChatError {
  return new ChatError("SEND_NOT_ALLOWED", message, {
    hint: "The user allows it in chat.json: sources.<id>.send.chats",
  });
}
