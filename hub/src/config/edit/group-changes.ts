// Sets or removes one group in the text of the group file. Pure functions; the result is validated.

import { HubError } from "../../errors.ts";
import { GROUP_FILE, parseGroupDocument } from "../parse/documents.ts";
import { removeMember, removeRepeats, setMember } from "./edit.ts";
import { parseJsonText } from "../parse/json.ts";
import { normalizeGroup } from "../parse/normalize.ts";
import { toPlainJson } from "../parse/plain-object.ts";
import { isObject } from "../../lib/json/json.ts";
import type { GroupConfig } from "../schema/types.ts";
import { quoted, withPath } from "../parse/error-path.ts";

export function setGroup(text: string, name: string, entry: unknown): { text: string; group: GroupConfig } {
  const group = withPath(`Group ${quoted(name)}`, `groups.${name}`, () => normalizeGroup(name, entry));
  const path = pathOf(text, name);
  const changed = setMember(removeRepeats(text, path), path, toPlainJson(entry));
  return { text: verified(changed, name, true), group };
}

/** Removes a group, valid or not. */
export function removeGroup(text: string, name: string): string {
  const { groups, invalidGroups } = parseGroupDocument(text);
  if (![...groups, ...invalidGroups].some((group) => group.name === name)) {
    throw new HubError("GroupNotFound", "Group not found", { detail: `There is no group ${JSON.stringify(name)}` });
  }
  const path = pathOf(text, name);
  return verified(removeMember(removeRepeats(text, path), path), name, false);
}

/** Groups are at the top level of the file or under `groups`. */
function pathOf(text: string, name: string): string[] {
  const json = parseJsonText(text, GROUP_FILE, () => undefined);
  return isObject(json) && Object.hasOwn(json, "groups") ? ["groups", name] : [name];
}

/** Throws if a load would reject the new text. */
function verified(text: string, name: string, isExpected: boolean): string {
  const { groups, invalidGroups } = parseGroupDocument(text);
  const isPresent = groups.some((group) => group.name === name);
  const isInvalid = invalidGroups.some((group) => group.name === name);
  if (isPresent === isExpected && !isInvalid) return text;
  throw new HubError("Unexpected", `The change would have damaged ${GROUP_FILE}; nothing was saved`);
}
