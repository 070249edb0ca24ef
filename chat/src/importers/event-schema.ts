// Schema of an event line: the JSONL format of Plugboard.

import { z } from "zod";
import { CHAT_TYPES, type SourceEvent } from "../model/source.ts";

const Id = z.string().min(1);
const Time = z.number().int();

const Attachment = z.object({
  kind: z.enum(["image", "video", "audio", "voice", "file", "sticker"]),
  name: z.string().exactOptional(),
  mime: z.string().exactOptional(),
  size: z.number().exactOptional(),
  durationS: z.number().exactOptional(),
  available: z.boolean(),
});

const Message = z.object({
  id: Id,
  chat: Id,
  sender: Id.exactOptional(),
  at: Time,
  editedAt: Time.exactOptional(),
  kind: z.enum(["text", "media", "sticker", "poll", "call", "location", "contact", "system", "unsupported"]),
  content: z.string(),
  replyTo: Id.exactOptional(),
  thread: Id.exactOptional(),
  forwardedFrom: z.string().exactOptional(),
  reactions: z
    .array(
      z.object({
        emoji: z.string(),
        by: Id.exactOptional(),
        at: Time.exactOptional(),
        count: z.number().int().exactOptional(),
      }),
    )
    .exactOptional(),
  attachments: z.array(Attachment).exactOptional(),
  expiresAt: Time.exactOptional(),
  numberedBy: Id.exactOptional(),
});

export const EventLine = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("chat"),
    chat: z.object({
      id: Id,
      name: z.string().exactOptional(),
      type: z.enum(CHAT_TYPES).exactOptional(),
      participantCount: z.number().int().exactOptional(),
      sameAs: z.array(Id).exactOptional(),
      counterpart: Id.exactOptional(),
    }),
  }),
  z.object({
    type: z.literal("person"),
    person: z.object({
      id: Id,
      name: z.string().exactOptional(),
      phone: z.string().exactOptional(),
      username: z.string().exactOptional(),
      isSelf: z.boolean().exactOptional(),
      isBot: z.boolean().exactOptional(),
      sameAs: z.array(Id).exactOptional(),
    }),
  }),
  z.object({ type: z.literal("message"), message: Message, origin: z.enum(["live", "backfill", "import"]) }),
  z.object({ type: z.literal("edit"), chat: Id, id: Id, content: z.string(), at: Time }),
  z.object({ type: z.literal("delete"), chat: Id, ids: z.array(Id), at: Time }),
  z.object({
    type: z.literal("reaction"),
    chat: Id,
    id: Id,
    by: Id,
    emoji: z.string(),
    removed: z.boolean(),
    at: Time,
  }),
  z.object({ type: z.literal("read"), chat: Id.exactOptional(), id: Id.exactOptional(), at: Time }),
  z.object({ type: z.literal("gap"), chat: Id.exactOptional(), from: Time, to: Time, reason: z.string() }),
]) satisfies z.ZodType<SourceEvent>;

/** The event, or the reason why the line is rejected. */
export function parseEventLine(line: string): SourceEvent | { readonly problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { problem: "not JSON" };
  }
  const parsed = EventLine.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  return { problem: `${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? "not an event"}` };
}
