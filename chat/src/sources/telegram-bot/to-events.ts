// Converts updates of the Bot API to events. Pure: owners of Business connections are looked up beforehand.

import { botChatId, botMessageId, botNumbering, businessChatId } from "../../identity/telegram.ts";
import type {
  AttachmentKind,
  ChatType,
  MessageKind,
  NativeAttachment,
  NativeMessage,
  SourceEvent,
} from "../../model/source.ts";
import type { Chat, FileInfo, Message, MessageReaction, ReactionType, Update, User } from "./wire.ts";

export interface UpdateContext {
  /** Id of the bot, which has its own message numbers in private chats and basic groups. */
  readonly bot: string;
  /** Id of the user who owns the Business connection. */
  readonly ownerOf: (connection: string) => string | undefined;
  readonly now: number;
}

export function toEvents(update: Update, context: UpdateContext): SourceEvent[] {
  const message = update.message ?? update.channel_post ?? update.business_message;
  if (message !== undefined) return newMessage(message, context);
  const edited = update.edited_message ?? update.edited_channel_post ?? update.edited_business_message;
  if (edited !== undefined) return editedMessage(edited, context);
  if (update.message_reaction !== undefined) return reactions(update.message_reaction, context);
  const deleted = update.deleted_business_messages;
  if (deleted !== undefined) {
    const chat = chatId(deleted.chat, deleted.business_connection_id, context);
    return [{ type: "delete", chat, ids: deleted.message_ids.map(String), at: context.now }];
  }
  return [];
}

export const businessConnectionOf = (update: Update): string | undefined =>
  (update.business_message ?? update.edited_business_message)?.business_connection_id ??
  update.deleted_business_messages?.business_connection_id;

function newMessage(message: Message, context: UpdateContext): SourceEvent[] {
  return [
    ...contextEvents(message, context),
    { type: "message", message: toMessage(message, context), origin: "live" },
  ];
}

/** The original may predate the bot, so the message is emitted too, with an origin that is not announced as new. */
function editedMessage(message: Message, context: UpdateContext): SourceEvent[] {
  const native = toMessage(message, context);
  const at = (message.edit_date ?? message.date) * 1000;
  return [
    ...contextEvents(message, context),
    { type: "message", message: { ...native, editedAt: at }, origin: "backfill" },
    { type: "edit", chat: native.chat, id: native.id, content: native.content, at },
  ];
}

/** Chat and person events of a message. */
function contextEvents(message: Message, context: UpdateContext): SourceEvent[] {
  const { chat, from, sender_chat: senderChat, business_connection_id: connection } = message;
  const owner = connection === undefined ? undefined : context.ownerOf(connection);
  const events: SourceEvent[] = [
    {
      type: "chat",
      chat: {
        id: chatId(chat, connection, context),
        name: chatName(chat),
        type: chatType(chat),
        ...(chat.type === "private" ? { counterpart: String(chat.id) } : {}),
      },
    },
  ];
  if (senderChat !== undefined) {
    events.push({ type: "person", person: { id: String(senderChat.id), name: chatName(senderChat) } });
  } else if (from !== undefined) events.push(personEvent(from, owner));
  return events;
}

export function personEvent(user: User, self?: string): SourceEvent {
  const id = String(user.id);
  return {
    type: "person",
    person: {
      id,
      name: userName(user),
      ...(user.username === undefined ? {} : { username: user.username }),
      ...(user.is_bot === true ? { isBot: true } : {}),
      ...(id === self ? { isSelf: true } : {}),
    },
  };
}

