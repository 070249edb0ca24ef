// Who is who in the chat: whether two talk or a group, which name is the app's own voice, and which the user's.

import type { ChatType } from "../../source.ts";
import { isSameName, type NamedChat } from "./chat-name.ts";
import type { Survey } from "./survey.ts";

export interface Roles {
  readonly name: string;
  readonly isNameTold: boolean;
  readonly type: ChatType;
  /** On iOS the app speaks under the group's name. */
  readonly voice: string | undefined;
  readonly self: string | undefined;
}

export function rolesOf({ senders, first }: Survey, named: NamedChat, wishedSelf: string | undefined): Roles {
  const opening = senders.split(first);
  // The first line of iOS is the app's, under the name of the chat.
  const chatSender = opening.content.startsWith("\u200e") ? opening.sender : undefined;
  const isNameTold = named.isTold || chatSender !== undefined;
  const name = named.isTold ? named.name : (chatSender ?? named.name);
  const spoken = chatSender === undefined ? undefined : senders.voice(chatSender);
  const everybody = senders.people();
  const people = everybody.filter((person) => person !== chatSender || spoken === undefined);
  const other = people.find((person) => isSameName(person, name));
  const isGroup =
    people.length > 2 ||
    // Only the notice of encryption is under the name of somebody who never wrote.
    (spoken !== undefined && (spoken > 1 || people.length > 1)) ||
    (people.length === 2 && isNameTold && other === undefined);
  return {
    name,
    isNameTold,
    type: isGroup ? "group" : "direct",
    voice: spoken === undefined ? undefined : chatSender,
    self: wishedSelf ?? (isGroup || other === undefined ? undefined : people.find((person) => person !== other)),
  };
}
