// Chats, messages, people and sources as agents get them, in JSON. The schemas are the tools' output schemas.

import { z } from "zod";
import { MAX_UNREAD } from "./store-port.ts";
import { CHANGES, CHAT_TYPES } from "./source.ts";

const Timestamp = z.string().describe("ISO 8601");

export const SourceShape = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  is_connected: z.boolean(),
  status: z.enum(["connected", "connecting", "disconnected", "needs_auth", "error"]),
  message: z.string().optional().describe("why it is not connected"),
  how_to_connect: z.string().optional(),
  live: z.boolean().describe("whether new messages arrive by themselves; false: it holds imported messages"),
  history: z.enum(["full", "window", "from_link", "snapshot", "none"]),
  changes: z.array(z.enum(CHANGES)).describe("changes of messages that the source reports; others are not noticed"),
  can_send: z.boolean(),
  chat_count: z.number().int(),
  message_count: z.number().int(),
  oldest: Timestamp.nullable(),
  newest: Timestamp.nullable(),
  gaps: z
    .array(z.object({ from: Timestamp, to: Timestamp, reason: z.string() }))
    .optional()
    .describe("messages of these times may be missing"),
});

export const ChatShape = z.object({
  id: z.string(),
  source: z.string(),
  name: z.string(),
  type: z.enum(CHAT_TYPES),
  participant_count: z
    .number()
    .int()
    .nullable()
    .describe("members; 2 for a direct chat; if participant_count_estimated is true, the people who have written"),
  participant_count_estimated: z.literal(true).optional(),
  message_count: z.number().int(),
  oldest_message_at: Timestamp.nullable().describe("history before this is not stored"),
  last_message_at: Timestamp.nullable(),
  unread_count: z
    .number()
    .int()
    .nullable()
    .describe(
      `messages of others that the user has not read, ${MAX_UNREAD} at most; null if the source does not report it`,
    ),
  awaiting_reply: z
    .boolean()
    .nullable()
    .describe(
      "true if the last message of a direct chat is not the user's, or if since the user's last message in a group someone " +
        "replied to or mentioned the user; null if it is not known who the user is",
    ),
});

export const MessageShape = z.object({
  id: z.string(),
  source: z.string(),
  chat_id: z.string(),
  chat_name: z.string(),
  sender: z.string().nullable().describe("null for messages of the network itself"),
  sender_id: z.string().optional(),
  is_self: z.boolean().optional().describe("true for the user's own messages"),
  content: z.string(),
  timestamp: Timestamp,
  kind: z.string().optional().describe("absent for text"),
  edited_at: Timestamp.optional(),
  reply_to: z.object({ id: z.string(), sender: z.string().optional(), preview: z.string().optional() }).optional(),
  thread_id: z.string().optional(),
  forwarded_from: z.string().optional(),
  reactions: z
    .array(z.object({ emoji: z.string(), count: z.number().int(), by: z.array(z.string()).optional() }))
    .optional(),
  attachments: z
    .array(
      z.object({
        kind: z.string(),
        name: z.string().optional(),
        mime: z.string().optional(),
        size: z.number().optional(),
        duration_s: z.number().optional(),
        available: z.boolean().describe("whether get_attachment can read it"),
      }),
    )
    .optional(),
  truncated: z.boolean().optional().describe("true if the content was too long for max_chars"),
});

export const PersonShape = z.object({
  name: z.string(),
  is_self: z.boolean(),
  addresses: z.array(
    z.object({ source: z.string(), id: z.string(), phone: z.string().optional(), username: z.string().optional() }),
  ),
});

export type SourceJson = z.infer<typeof SourceShape>;
export type ChatJson = z.infer<typeof ChatShape>;
export type MessageJson = z.infer<typeof MessageShape>;
export type PersonJson = z.infer<typeof PersonShape>;
