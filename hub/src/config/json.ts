// JSON with comments and trailing commas, as people write it, into plain data. Bounded before it is parsed; a mistake is
// reported with its line and column. Changing the text is left to edit.ts.

import { createScanner, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { HubError } from "../errors.ts";
import { DEPTH_MAX, FILE_MAX_BYTES } from "./limits.ts";
import { isMagicKey } from "./plain.ts";
import type { Json, JsonObject } from "./plain.ts";
import { quoted } from "./where.ts";

/** Told of a value that JSON allows and a config does not: a key given twice. Whoever returns goes on without the value. */
export type OnProblem = (path: readonly string[], problem: HubError) => void;

const refuse: OnProblem = (_path, problem) => {
  throw problem;
};

/** The data of a file's text; undefined where there is none (empty, or only comments). */
export function parseJsonText(text: string, file: string, onProblem: OnProblem = refuse): Json | undefined {
  requireBounds(text, file);
  const errors: ParseError[] = [];
  const root = parseJsonTree(text, errors);
  const [first] = errors;
  if (first !== undefined) {
    const problem = printParseErrorCode(first.error).replaceAll(
      /(?<=[a-z])[A-Z]/g,
      (letter) => ` ${letter.toLowerCase()}`,
    );
    throw new HubError("InvalidConfig", `${file} is not valid JSON: ${problem} at ${position(text, first.offset)}`, {
      hint: "Correct it there: plugboard doctor --fix opens the file at that place, plugboard config validate checks it",
    });
  }
  return root === undefined ? undefined : toValue(root, { text, file, onProblem }, []);
}

/** Where a text stops being JSON; undefined where all of it is. Both count from 1. */
export function findSyntaxError(text: string, file: string): { line: number; column: number } | undefined {
  requireBounds(text, file);
  const errors: ParseError[] = [];
  parseJsonTree(text, errors);
  return errors[0] === undefined ? undefined : placeOf(text, errors[0].offset);
}

/** The syntax tree of a text, for edits. */
export function parseJsonTree(text: string, errors: ParseError[] = []): Node | undefined {
  return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
}

/** The parser calls itself for each level, so depth is counted without it, on the bare tokens. */
function requireBounds(text: string, file: string): void {
  if (Buffer.byteLength(text) > FILE_MAX_BYTES) throw tooLarge(file);
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const first = text[scanner.getTokenOffset()];
    if (first === "{" || first === "[") depth++;
    if (first === "}" || first === "]") depth--;
    if (depth > DEPTH_MAX) {
      const where = position(text, scanner.getTokenOffset());
      throw new HubError("InvalidConfig", `${file} is nested deeper than ${DEPTH_MAX} levels at ${where}`);
    }
  }
}

export function tooLarge(file: string): HubError {
  return new HubError("InvalidConfig", `${file} is larger than ${FILE_MAX_BYTES / 1024 / 1024} MiB`);
}

interface Parsing {
  readonly text: string;
  readonly file: string;
  readonly onProblem: OnProblem;
}

function toValue(node: Node, parsing: Parsing, path: readonly string[]): Json {
  if (node.type === "array") {
    return (node.children ?? []).map((child, index) => toValue(child, parsing, [...path, String(index)]));
  }
  if (node.type !== "object") return toScalar(node, parsing, path);
  const { text, file, onProblem } = parsing;
  const value: JsonObject = {};
  for (const { children = [] } of node.children ?? []) {
    const [keyNode, valueNode] = children;
    if (keyNode === undefined || valueNode === undefined) continue;
    const key = String(keyNode.value);
    const inside = [...path, key];
    const where = position(text, keyNode.offset);
    if (isMagicKey(key)) {
      const message = `${file}: "${key}" cannot be used as a name, at ${where}`;
      onProblem(inside, new HubError("InvalidConfig", message, { field: key }));
    } else if (Object.hasOwn(value, key)) {
      // The last one would win, and the first would be lost without a word.
      onProblem(inside, duplicate(node, key, `${file}: ${quoted(key)} is given twice, at ${where}`));
    } else {
      value[key] = toValue(valueNode, parsing, inside);
    }
  }
  return value;
}

function toScalar(
  node: Node,
  { text, file, onProblem }: Parsing,
  path: readonly string[],
): string | number | boolean | null {
  const value: unknown = node.value;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  const message = `${file}: this number is too large, at ${position(text, node.offset)}`;
  onProblem(path, new HubError("InvalidConfig", message));
  return null;
}

/** Two servers of one name are a conflict; any other key given twice is a mistake in the file. */
function duplicate(node: Node, key: string, message: string): HubError {
  const property: unknown = node.parent?.children?.[0]?.value;
  const isServerMap =
    (property === "mcpServers" || property === "servers") && node.parent?.parent?.parent === undefined;
  return new HubError(isServerMap ? "ServerAlreadyExists" : "InvalidConfig", message, { field: key });
}

function position(text: string, offset: number): string {
  const { line, column } = placeOf(text, offset);
  return `line ${line}, column ${column}`;
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
