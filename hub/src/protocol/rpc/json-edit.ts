// Edits deep inside a JSON value that keep the bytes of everything else. Each edit returns the new value, or undefined if nothing
// changed, so that an unchanged reply is passed on byte for byte.

import { editObject, elementsOf, isObject, membersOf } from "../../lib/json/json.ts";
import type { Raw } from "./jsonrpc.ts";

export type Edit = (value: Raw) => Raw | undefined;

/** Edits one member of an object. */
export function editMember(object: Raw, key: string, edit: Edit): Raw | undefined {
  if (!isObject(object.value) || !Object.hasOwn(object.value, key)) return undefined;
  // JSON.parse uses the last of several members with the same name.
  const member = membersOf(object.bytes)?.findLast((candidate) => candidate.key === key);
  if (member === undefined) return undefined;
  const bytes = object.bytes.subarray(member.valueStart, member.valueEnd);
  const edited = edit({ bytes, value: object.value[key] });
  return edited === undefined ? undefined : withMembers(object, { [key]: edited });
}

/** Edits the elements of an array. */
export function editElements(array: Raw, edit: Edit): Raw | undefined {
  if (!Array.isArray(array.value)) return undefined;
  const bytes = elementsOf(array.bytes, array.value.length);
  if (bytes?.length !== array.value.length) return undefined;
  let isChanged = false;
  const elements = bytes.map((part, index): Raw => {
    const element = { bytes: part, value: arrayValue(array.value, index) };
    const edited = edit(element);
    isChanged ||= edited !== undefined;
    return edited ?? element;
  });
  return isChanged ? arrayOf(elements) : undefined;
}

/** The array with one element more. */
export function appendElement(array: Raw, element: Raw): Raw | undefined {
  if (!Array.isArray(array.value)) return undefined;
  const values: readonly unknown[] = array.value;
  const bytes = elementsOf(array.bytes, values.length);
  if (bytes?.length !== values.length) return undefined;
  return arrayOf([...bytes.map((part, index) => ({ bytes: part, value: values[index] })), element]);
}

/** The object with these members; undefined removes one. */
export function withMembers(object: Raw, members: Readonly<Record<string, Raw | undefined>>): Raw {
  const entries = Object.entries(members);
  const value: Record<string, unknown> = isObject(object.value) ? { ...object.value } : {};
  for (const [key, member] of entries) {
    if (member === undefined) delete value[key];
    else value[key] = member.value;
  }
  const bytes = editObject(object.bytes, Object.fromEntries(entries.map(([key, member]) => [key, member?.bytes])));
  return { bytes, value };
}

export function arrayOf(elements: readonly Raw[]): Raw {
  const parts = elements.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [COMMA, bytes]));
  return { bytes: Buffer.concat([OPEN, ...parts, CLOSE]), value: elements.map(({ value }) => value) };
}

function arrayValue(array: unknown, index: number): unknown {
  return Array.isArray(array) ? array[index] : undefined;
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");