export function toMessage(message: Message, context: UpdateContext): NativeMessage {
  const sender = message.sender_chat ?? message.from;
  const { kind, content, attachments } = contentOf(message);
  const forwardedFrom = forwardName(message);
  const { business_connection_id: connection } = message;
  const numberOf = (id: number): string => messageId(id, message.chat, connection, context);
  return {
    id: numberOf(message.message_id),
    chat: chatId(message.chat, connection, context),
    at: message.date * 1000,
    kind,
    content,
    ...(sender === undefined || kind === "system" ? {} : { sender: String(sender.id) }),
    ...(message.reply_to_message === undefined ? {} : { replyTo: numberOf(message.reply_to_message.message_id) }),
    ...(message.message_thread_id === undefined ? {} : { thread: numberOf(message.message_thread_id) }),
    ...(forwardedFrom === undefined ? {} : { forwardedFrom }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(isNumberedByBot(message.chat, connection) ? { numberedBy: botNumbering(context.bot) } : {}),
  };
}

/** The Bot API uses the person's id for private chats with the bot and with Business accounts alike. */
function chatId(chat: Chat, connection: string | undefined, { bot, ownerOf }: UpdateContext): string {
  const id = String(chat.id);
  if (connection !== undefined) return businessChatId(ownerOf(connection) ?? connection, id);
  return chat.type === "private" ? botChatId(bot, id) : id;
}

function messageId(id: number, chat: Chat, connection: string | undefined, { bot }: UpdateContext): string {
  return isNumberedByBot(chat, connection) ? botMessageId(bot, id) : String(id);
}

const isNumberedByBot = ({ type }: Chat, connection: string | undefined): boolean =>
  connection === undefined && (type === "private" || type === "group");

function chatType({ type }: Chat): ChatType {
  if (type === "private") return "direct";
  return type === "channel" ? "channel" : "group";
}

const chatName = ({ id, title, first_name: first, last_name: last, username }: Chat): string =>
  title ?? (fullName(first, last) || username) ?? String(id);

const userName = ({ id, first_name: first, last_name: last, username }: User): string =>
  fullName(first, last) || (username ?? String(id));

const fullName = (first = "", last = ""): string => `${first} ${last}`.trim();

interface Substance {
  readonly kind: MessageKind;
  readonly content: string;
  readonly attachments: readonly NativeAttachment[];
}

const FILES: readonly [
  keyof Message & ("video" | "video_note" | "animation" | "audio" | "voice" | "document"),
  AttachmentKind,
][] = [
  // An animation also has a document with the same bytes, for old clients.
  ["animation", "video"],
  ["video", "video"],
  ["video_note", "video"],
  ["audio", "audio"],
  ["voice", "voice"],
  ["document", "file"],
];

function contentOf(message: Message): Substance {
  const text = message.text ?? message.caption ?? "";
  const attachment = attachmentOf(message);
  if (attachment !== undefined) {
    return {
      kind: attachment.kind === "sticker" ? "sticker" : "media",
      content: text || (message.sticker?.emoji ?? ""),
      attachments: [attachment],
    };
  }
  const [kind, content] = wordsOf(message, text);
  return { kind, content, attachments: [] };
}

function attachmentOf(message: Message): NativeAttachment | undefined {
  if (message.photo !== undefined) return { kind: "image", available: false, ...sizeOf(message.photo.at(-1) ?? {}) };
  if (message.sticker !== undefined) return { kind: "sticker", available: false, ...sizeOf(message.sticker) };
  for (const [field, kind] of FILES) {
    const file = message[field];
    if (file !== undefined) return { kind, available: false, ...fileFacts(file) };
  }
  return undefined;
}

const fileFacts = (file: FileInfo): Omit<NativeAttachment, "kind" | "available"> => ({
  ...(file.file_name === undefined ? {} : { name: file.file_name }),
  ...(file.mime_type === undefined ? {} : { mime: file.mime_type }),
  ...(file.duration === undefined ? {} : { durationS: file.duration }),
  ...sizeOf(file),
});

const sizeOf = (file: { file_size?: number | undefined }): { size?: number } =>
  file.file_size === undefined ? {} : { size: file.file_size };

/** Kind and text of content without a file. */
function wordsOf(message: Message, text: string): [MessageKind, string] {
  const { poll, venue, location, contact, dice } = message;
  if (poll !== undefined)
    return ["poll", [poll.question, ...poll.options.map((option) => `- ${option.text}`)].join("\n")];
  if (venue !== undefined) return ["location", `${venue.title}, ${venue.address} (${coordinates(venue.location)})`];
  if (location !== undefined) return ["location", coordinates(location)];
  if (contact !== undefined)
    return ["contact", `${fullName(contact.first_name, contact.last_name)} ${contact.phone_number}`.trim()];
  if (dice !== undefined) return ["text", `${dice.emoji} ${dice.value}`];
  if (text !== "") return ["text", text];
  const service = serviceText(message);
  return service === undefined ? ["unsupported", ""] : ["system", service];
}

const coordinates = (location: { latitude: number; longitude: number }): string =>
  `${location.latitude}, ${location.longitude}`;

function serviceText(message: Message): string | undefined {
  const who = message.from === undefined ? chatName(message.sender_chat ?? message.chat) : userName(message.from);
  if (message.new_chat_members !== undefined) return `${message.new_chat_members.map(userName).join(", ")} joined`;
  if (message.left_chat_member !== undefined) return `${userName(message.left_chat_member)} left`;
  if (message.new_chat_title !== undefined) return `${who} named the chat «${message.new_chat_title}»`;
  if (message.new_chat_photo !== undefined) return `${who} changed the chat's photo`;
  if (message.delete_chat_photo !== undefined) return `${who} removed the chat's photo`;
  if (message.group_chat_created ?? message.supergroup_chat_created ?? message.channel_chat_created)
    return `${who} created the chat`;
  if (message.migrate_to_chat_id !== undefined) return `The group was migrated to ${message.migrate_to_chat_id}`;
  if (message.migrate_from_chat_id !== undefined) return `The group was migrated from ${message.migrate_from_chat_id}`;
  if (message.pinned_message !== undefined) return `${who} pinned a message`;
  if (message.forum_topic_created !== undefined) return `${who} opened the topic «${message.forum_topic_created.name}»`;
  if (message.forum_topic_edited !== undefined) return `${who} changed the topic`;
  if (message.forum_topic_closed !== undefined) return `${who} closed the topic`;
  if (message.forum_topic_reopened !== undefined) return `${who} opened the topic again`;
  if (message.video_chat_started !== undefined) return "A video chat began";
  if (message.video_chat_ended !== undefined) return "A video chat ended";
  return undefined;
}

function forwardName({ forward_origin: origin }: Message): string | undefined {
  if (origin === undefined) return undefined;
  if (origin.sender_user !== undefined) return userName(origin.sender_user);
  const chat = origin.sender_chat ?? origin.chat;
  return chat === undefined ? origin.sender_user_name : chatName(chat);
}

/** Telegram sends the old and the new reactions; events contain the difference. */
function reactions(update: MessageReaction, context: UpdateContext): SourceEvent[] {
  const { user, actor_chat: actorChat } = update;
  const actor = user ?? actorChat;
  if (actor === undefined) return [];
  const before = new Set(update.old_reaction.map(emojiOf));
  const after = new Set(update.new_reaction.map(emojiOf));
  const common = {
    type: "reaction",
    chat: chatId(update.chat, undefined, context),
    id: messageId(update.message_id, update.chat, undefined, context),
    by: String(actor.id),
    at: update.date * 1000,
  } as const;
  return [
    ...(user === undefined ? [] : [personEvent(user)]),
    ...[...before].filter((emoji) => !after.has(emoji)).map((emoji) => ({ ...common, emoji, removed: true })),
    ...[...after].filter((emoji) => !before.has(emoji)).map((emoji) => ({ ...common, emoji, removed: false })),
  ];
}

function emojiOf({ type, emoji, custom_emoji_id: custom }: ReactionType): string {
  if (emoji !== undefined) return emoji;
  return custom === undefined ? (type === "paid" ? "⭐" : type) : `custom:${custom}`;
}
