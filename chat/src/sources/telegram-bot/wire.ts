// Schemas of the Bot API. Fields that are not used are dropped.

import { z } from "zod";

const user = z.object({
  id: z.number(),
  is_bot: z.boolean().optional(),
  first_name: z.string().default(""),
  last_name: z.string().optional(),
  username: z.string().optional(),
});

const chat = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
});

const file = z.object({
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
  file_size: z.number().optional(),
  duration: z.number().optional(),
});

const origin = z.object({
  sender_user: user.optional(),
  sender_user_name: z.string().optional(),
  sender_chat: chat.optional(),
  chat: chat.optional(),
});

const location = z.object({ latitude: z.number(), longitude: z.number() });
const present = z.object({}).optional();

const message = z.object({
  message_id: z.number(),
  date: z.number(),
  edit_date: z.number().optional(),
  chat,
  from: user.optional(),
  sender_chat: chat.optional(),
  business_connection_id: z.string().optional(),
  message_thread_id: z.number().optional(),
  reply_to_message: z.object({ message_id: z.number() }).optional(),
  forward_origin: origin.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  photo: z.array(z.object({ file_size: z.number().optional() })).optional(),
  video: file.optional(),
  video_note: file.optional(),
  animation: file.optional(),
  audio: file.optional(),
  voice: file.optional(),
  document: file.optional(),
  sticker: z.object({ emoji: z.string().optional(), file_size: z.number().optional() }).optional(),
  poll: z.object({ question: z.string(), options: z.array(z.object({ text: z.string() })).default([]) }).optional(),
  location: location.optional(),
  venue: z.object({ title: z.string(), address: z.string().default(""), location }).optional(),
  contact: z
    .object({ phone_number: z.string(), first_name: z.string().default(""), last_name: z.string().optional() })
    .optional(),
  dice: z.object({ emoji: z.string(), value: z.number() }).optional(),
  new_chat_members: z.array(user).optional(),
  left_chat_member: user.optional(),
  new_chat_title: z.string().optional(),
  new_chat_photo: z.array(z.unknown()).optional(),
  delete_chat_photo: z.literal(true).optional(),
  group_chat_created: z.literal(true).optional(),
  supergroup_chat_created: z.literal(true).optional(),
  channel_chat_created: z.literal(true).optional(),
  migrate_to_chat_id: z.number().optional(),
  migrate_from_chat_id: z.number().optional(),
  pinned_message: present,
  forum_topic_created: z.object({ name: z.string() }).optional(),
  forum_topic_edited: present,
  forum_topic_closed: present,
  forum_topic_reopened: present,
  video_chat_started: present,
  video_chat_ended: present,
});

const reactionType = z.object({
  type: z.string(),
  emoji: z.string().optional(),
  custom_emoji_id: z.string().optional(),
});

const businessConnection = z.object({ id: z.string(), user, is_enabled: z.boolean().default(true) });

const update = z.object({
  update_id: z.number(),
  message: message.optional(),
  edited_message: message.optional(),
  channel_post: message.optional(),
  edited_channel_post: message.optional(),
  business_connection: businessConnection.optional(),
  business_message: message.optional(),
  edited_business_message: message.optional(),
  deleted_business_messages: z
    .object({ business_connection_id: z.string(), chat, message_ids: z.array(z.number()) })
    .optional(),
  message_reaction: z
    .object({
      chat,
      message_id: z.number(),
      user: user.optional(),
      actor_chat: chat.optional(),
      date: z.number(),
      old_reaction: z.array(reactionType),
      new_reaction: z.array(reactionType),
    })
    .optional(),
});

/** An unknown update is acknowledged too, so it needs an id. */
const anyUpdate = z.object({ update_id: z.number() });

const answer = z.union([
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({
    ok: z.literal(false),
    error_code: z.number(),
    description: z.string().default(""),
    parameters: z.object({ retry_after: z.number().optional() }).optional(),
  }),
]);

export type User = z.infer<typeof user>;
export type Chat = z.infer<typeof chat>;
export type Message = z.infer<typeof message>;
export type Update = z.infer<typeof update>;
export type MessageReaction = NonNullable<Update["message_reaction"]>;
export type ReactionType = z.infer<typeof reactionType>;
export type FileInfo = z.infer<typeof file>;

export const wire = {
  answer,
  anyUpdate,
  businessConnection,
  memberCount: z.int().nonnegative(),
  message,
  update,
  updates: z.array(z.unknown()),
  user,
};

/** Telegram sends reactions only if `message_reaction` is requested. */
export const ALLOWED_UPDATES = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "business_connection",
  "business_message",
  "edited_business_message",
  "deleted_business_messages",
  "message_reaction",
] as const;
