// Edits the text of a JSON file and keeps comments, order, blank lines and trailing commas. jsonc-parser's modify() moves the
// comment of a line to the next property, and breaks `{"a": 1,}` when the only property is removed. The callers check the
// result.

import { createScanner, findNodeAtLocation, getNodeValue } from "jsonc-parser";
import type { Node } from "jsonc-parser";
import { parseJsonTree } from "../parse/json.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Json } from "../parse/plain-object.ts";
import { layoutOf, toText } from "./layout.ts";

type Path = readonly string[];

/** Sets the member at a path and creates missing objects. Equal values keep their text. */
export function setMember(text: string, path: Path, value: Json): string {
  const root = parseJsonTree(text);
  if (root === undefined) return firstText(text, wrap(path, value));
  const node = findNodeAtLocation(root, [...path]);
  if (node !== undefined) return changeValue(text, path, value);
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const parent = findNodeAtLocation(root, path.slice(0, depth));
    const key = path[depth];
    if (parent?.type === "object" && key !== undefined) {
      return insertMember(text, parent, key, wrap(path.slice(depth + 1), value));
    }
  }
  return changeValue(text, [], wrap(path, value));
}

/** Removes the member at a path. Comments on separate lines stay: they may hold entries that the user disabled. */
export function removeMember(text: string, path: Path): string {
  const root = parseJsonTree(text);
  const member = root === undefined ? undefined : findNodeAtLocation(root, [...path])?.parent;
  return member === undefined ? text : removeNode(text, member);
}

function removeNode(text: string, member: Node): string {
  const siblings = member.parent?.children;
  if (siblings === undefined) return text;
  const index = siblings.indexOf(member);
  let start = member.offset;
  let end = endOf(member);
  const comma = commaAfter(text, end);
  if (comma !== undefined) end = comma + 1;
  // If nothing else is on its lines, remove them completely, including a comment at the end.
  const lineStart = lineStartOf(text, start);
  const lineEnd = endOfLine(text, end);
  if (text.slice(lineStart, start).trim() === "" && isLineBreak(text[lineEnd])) {
    start = lineStart;
    end = lineEnd + (text.startsWith("\r\n", lineEnd) ? 2 : 1);
  }
  const previous = siblings[index - 1];
  const orphan = comma === undefined && previous !== undefined ? commaAfter(text, endOf(previous)) : undefined;
  const kept = orphan === undefined ? text.slice(0, start) : text.slice(0, orphan) + text.slice(orphan + 1, start);
  return kept + text.slice(end);
}

/** Removes all but the first of several members with the same key. */
export function removeRepeats(text: string, path: Path): string {
  const key = path.at(-1);
  for (let current = text; ;) {
    const root = parseJsonTree(current);
    const parent = root === undefined ? undefined : findNodeAtLocation(root, path.slice(0, -1));
    const repeat = (parent?.children ?? []).filter(({ children }) => children?.[0]?.value === key).at(1);
    if (repeat === undefined) return current;
    current = removeNode(current, repeat);
  }
}

/** Renames the key of the member at a path, in place. */
export function renameMember(text: string, path: Path, key: string): string {
  const root = parseJsonTree(text);
  const name = root === undefined ? undefined : findNodeAtLocation(root, [...path])?.parent?.children?.[0];
  return name === undefined ? text : splice(text, name, JSON.stringify(key));
}

/** Adds the first value to a text that is empty or has only comments. */
function firstText(text: string, value: Json): string {
  const layout = layoutOf(text);
  const head = text.trimEnd();
  return `${head}${head === "" ? "" : layout.eol}${toText(value, layout)}${layout.eol}`;
}

function changeValue(text: string, path: Path, value: Json): string {
  const root = parseJsonTree(text);
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...path]);
  if (node === undefined) return text;
  if (node.type === "object" && isObject(value)) return changeObject(text, path, { node, value });
  if (JSON.stringify(getNodeValue(node)) === JSON.stringify(value)) return text;
  return splice(text, node, toText(value, layoutOf(text), indentAt(text, node.offset)));
}

function changeObject(text: string, path: Path, { node, value }: { node: Node; value: Record<string, Json> }): string {
  let changed = text;
  for (const member of node.children ?? []) {
    const key = String(member.children?.[0]?.value);
    if (!Object.hasOwn(value, key)) changed = removeMember(changed, [...path, key]);
  }
  for (const [key, member] of Object.entries(value)) changed = setMember(changed, [...path, key], member);
  return changed;
}

function insertMember(text: string, parent: Node, key: string, value: Json): string {
  const layout = layoutOf(text);
  const close = endOf(parent) - 1;
  const last = parent.children?.at(-1);
  const outer = indentAt(text, parent.offset);
  if (last === undefined) {
    const indent = outer + layout.unit;
    const head = text.slice(0, close).trimEnd();
    const member = `${JSON.stringify(key)}: ${toText(value, layout, indent)}`;
    return `${head}${layout.eol}${indent}${member}${layout.eol}${outer}${text.slice(close)}`;
  }
  if (!text.slice(parent.offset, close).includes("\n")) {
    const member = `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`;
    return text.slice(0, endOf(last)) + member + text.slice(endOf(last));
  }
  const comma = commaAfter(text, endOf(last));
  const insertAt = endOfLine(text, comma === undefined ? endOf(last) : comma + 1);
  const indent = startsLine(text, last.offset) ? indentAt(text, last.offset) : outer + layout.unit;
  const member = `${layout.eol}${indent}${JSON.stringify(key)}: ${toText(value, layout, indent)}`;
  const before =
    comma === undefined
      ? `${text.slice(0, endOf(last))},${text.slice(endOf(last), insertAt)}`
      : text.slice(0, insertAt);
  return before + member + (comma === undefined ? "" : ",") + text.slice(insertAt);
}

/** Offset of the comma after a value, if there is one. Skips spaces, line breaks and comments. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

/** Offset after trailing spaces and comments of the line, or `offset` if other tokens follow on the line. */
function endOfLine(text: string, offset: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  for (scanner.scan(); ; scanner.scan()) {
    const start = scanner.getTokenOffset();
    const first = text[start];
    if (first === undefined || isLineBreak(first)) return start;
    if (first !== " " && first !== "\t" && first !== "/") return offset;
  }
}

function isLineBreak(character: string | undefined): boolean {
  return character === "\n" || character === "\r";
}

function lineStartOf(text: string, offset: number): number {
  return Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
}

function startsLine(text: string, offset: number): boolean {
  return text.slice(lineStartOf(text, offset), offset).trim() === "";
}

/** Indentation of the line. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStartOf(text, offset), offset))?.[0] ?? "";
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function splice(text: string, node: Node, replacement: string): string {
  return text.slice(0, node.offset) + replacement + text.slice(endOf(node));
}

function wrap(path: Path, value: Json): Json {
  return path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
}
