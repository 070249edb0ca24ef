// What agents get: chats, messages, people and sources as JSON. The schemas are the tools' own output schemas.

import { z } from "zod";
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
  live: z.boolean().describe("whether new messages arrive by themselves; otherwise it holds what was imported"),
  history: z.enum(["full", "window", "from_link", "snapshot", "none"]),
  tells: z
    .array(z.enum(CHANGES))
    .describe("changes of messages that are known; of others a message is as it was when it was stored"),
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
  participant_count: z.number().int().nullable(),
  message_count: z.number().int(),
  oldest_message_at: Timestamp.nullable().describe("history before this is not stored"),
  last_message_at: Timestamp.nullable(),
});

export const MessageShape = z.object({
  id: z.string(),
  source: z.string(),
  chat_id: z.string(),
  chat_name: z.string(),
  sender: z.string().nullable().describe("null for what the network itself says"),
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
        available: z.boolean(),
      }),
    )
    .optional(),
  truncated: z.boolean().optional().describe("true where the content was too long for max_chars"),
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
