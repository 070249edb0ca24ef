// Who and where: the export's own numbers for people, groups and chats, and what they stand for.

import type { NativeChat, NativePerson, SourceEvent } from "../../source.ts";
import { type Fields, fieldsOf, idOf, listOf, textOf } from "../fields.ts";
import { groupIdOf, uuidOf } from "./ids.ts";

/** The export does not tell the user's own UUID. */
const SELF = "self";
const RELEASE_NOTES = "release-notes";

interface Recipient {
  readonly person?: NativePerson;
  readonly chat: NativeChat;
}

export class Recipients {
  readonly #recipients = new Map<string, Recipient>();
  readonly #chats = new Map<string, string>();
  /** For mentions. */
  readonly #namesByUuid = new Map<string, string>();
  #selfName: string | undefined;

  onAccount(account: Fields): void {
    this.#selfName = nameOf(account, "givenName", "familyName");
  }

  /** Undefined where it is neither somebody nor a place to talk, such as a list for stories. */
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

  /** Who is mentioned, by the bytes of the UUID. */
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

/** A number within the file. Zero is left out, as all that is as it would be anyway. */
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

/** As the user named them, then as the phone's contacts do, then as they name themselves. */
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
  const id = groupIdOf(group["masterKey"]);
  if (id === undefined) return undefined;
  const snapshot = fieldsOf(group["snapshot"]);
  const name = textOf(fieldsOf(snapshot?.["title"])?.["title"]);
  const members = listOf(snapshot?.["members"]).length;
  return {
    chat: { id, type: "group", ...(name !== undefined && { name }), ...(members > 0 && { participantCount: members }) },
  };
}
