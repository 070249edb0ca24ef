// Who and where, in Telegram's ids. They are spelled as the Bot API spells them, so that an export and a bot mean the same
// people and channels; but not a basic group's, whose messages are numbered for each account by itself.

import type { ChatType, NativeChat } from "../../source.ts";
import { idOf, textOf } from "../fields.ts";

/** As the apps call them. */
export const DELETED_ACCOUNT = "Deleted Account";

interface Kind {
  readonly type: ChatType;
  readonly peer: "user" | "chat" | "channel";
  /** Where the export gives none. */
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

/** What is known of a chat when its messages begin, and more when they end. */
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
  return { id: peerId(`${kind.peer}${bare}`), type: kind.type, ...named(known) };
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}

/** `user300` is 300, `channel5` is -1005; exports of 2018 and 2019 gave bare numbers, of users. */
export function peerId(spelled: string): string {
  if (spelled.startsWith("user")) return spelled.slice("user".length);
  if (spelled.startsWith("channel")) return `-100${spelled.slice("channel".length)}`;
  return spelled;
}
