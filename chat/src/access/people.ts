// People, within what agents may see.

import type { StoredPerson } from "../model/store-port.ts";
import { selectMessages } from "./message-selection.ts";
import type { Reader } from "./reader.ts";

/** Leaves out addresses that only appear in chats that are not shown, and people without any other. */
export function findPeople(reader: Reader, text: string, limit: number): readonly StoredPerson[] {
  return reader.store.people(text, limit).flatMap((person) => {
    const addresses = person.addresses.filter(({ source, id }) => isShown(reader, source, id));
    const [first] = addresses;
    return first === undefined ? [] : [{ ...person, name: first.name, addresses }];
  });
}

function isShown(reader: Reader, source: string, address: string): boolean {
  if (!reader.sources.ids.includes(source)) return false;
  if (!reader.policy.visibility.restricts([source])) return true;
  const args = { source, sender: address, allow_stale: true, include_system: true };
  const { filter } = selectMessages(reader, args);
  return filter !== undefined && reader.store.messages({ ...filter, order: "desc", limit: 1 }).items.length > 0;
}
