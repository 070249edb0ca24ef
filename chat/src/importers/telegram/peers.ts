// Ids of people and chats in the form of the Bot API, so that an export and a bot agree. Ownership of chats and message numbers
// is in identity/telegram.ts.

import {
  ACCOUNT_NUMBERING,
  basicGroupId,
  botChatId,
  businessChatId,
  formerBasicGroupId,
} from "../../identity/telegram.ts";
import type { ChatType, NativeChat } from "../../model/source.ts";
import { idOf, textOf } from "../fields.ts";

/** Name used by the apps. */
export const DELETED_ACCOUNT = "Deleted Account";

interface Kind {
  readonly type: ChatType;
  readonly peer: "user" | "chat" | "channel";
  /** Default if the export has none. */
  readonly name?: string;
}

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["saved_messages", { type: "self", peer: "user", name: "Saved Messages" }],
  ["replies", { type: "bot", peer: "user", name: "Replies" }],
  ["verify_codes", { type: "bot", peer: "user", name: "Verification Codes" }],
  ["personal_chat", { type: "direct", peer: "user" }],
  ["bot_chat", { type: "bot", peer: "user" }],
  ["private_group", { type: "group", peer: "chat" }],
  ["private_supergroup", { type: "group", peer: "channel" }],
  ["public_supergroup", { type: "group", peer: "channel" }],
  ["private_channel", { type: "channel", peer: "channel" }],
  ["public_channel", { type: "channel", peer: "channel" }],
]);

export const CHAT_KINDS: readonly string[] = [...KINDS.keys()];

/** Fields of a chat; some may come after its messages. */
export interface ChatHead {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly type?: unknown;
}

export function toChat({ id, name, type }: ChatHead): NativeChat | undefined {
  const bare = idOf(id);
  if (bare === undefined) return undefined;
  const kind = KINDS.get(textOf(type) ?? "");
  if (kind === undefined) return { id: bare, ...named(textOf(name)) };
  const known = textOf(name) ?? kind.name ?? (name === null ? DELETED_ACCOUNT : undefined);
  return {
    id: peerId(`${kind.peer}${bare}`),
    type: kind.type,
    ...named(known),
    ...(kind.peer === "chat" && { sameAs: [formerBasicGroupId(bare)] }),
  };
}

/** Ids of the same chat in a bot or Business connection of the account's owner. */
export function sameChats({ id, type }: NativeChat, owner: string): readonly string[] {
  if (type === "direct") return [businessChatId(owner, id)];
  return type === "bot" ? [botChatId(id, owner)] : [];
}

/** Set for chats that a bot can be in, since bots number their messages differently. */
export function numberingOf({ type }: ChatHead): string | undefined {
  const kind = KINDS.get(textOf(type) ?? "");
  return kind?.peer === "chat" || kind?.type === "bot" ? ACCOUNT_NUMBERING : undefined;
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}

/** `user300` is 300, `chat7` is -7, `channel5` is -1005; exports of 2018 and 2019 gave bare numbers, of users. */
export function peerId(spelled: string): string {
  if (spelled.startsWith("user")) return spelled.slice("user".length);
  if (spelled.startsWith("channel")) return `-100${spelled.slice("channel".length)}`;
  if (spelled.startsWith("chat")) return basicGroupId(spelled.slice("chat".length));
  return spelled;
}
