// Changes the settings of the call log in the text of the server file. A pure function; the result is validated.

import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { parseServerDocument, SERVER_FILE } from "../parse/documents.ts";
import { parseJsonText } from "../parse/json.ts";
import { toPlainJson } from "../parse/plain-object.ts";
import { callLogEntry, type CallLogPatch } from "../schema/call-log.ts";
import { parseWith } from "../schema/schema.ts";
import { removeMember, removeRepeats, setMember } from "./edit.ts";

const KEY = "call_log";

export function changeCallLog(text: string, patch: CallLogPatch): string {
  const json = parseJsonText(text, SERVER_FILE, () => undefined);
  const before = isObject(json) ? json[KEY] : undefined;
  const merged = Object.entries({ ...(isObject(before) ? before : {}), ...patch });
  const entry = parseWith(callLogEntry, Object.fromEntries(merged.filter(([, value]) => value !== null)), KEY);
  const single = removeRepeats(text, [KEY]);
  const isEmpty = Object.keys(entry).length === 0;
  const changed = isEmpty ? removeMember(single, [KEY]) : setMember(single, [KEY], toPlainJson(entry));
  const { callLog } = parseServerDocument(changed);
  if (JSON.stringify(callLog ?? {}) === JSON.stringify(entry)) return changed;
  throw new HubError("Unexpected", `The change would have damaged ${SERVER_FILE}; nothing was saved`);
}
