// Where errors of a config text are.

import { findNodeAtLocation, type Node } from "jsonc-parser";
import { HubError, type ErrorBody } from "../../errors.ts";
import { checkTexts } from "./check.ts";
import { findSyntaxError, lineAndColumn, parseJsonTree } from "./json.ts";

export interface PlacedError extends ErrorBody {
  /** From 1. Undefined if the error is about the whole text. */
  readonly line?: number;
  readonly column?: number;
}

/**
 * All errors of the text of the server file, or of the group file if `groupText` is given; then the servers are only needed for
 * their names.
 */
export function errorsOf(serverText: string, groupText?: string): PlacedError[] {
  const text = groupText ?? serverText;
  if (text.trim() === "") {
    return [
      new HubError("InvalidConfig", "The text is empty", { hint: "Write {} for a file without entries" }).toJSON(),
    ];
  }
  const { errors } = checkTexts(serverText, groupText ?? "");
  const others = new Set(
    groupText === undefined ? [] : checkTexts(serverText, "").errors.map((error) => JSON.stringify(error)),
  );
  return errors
    .filter((error) => !others.has(JSON.stringify(error)))
    .map((error) => ({ ...error, ...placeOf(text, error) }));
}

/** The place of the member that an error names, or of the innermost one that the text has. */
export function placeOf(text: string, { field }: Pick<ErrorBody, "field">): Pick<PlacedError, "line" | "column"> {
  const syntax = findSyntaxError(text, "");
  if (syntax !== undefined) return syntax;
  const root = parseJsonTree(text);
  const node = root === undefined || field === undefined ? undefined : deepest(root, field);
  return node === undefined ? {} : lineAndColumn(text, node.offset);
}

/** A name may contain dots, so that each step takes the longest key that fits. */
function deepest(root: Node, field: string): Node | undefined {
  let found: Node | undefined;
  let [node, rest] = [root, field];
  for (;;) {
    const keys = node.type === "array" ? [/^\d+/.exec(rest)?.[0] ?? ""] : keysOf(node);
    const key = keys
      .filter((each) => each !== "" && (rest === each || rest.startsWith(`${each}.`)))
      .reduce((longest, each) => (each.length > longest.length ? each : longest), "");
    const next = key === "" ? undefined : findNodeAtLocation(node, [node.type === "array" ? Number(key) : key]);
    if (next === undefined) return found;
    found = next.parent?.type === "property" ? next.parent : next;
    [node, rest] = [next, rest.slice(key.length + 1)];
  }
}

function keysOf({ type, children = [] }: Node): string[] {
  return type === "object" ? children.map((property) => String(property.children?.[0]?.value)) : [];
}
