// JSON with comments as a client's format. The edits are those of our own config files: comments, order, blank lines and
// indentation of everything else stay.

import { removeMember, setMember } from "../config/edit.ts";
import { findSyntaxError, parseJsonText } from "../config/json.ts";
import { BrokenFile, type Editor } from "./format.ts";

export const jsonc: Editor = {
  parse(text, file) {
    const place = findSyntaxError(text, file);
    if (place !== undefined) throw new BrokenFile(file, "JSON", place);
    return parseJsonText(text, file);
  },
  set: (text, { root, name }, entry) => setMember(text, [...root, name], entry),
  remove: (text, { root, name }) => removeMember(text, [...root, name]),
};
