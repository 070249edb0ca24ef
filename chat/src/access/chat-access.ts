// What agents may do with a chat, as rules of its source in chat.json: nothing, read, or read and write. A change of one chat
// leaves the access of all others as it was, also where a rule names several of them.

import type { SourceEntry } from "../config/schema.ts";
import type { SourceInput } from "../config/file.ts";
import { fold, ruleNames, type NamedChat } from "./visibility.ts";

export const ACCESS_LEVELS = ["hidden", "readable", "writable"] as const;
export type AccessLevel = (typeof ACCESS_LEVELS)[number];

/** What `send.chats` can refer to. A former name is not enough, since others can rename a group. */
export const sendNames = ({ id, name, otherIds }: Omit<NamedChat, "source">): readonly string[] => [
  id,
  name,
  ...otherIds,
];

export interface AccessRules {
  readonly isShown: boolean;
  /** Whether the source can send at all. */
  readonly canSend: boolean;
  readonly send: SourceEntry["send"];
}

export function accessOf(chat: NamedChat, { isShown, canSend, send }: AccessRules): AccessLevel {
  if (!isShown) return "hidden";
  const isNamed = sendNames(chat).some((name) => send?.chats.includes(name));
  return canSend && isNamed ? "writable" : "readable";
}

/** `others`: the other chats of the source. */
export function withAccess(
  entry: SourceInput,
  level: AccessLevel,
  { chat, others }: { readonly chat: NamedChat; readonly others: readonly NamedChat[] },
): SourceInput {
  const { chats: { allow, hide = [] } = {}, send, ...rest } = entry;
  const isListed = (list: readonly string[]) => list.some((rule) => matchesRule(chat, rule));
  const hidden = level === "hidden";
  const newHide = hidden ? (isListed(hide) ? hide : [...hide, chat.id]) : without(hide, chat, others, matchesRule);
  const newAllow = allow === undefined || hidden || isListed(allow) ? allow : [...allow, chat.id];
  const readOnly = without(send?.chats ?? [], chat, others, matchesSend);
  const newSend = { ...send, chats: level === "writable" ? [...readOnly, chat.id] : readOnly };
  const chats = {
    ...(newAllow === undefined ? {} : { allow: newAllow }),
    ...(newHide.length === 0 ? {} : { hide: newHide }),
  };
  return {
    ...rest,
    ...(Object.keys(chats).length === 0 ? {} : { chats }),
    // A rule that allows nothing is not valid.
    ...(newSend.chats.length === 0 && newSend.others !== "ask" ? {} : { send: newSend }),
  };
}

type Matches = (chat: NamedChat, rule: string) => boolean;

const matchesRule: Matches = (chat, rule) => ruleNames(chat).includes(fold(rule));
const matchesSend: Matches = (chat, rule) => sendNames(chat).includes(rule);

/** Without the rules for the chat. Those that also mean other chats are replaced by the ids of these. */
function without(rules: readonly string[], chat: NamedChat, others: readonly NamedChat[], matches: Matches): string[] {
  const kept = rules.flatMap((rule) =>
    matches(chat, rule) ? others.filter((other) => matches(other, rule)).map(({ id }) => id) : [rule],
  );
  return [...new Set(kept)];
}
