// One group set or removed in the text of the group file. Pure: text in, text out, checked before it is handed back.

import { HubError } from "../errors.ts";
import { GROUP_FILE, parseGroupDocument } from "./documents.ts";
import { removeMember, setMember } from "./edit.ts";
import { parseJsonText } from "./json.ts";
import { normalizeGroups } from "./normalize.ts";
import { isObject, toPlainJson } from "./plain.ts";
import type { GroupConfig } from "./types.ts";

export function setGroup(text: string, name: string, entry: unknown): { text: string; group: GroupConfig } {
  const [group] = normalizeGroups({ groups: { [name]: entry } });
  if (group === undefined) throw new HubError("InvalidConfig", "Name is required", { field: "name" });
  return { text: sound(setMember(text, pathOf(text, name), toPlainJson(entry)), name, true), group };
}

export function removeGroup(text: string, name: string): string {
  if (!parseGroupDocument(text).some((group) => group.name === name)) {
    throw new HubError("GroupNotFound", "Group not found", { detail: `There is no group ${JSON.stringify(name)}` });
  }
  return sound(removeMember(text, pathOf(text, name)), name, false);
}

/** The groups stand at the top of the file, or under `groups`. */
function pathOf(text: string, name: string): string[] {
  const json = parseJsonText(text, GROUP_FILE);
  return isObject(json) && Object.hasOwn(json, "groups") ? ["groups", name] : [name];
}

/** Nothing is saved that a load would refuse. */
function sound(text: string, name: string, there: boolean): string {
  if (parseGroupDocument(text).some((group) => group.name === name) === there) return text;
  throw new HubError("Unexpected", `The change would have damaged ${GROUP_FILE}; nothing was saved`);
}
