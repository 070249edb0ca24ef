// Users and conversations of a Slack export, and the folder of each conversation.

import type { ChatType, NativeChat, NativePerson } from "../../model/source.ts";
import { type Fields, fieldsOf, idOf, listOf, textOf } from "../fields.ts";

export class Directory {
  readonly #names = new Map<string, string>();
  /** By message folder. */
  readonly #chats = new Map<string, NativeChat>();
  readonly #self: string | undefined;

  constructor(self: string | undefined) {
    this.#self = self;
  }

  addUsers(users: unknown): readonly NativePerson[] {
    return listOf(users).flatMap((user) => {
      const fields = fieldsOf(user);
      const id = idOf(fields?.["id"]);
      return fields === undefined || id === undefined ? [] : [this.#addUser(id, fields)];
    });
  }

  addChats(kind: ChatType, chats: unknown): readonly NativeChat[] {
    return listOf(chats).flatMap((chat) => {
      const fields = fieldsOf(chat);
      const id = idOf(fields?.["id"]);
      return fields === undefined || id === undefined ? [] : [this.#addChat(kind, id, fields)];
    });
  }

  /** Undefined for a folder that is in no list. */
  chat(folder: string): NativeChat | undefined {
    return this.#chats.get(folder);
  }

  nameOf(user: string): string {
    return this.#names.get(user) ?? user;
  }

  #addUser(id: string, fields: Fields): NativePerson {
    const profile = fieldsOf(fields["profile"]);
    const username = textOf(fields["name"]);
    const name =
      textOf(profile?.["display_name"]) ?? textOf(profile?.["real_name"]) ?? textOf(fields["real_name"]) ?? username;
    if (name !== undefined) this.#names.set(id, name);
    const isSelf = this.#self !== undefined && [name, username, id].includes(this.#self);
    const isBot = fields["is_bot"] === true;
    return {
      id,
      ...(name !== undefined && { name }),
      ...(username !== undefined && { username }),
      ...(isBot && { isBot }),
      ...(isSelf && { isSelf }),
    };
  }

  #addChat(type: ChatType, id: string, fields: Fields): NativeChat {
    const folder = textOf(fields["name"]) ?? id;
    const members = listOf(fields["members"]).flatMap((member) => textOf(member) ?? []);
    const others = members.map((member) => this.nameOf(member)).filter((member) => member !== this.#self);
    const name = type === "direct" ? others.join(", ") : folder;
    const chat: NativeChat = {
      id,
      type,
      ...(name !== "" && { name }),
      ...(members.length > 0 && { participantCount: members.length }),
    };
    this.#chats.set(folder, chat);
    return chat;
  }
}
