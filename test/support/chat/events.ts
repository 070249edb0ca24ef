// Builders of events for tests.

import type {
  MessageOrigin,
  NativeChat,
  NativeMessage,
  NativePerson,
  SourceEvent,
} from "../../../chat/src/model/source.ts";

type MessageParts = Partial<NativeMessage> & Pick<NativeMessage, "id">;

export const chat = (parts: NativeChat): SourceEvent => ({ type: "chat", chat: parts });

export const person = (parts: NativePerson): SourceEvent => ({ type: "person", person: parts });

export function message(parts: MessageParts, origin: MessageOrigin = "import"): SourceEvent {
  return { type: "message", origin, message: { chat: "1", at: 1000, kind: "text", content: "", ...parts } };
}
