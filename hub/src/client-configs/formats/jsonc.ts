// JSON with comments. Uses the same edits as the hub's config files, which keep comments, order, blank lines and indentation.

import { removeMember, setMember } from "../../config/edit/edit.ts";
import { findSyntaxError, parseJsonText } from "../../config/parse/json.ts";
import { FileSyntaxError, type Editor } from "./format.ts";

export const jsonc: Editor = {
  parse(text, file) {
    const position = findSyntaxError(text, file);
    if (position !== undefined) throw new FileSyntaxError(file, "JSON", position);
    return parseJsonText(text, file);
  },
  set: (text, { root, name }, entry) => setMember(text, [...root, name], entry),
  remove: (text, { root, name }) => removeMember(text, [...root, name]),
};
