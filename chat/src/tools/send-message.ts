// `send_message`: sends to a chat that the user has allowed, or asks the user for permission. Every message is logged first
// (sent-log.ts).

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { CHAT, SOURCE } from "../access/message-filters.ts";
import { sendNames } from "../access/chat-access.ts";
import { ChatError } from "../errors.ts";
import type { StoredChat, StoredMessage } from "../model/store-port.ts";
import type { Reader } from "../access/reader.ts";
import type { ConfiguredSource } from "../sources/sources.ts";
import type { ChatSource } from "../model/source.ts";
import { MessageId } from "./parameters.ts";
import { tool } from "./tool.ts";

export const sendMessage = tool({
  name: "send_message",
  title: "Send a message",
  description:
    "Sends a text to a chat, as the user. Only to chats that the user has allowed; for others the user is asked first, if so " +
    "configured, and sees the whole text. Give the chat's exact id or exact name. A message with the same idempotency_key is " +
    "sent only once.",
  input: z.strictObject({
    source: SOURCE,
    chat: CHAT.describe("exact id or exact name"),
    text: z.string().min(1).max(10_000),
    reply_to: MessageId.optional().describe("id of the message to reply to"),
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
    { source: named, chat: name, text, reply_to: replyTo, idempotency_key: given },
    { app: { reader, sent }, askUser },
  ) => {
    const { source, send } = reader.source(named);
    const { id } = source;
    if (send === undefined || source.send === undefined) throw notAllowed(`Source '${id}' is read-only`);
    const { chat, isAllowed } = findRecipient(reader, { id, source, send }, name);
    const replied = replyTo === undefined ? undefined : reader.message([chat], replyTo);
    const sending = { source: id, chat: chat.id, text, asked: !isAllowed };
    let key = given;
    if (!isAllowed && (key === undefined || (await sent.findSent({ ...sending, key })) === undefined)) {
      const answer = await askUser({
        message: question(reader, { chat, sourceName: source.name, text, replied }),
        subject: ["send_message", id, chat.id, text, replied?.id ?? null, given ?? null],
      });
      if (answer.status === "unable") throw cannotAsk(name);
      // The client may submit one answer twice; it must send only once.
      key ??= answer.question;
      if (answer.status !== "accept") {
        await sent.recordDeclined({ ...sending, key });
        throw new ChatError("SEND_NOT_ALLOWED", `The user was asked and did not allow it (${answer.status})`, {
          hint: "Nothing was sent. Send it again only if the user asks for it",
        });
      }
    }
    const { entry, repeated } = await sent.sendOnce(
      { ...sending, key: (key ??= randomUUID()) },
      () =>
        source.send?.({
          chat: chat.id,
          otherIds: chat.otherIds,
          text,
          idempotencyKey: key ?? "",
          ...(replied === undefined ? {} : { replyTo: replied.id }),
        }) ?? Promise.reject(notAllowed(`Source '${id}' is read-only`)),
    );
    const { presenter } = reader;
    const answer = {
      id: presenter.name(entry.id),
      chat_id: presenter.chatId(chat),
      chat_name: presenter.name(chat.name),
      timestamp: presenter.time(entry.at),
      repeated,
    };
    return { structured: answer, text: `Sent to ${answer.chat_name} at ${answer.timestamp} (message ${answer.id})` };
  },
});

/** The text comes last, so that it cannot imitate the lines above it. */
function question(
  reader: Reader,
  {
    chat,
    sourceName,
    text,
    replied,
  }: {
    readonly chat: StoredChat;
    readonly sourceName: string;
    readonly text: string;
    readonly replied: StoredMessage | undefined;
  },
): string {
  const { presenter } = reader;
  const quoted = replied === undefined ? undefined : presenter.name(replied.content.slice(0, QUOTED_CHARS));
  return [
    "Send this message in your name?",
    `Chat: ${presenter.name(chat.name)} (${chat.type}, id ${presenter.chatId(chat)})`,
    `Source: ${presenter.name(sourceName)} (${chat.source})`,
    ...(quoted === undefined ? [] : [`In reply to: ${presenter.name(replied?.sender?.name ?? "")}: ${quoted}`]),
    ...(INVISIBLE.test(text) ? ["Note: the text has invisible characters"] : []),
    "Text:",
    text,
  ].join("\n");
}

const QUOTED_CHARS = 100;
/** Except joiners, which are part of emoji and several scripts. */
const INVISIBLE = /(?![\n\r\t\u200C\u200D])[\p{Cf}\p{Cc}]/u;

interface Sending {
  readonly id: string;
  readonly source: ChatSource;
  readonly send: NonNullable<ConfiguredSource["send"]>;
}

/**
 * The one chat with this exact name or id that may be written to, perhaps after asking. A former name is not enough, since
 * others can rename a group. Of several private chats with one person it is the one that the source can write to.
 */
function findRecipient(
  reader: Reader,
  { id, source, send }: Sending,
  name: string,
): { readonly chat: StoredChat; readonly isAllowed: boolean } {
  const { presenter } = reader;
  const chats = reader.conversation(id, name);
  const exact = chats.filter((chat) => [...sendNames(chat), presenter.chatId(chat)].includes(name));
  if (exact.length === 0) {
    throw new ChatError("CHAT_NOT_FOUND", `Chat '${name}' not found in source '${id}'`, {
      field: "chat",
      hint: "To send, give the exact id or the exact name",
      candidates: chats.flatMap((chat) => [presenter.chatId(chat), chat.name]),
    });
  }
  const allowed = exact.filter((chat) => sendNames(chat).some((one) => send.chats.includes(one)));
  const isAllowed = allowed.length > 0;
  if (!isAllowed && send.others === "refuse") {
    throw notAllowed(`Sending to chat '${name}' is not allowed`);
  }
  const possible = isAllowed ? allowed : exact;
  const open = possible.filter((chat) => source.sendsTo?.(chat.id) ?? true);
  const [chat = possible[0], ...others] = open;
  if (chat !== undefined && others.length === 0) return { chat, isAllowed };
  throw new ChatError("AMBIGUOUS_CHAT", `'${name}' is the name of ${open.length} chats`, {
    field: "chat",
    hint: "To send, give the id of one of them",
    candidates: open.map((one) => `${presenter.chatId(one)} (${one.name})`),
  });
}

function cannotAsk(chat: string): ChatError {
  return new ChatError(
    "SEND_NOT_ALLOWED",
    `Sending to chat '${chat}' needs the user's consent, and this client cannot ask for it`,
    {
      hint: "Use a client with elicitation, or name the chat in chat.json: sources.<id>.send.chats",
    },
  );
}

function notAllowed(message: string): ChatError {
  return new ChatError("SEND_NOT_ALLOWED", message, {
    hint: 'The user can allow it in chat.json: sources.<id>.send.chats, or send.others: "ask" to be asked',
  });
}
