// Resolves the numbers that the export uses for people, groups and chats.

import type { NativeChat, NativePerson, SourceEvent } from "../../model/source.ts";
import { type Fields, fieldsOf, idOf, listOf, textOf } from "../fields.ts";
import { formerGroupIdOf, groupIdOf } from "../../identity/signal.ts";
import { uuidOf } from "./ids.ts";

/** The export lacks the user's own UUID. */
const SELF = "self";
const RELEASE_NOTES = "release-notes";

interface Recipient {
  readonly person?: NativePerson;
  readonly chat: NativeChat;
}

export class Recipients {
  readonly #recipients = new Map<string, Recipient>();
  readonly #chats = new Map<string, string>();
  /** Used for mentions. */
  readonly #namesByUuid = new Map<string, string>();
  #selfName: string | undefined;

  onAccount(account: Fields): void {
    this.#selfName = nameOf(account, "givenName", "familyName");
  }

  /** Undefined for anything but people and groups, such as a story list. */
  onRecipient(fields: Fields): SourceEvent | undefined {
    const recipient = this.#toRecipient(fields);
    if (recipient === undefined) return undefined;
    this.#recipients.set(numberOf(fields, "id"), recipient);
    if (recipient.person === undefined) return undefined;
    this.#namesByUuid.set(recipient.person.id, recipient.person.name ?? recipient.person.id);
    return { type: "person", person: recipient.person };
  }

  onChat(fields: Fields): NativeChat | undefined {
    const recipient = this.#recipients.get(numberOf(fields, "recipientId"));
    if (recipient === undefined) return undefined;
    this.#chats.set(numberOf(fields, "id"), recipient.chat.id);
    return recipient.chat;
  }

  chat(fields: Fields, field: string): string | undefined {
    return this.#chats.get(numberOf(fields, field));
  }

  person(fields: Fields, field: string): NativePerson | undefined {
    return this.#recipients.get(numberOf(fields, field))?.person;
  }

  /** Name of a mentioned person, by UUID in base64. */
  nameOf(aci: unknown): string {
    return this.#namesByUuid.get(uuidOf(aci) ?? "") ?? "somebody";
  }

  #toRecipient(fields: Fields): Recipient | undefined {
    const contact = fieldsOf(fields["contact"]);
    if (contact !== undefined) return contactOf(contact, numberOf(fields, "id"));
    const group = fieldsOf(fields["group"]);
    if (group !== undefined) return groupOf(group);
    if (fields["self"] !== undefined) {
      const name = this.#selfName;
      const person = { id: SELF, isSelf: true, ...(name !== undefined && { name }) };
      return { person, chat: { id: SELF, name: "Note to Self", type: "self" } };
    }
    if (fields["releaseNotes"] === undefined) return undefined;
    const notes = { id: RELEASE_NOTES, name: "Signal" };
    return { person: notes, chat: { ...notes, type: "channel" } };
  }
}

/** A number within the file. proto3 JSON omits zero. */
function numberOf(fields: Fields, field: string): string {
  return idOf(fields[field]) ?? "0";
}

function contactOf(contact: Fields, number: string): Recipient {
  const uuid = uuidOf(contact["aci"]);
  const digits = idOf(contact["e164"]);
  const phone = digits === undefined ? undefined : `+${digits.replace(/^\+/, "")}`;
  const pni = uuidOf(contact["pni"]);
  const id = uuid ?? phone ?? (pni === undefined ? `recipient:${number}` : `PNI:${pni}`);
  const username = textOf(contact["username"]);
  const name = contactName(contact) ?? username ?? phone;
  const named = name === undefined ? {} : { name };
  const person: NativePerson = {
    id,
    ...named,
    ...(phone !== undefined && { phone }),
    ...(username !== undefined && { username }),
    ...(phone !== undefined && phone !== id && { sameAs: [phone] }),
  };
  return { person, chat: { id, type: "direct", ...named } };
}

/** The user's nickname, then the name in the phone's contacts, then the profile name. */
function contactName(contact: Fields): string | undefined {
  return (
    nameOf(fieldsOf(contact["nickname"]) ?? {}, "given", "family") ??
    nameOf(contact, "systemGivenName", "systemFamilyName") ??
    textOf(contact["systemNickname"]) ??
    nameOf(contact, "profileGivenName", "profileFamilyName")
  );
}

function nameOf(fields: Fields, given: string, family: string): string | undefined {
  const parts = [fields[given], fields[family]].map(textOf).filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(" ");
}

function groupOf(group: Fields): Recipient | undefined {
  const key = textOf(group["masterKey"]);
  if (key === undefined) return undefined;
  const former = formerGroupIdOf(key);
  const id = groupIdOf(key) ?? former;
  const snapshot = fieldsOf(group["snapshot"]);
  const name = textOf(fieldsOf(snapshot?.["title"])?.["title"]);
  const members = listOf(snapshot?.["members"]).length;
  return {
    chat: {
      id,
      type: "group",
      ...(name !== undefined && { name }),
      ...(members > 0 && { participantCount: members }),
      ...(id !== former && { sameAs: [former] }),
    },
  };
}
