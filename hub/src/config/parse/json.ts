// Parses JSON with comments and trailing commas into plain data. Size and depth are checked first. Errors have line and
// column. edit.ts changes the text.

import { createScanner, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { HubError } from "../../errors.ts";
import { DEPTH_MAX, FILE_MAX_BYTES } from "../schema/limits.ts";
import { isPrototypeKey } from "./plain-object.ts";
import type { Json, JsonObject } from "./plain-object.ts";
import { quoted } from "./error-path.ts";

/** Called for values that JSON allows and a config does not, such as duplicate keys. Returning skips the value. */
export type OnProblem = (path: readonly string[], problem: HubError) => void;

const refuse: OnProblem = (_path, problem) => {
  throw problem;
};

/** The parsed data, or undefined if the text is empty or has only comments. */
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
      hint: "Fix it with plugboard doctor --fix, which opens the file at that line, and check it with plugboard config validate",
    });
  }
  return root === undefined ? undefined : toValue(root, { text, file, onProblem }, []);
}

/** Position of the first syntax error, counted from 1; undefined if there is none. */
export function findSyntaxError(text: string, file: string): { line: number; column: number } | undefined {
  requireBounds(text, file);
  const errors: ParseError[] = [];
  parseJsonTree(text, errors);
  return errors[0] === undefined ? undefined : lineAndColumn(text, errors[0].offset);
}

/** The syntax tree of a text, for edits. */
export function parseJsonTree(text: string, errors: ParseError[] = []): Node | undefined {
  return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
}

/** The parser is recursive, so the depth is checked on the tokens before parsing. */
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
    if (isPrototypeKey(key)) {
      const message = `${file}: "${key}" is a reserved name, at ${where}`;
      onProblem(inside, new HubError("InvalidConfig", message, { field: key }));
    } else if (Object.hasOwn(value, key)) {
      // JSON.parse would silently keep only the last one.
      onProblem(inside, duplicate(node, key, `${file}: duplicate key ${quoted(key)}, at ${where}`));
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
  const message = `${file}: number too large, at ${position(text, node.offset)}`;
  onProblem(path, new HubError("InvalidConfig", message));
  return null;
}

/** A duplicate server is a conflict; any other duplicate key is an invalid config. */
function duplicate(node: Node, key: string, message: string): HubError {
  const property: unknown = node.parent?.children?.[0]?.value;
  const isServerMap =
    (property === "mcpServers" || property === "servers") && node.parent?.parent?.parent === undefined;
  return new HubError(isServerMap ? "ServerAlreadyExists" : "InvalidConfig", message, { field: key });
}

function position(text: string, offset: number): string {
  const { line, column } = lineAndColumn(text, offset);
  return `line ${line}, column ${column}`;
}

export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
