// One group set or removed in the text of the group file. Pure: text in, text out, checked before it is handed back.

import { HubError } from "../errors.ts";
import { GROUP_FILE, parseGroupDocument } from "./documents.ts";
import { removeMember, removeRepeats, setMember } from "./edit.ts";
import { parseJsonText } from "./json.ts";
import { normalizeGroup } from "./normalize.ts";
import { isObject, toPlainJson } from "./plain.ts";
import type { GroupConfig } from "./types.ts";
import { quoted, within } from "./where.ts";

export function setGroup(text: string, name: string, entry: unknown): { text: string; group: GroupConfig } {
  const group = within(`Group ${quoted(name)}`, `groups.${name}`, () => normalizeGroup(name, entry));
  const path = pathOf(text, name);
  const changed = setMember(removeRepeats(text, path), path, toPlainJson(entry));
  return { text: sound(changed, name, true), group };
}

/** Removes a group, which may be a broken one. */
export function removeGroup(text: string, name: string): string {
  const { groups, invalidGroups } = parseGroupDocument(text);
  if (![...groups, ...invalidGroups].some((group) => group.name === name)) {
    throw new HubError("GroupNotFound", "Group not found", { detail: `There is no group ${JSON.stringify(name)}` });
  }
  const path = pathOf(text, name);
  return sound(removeMember(removeRepeats(text, path), path), name, false);
}

/** The groups stand at the top of the file, or under `groups`. */
function pathOf(text: string, name: string): string[] {
  const json = parseJsonText(text, GROUP_FILE, () => undefined);
  return isObject(json) && Object.hasOwn(json, "groups") ? ["groups", name] : [name];
}

/** Nothing is saved that a load would refuse. */
function sound(text: string, name: string, there: boolean): string {
  const { groups, invalidGroups } = parseGroupDocument(text);
  const isThere = groups.some((group) => group.name === name);
  const isLeft = invalidGroups.some((group) => group.name === name);
  if (isThere === there && !isLeft) return text;
  throw new HubError("Unexpected", `The change would have damaged ${GROUP_FILE}; nothing was saved`);
}
