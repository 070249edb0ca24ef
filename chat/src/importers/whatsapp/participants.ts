// Finds out the chat type, the name used for system messages, and the user's own name.

import type { ChatType } from "../../model/source.ts";
import { isSameName, type NamedChat } from "./chat-name.ts";
import type { FileAnalysis } from "./file-analysis.ts";

export interface Participants {
  readonly name: string;
  readonly isNameKnown: boolean;
  readonly type: ChatType;
  /** iOS writes system messages under the group's name. */
  readonly systemSender: string | undefined;
  readonly self: string | undefined;
}

export function participantsOf(
  { senders, first }: FileAnalysis,
  named: NamedChat,
  wishedSelf: string | undefined,
): Participants {
  const opening = senders.split(first);
  // On iOS the first line is a system message under the chat's name.
  const chatSender = opening.content.startsWith("\u200e") ? opening.sender : undefined;
  const isNameKnown = named.isFromApp || chatSender !== undefined;
  const name = named.isFromApp ? named.name : (chatSender ?? named.name);
  const systemCount = chatSender === undefined ? undefined : senders.systemMessageCount(chatSender);
  const everybody = senders.people();
  const people = everybody.filter((person) => person !== chatSender || systemCount === undefined);
  const other = people.find((person) => isSameName(person, name));
  const isGroup =
    people.length > 2 ||
    // One system message alone is the encryption notice of a direct chat.
    (systemCount !== undefined && (systemCount > 1 || people.length > 1)) ||
    (people.length === 2 && isNameKnown && other === undefined);
  return {
    name,
    isNameKnown,
    type: isGroup ? "group" : "direct",
    systemSender: systemCount === undefined ? undefined : chatSender,
    self: wishedSelf ?? (isGroup || other === undefined ? undefined : people.find((person) => person !== other)),
  };
}
