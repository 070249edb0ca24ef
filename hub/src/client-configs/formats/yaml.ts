// YAML. A server is added and removed as lines of text in block style. In flow style the library's document is used, which keeps
// comments but not all white space.

import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  stringify,
  type Document,
  type Pair,
} from "yaml";
import { tooLarge } from "../../config/parse/json.ts";
import { FILE_MAX_BYTES } from "../../config/schema/limits.ts";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { FileSyntaxError, type Editor, type EntryLocation } from "./format.ts";

/** Limits the expansion of aliases. */
const MAX_ALIASES = 100;

export const yaml: Editor = {
  parse(text, file) {
    if (Buffer.byteLength(text) > FILE_MAX_BYTES) throw tooLarge(file);
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error !== undefined) {
      const { line = 1, col: column = 1 } = error.linePos?.[0] ?? {};
      throw new FileSyntaxError(file, "YAML", { line, column });
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return value ?? undefined;
  },

  set(text, location, entry) {
    const document = parseDocument(text);
    const existing = findItem(document, location);
    if (existing !== undefined) return yaml.set(yaml.remove(text, location), location, entry);
    return insertLines(text, document, location, entry) ?? insertByLibrary(document, location, entry);
  },

  remove(text, location) {
    const document = parseDocument(text);
    const item = findItem(document, location);
    if (item === undefined) return text;
    const siblings = document.getIn(location.root);
    if (isCollection(siblings) && siblings.flow !== true && siblings.items.length > 1) {
      const start = lineStart(text, item.start);
      const end = item.end;
      return text.slice(0, start) + text.slice(end);
    }
    document.deleteIn([...location.root, item.key]);
    return write(document);
  },
};

/** The key or index of a server, and its range up to the beginning of the next item. */
function findItem(document: Document, { root, list, name }: EntryLocation) {
  const servers = document.getIn(root);
  if (list && isSeq(servers)) {
    const index = servers.items.findIndex((item) => isMap(item) && item.get("name") === name);
    const range = rangeOf(servers.items[index]);
    return range === undefined ? undefined : { key: index, start: range[0], end: range[2] };
  }
  if (!isMap(servers)) return undefined;
  const pair = servers.items.find((each: Pair) => isScalar(each.key) && each.key.value === name);
  const [start] = rangeOf(pair?.key) ?? [];
  const end = rangeOf(pair?.value)?.[2];
  return start === undefined || end === undefined ? undefined : { key: name, start, end };
}

/** Undefined if the servers are not in block style. */
function insertLines(text: string, document: Document, location: EntryLocation, entry: JsonObject): string | undefined {
  const { root, list, name } = location;
  const [key = ""] = root;
  if (root.length !== 1 || text.includes("\r")) return undefined;
  const servers = document.getIn(root);
  const item = (indent: string) =>
    stringify(list ? [{ name, ...entry }] : { [name]: entry }, { lineWidth: 0 }).replaceAll(/^(?=.)/gm, indent);
  if (servers === undefined) {
    if (document.contents !== null && !(isMap(document.contents) && document.contents.flow !== true)) return undefined;
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    return `${text}${gap}${key}:\n${item("  ")}`;
  }
  if (!isCollection(servers) || servers.flow === true) return undefined;
  const [first, last]: unknown[] = [servers.items[0], servers.items.at(-1)];
  const start = rangeOf(isPair(first) ? first.key : first)?.[0];
  const end = rangeOf(isPair(last) ? last.value : last)?.[2];
  if (start === undefined || end === undefined) return undefined;
  const indent = /^[ \t]*/.exec(text.slice(lineStart(text, start)))?.[0] ?? "";
  const gap = text[end - 1] === "\n" ? "" : "\n";
  return `${text.slice(0, end)}${gap}${item(indent)}${text.slice(end)}`;
}

function insertByLibrary(document: Document, { root, list, name }: EntryLocation, entry: JsonObject): string {
  if (!list) document.setIn([...root, name], document.createNode(entry));
  else if (isSeq(document.getIn(root))) document.addIn(root, document.createNode({ name, ...entry }));
  else document.setIn(root, document.createNode([{ name, ...entry }]));
  return write(document);
}

function write(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Offsets: start of the node, end of its value, start of the next node. */
function rangeOf(node: unknown): readonly [number, number, number] | undefined {
  return isNode(node) ? (node.range ?? undefined) : undefined;
}
