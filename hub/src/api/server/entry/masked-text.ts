// The text of the server file with its secrets as `***`, and the text that was edited with them put back.

import { createScanner, type Node } from "jsonc-parser";
import { lineAndColumn, parseJsonTree } from "../../../config/parse/json.ts";
import { isCommonValue } from "../../../redaction/entropy.ts";
import {
  hideAll,
  isCredentialName,
  isLiteralSecret,
  MASK,
  maskArgs,
  maskSecret,
  maskText,
  maskUrl,
} from "../../../redaction/mask.ts";
import type { FieldError } from "../../../http/problem.ts";
import { isSecretVariable } from "../../../servers/server-secrets.ts";
import type { KnownSecrets } from "./known-secrets.ts";

/** A value, or a comment, of a text. */
interface Piece {
  /** Items that have a name are found by it, so that they may move. */
  readonly path: readonly string[];
  readonly offset: number;
  readonly length: number;
  /** As in the text, and as shown. */
  readonly raw: string;
  readonly shown: string;
  /** The item before it in a list, as shown: a value may follow its option. */
  readonly previous?: string | undefined;
}

interface Place {
  readonly path: readonly string[];
  /** The members of the object that a value is in. */
  readonly siblings: Readonly<Record<string, unknown>>;
}

interface Leaf extends Place {
  readonly node: Node;
  /** The texts of the list that it is in. */
  readonly list?: { readonly texts: readonly string[]; readonly index: number };
}

/** In a comment, lines of asterisks are decoration. */
const MASK_IN_COMMENT = /(?<![*/])\*\*\*(?![*/])/;
/** Shorter values are words of a comment by chance. */
const MIN_REPEATED = 6;
const VARIABLES: ReadonlySet<string> = new Set(["env", "env_vars", "envVars"]);
const URLS: ReadonlySet<string> = new Set(["url", "proxy"]);
/** Named like credentials, but about them. */
const NO_SECRET = /^(?:secret_?ref|auth|type)$|[_-]?(?:id|env|file|method|url|endpoint|ref|scope)$/i;

export function maskConfigText(text: string, known: KnownSecrets): string {
  return splice(
    text,
    piecesOf(text, known).filter(({ raw, shown }) => raw !== shown),
    ({ shown }) => shown,
  );
}

/** The edited text with the stored values, and every `***` for which there is none. */
export function unmaskConfigText(
  given: string,
  stored: string,
  known: KnownSecrets,
): { readonly text: string; readonly errors: FieldError[] } {
  const before = new Map<string, Piece[]>();
  for (const piece of piecesOf(stored, known)) {
    const key = keyOf(piece.path, piece.shown);
    before.set(key, [...(before.get(key) ?? []), piece]);
  }
  const errors: FieldError[] = [];
  const masked = piecesOf(given, known).filter(({ path, raw }) =>
    path.length === 0 ? MASK_IN_COMMENT.test(raw) : raw.includes(MASK),
  );
  const text = splice(given, masked, (piece) => {
    const { path, raw, offset, previous } = piece;
    const fits = (before.get(keyOf(path, raw)) ?? []).filter((each) => each.previous === previous);
    const [first, ...others] = fits;
    // Two values that look the same cannot be told apart.
    if (first !== undefined && others.every((other) => other.raw === first.raw)) return first.raw;
    const field = path.join(".");
    const message = `${MASK} has no stored value here`;
    errors.push({ field, code: "VALIDATION_ERROR", message, ...lineAndColumn(given, offset) });
    return raw;
  });
  return { text, errors };
}

function keyOf(path: readonly string[], shown: string): string {
  return JSON.stringify([path, shown]);
}

function splice(text: string, pieces: readonly Piece[], replace: (piece: Piece) => string): string {
  let [result, end] = ["", 0];
  for (const piece of pieces.toSorted((a, b) => a.offset - b.offset)) {
    result += text.slice(end, piece.offset) + replace(piece);
    end = piece.offset + piece.length;
  }
  return result + text.slice(end);
}

function piecesOf(text: string, known: KnownSecrets): Piece[] {
  const root = parseJsonTree(text);
  const leaves = root === undefined ? [] : leavesOf(root, { path: [], siblings: {} });
  const secrets = known.with(leaves.flatMap(repeatedSecrets));
  const hide = (value: string) => maskText(secrets.hideIn(value, hideAll), hideAll);
  const values = leaves.map((leaf): Piece => {
    const { path, node, list } = leaf;
    const { offset, length } = node;
    const raw = text.slice(offset, offset + length);
    const value = String(node.value);
    const shownList =
      list === undefined ? [] : maskArgs(list.texts, hideAll).map((arg) => secrets.hideIn(arg, hideAll));
    const shown =
      list === undefined ? shownValue(leaf, value, { secrets, hide }) : (shownList[list.index] ?? hide(value));
    const previous = list === undefined ? undefined : shownList[list.index - 1];
    return { path, offset, length, raw, shown: shown === value ? raw : JSON.stringify(shown), previous };
  });
  // A comment often repeats a value, or is an older version of its line.
  const hidden = values.flatMap(({ raw, shown }) =>
    shown === JSON.stringify(MASK) && raw.length > MIN_REPEATED ? [raw.replaceAll(/^"|"$/g, "")] : [],
  );
  const comments = commentsOf(text).map(({ offset, length }): Piece => {
    const raw = text.slice(offset, offset + length);
    const shown = hidden.reduce((rest, secret) => rest.replaceAll(secret, MASK), raw);
    return { path: [], offset, length, raw, shown: hide(shown) };
  });
  return [...comments, ...values];
}

interface Hiding {
  readonly secrets: KnownSecrets;
  readonly hide: (value: string) => string;
}

function shownValue(leaf: Leaf, value: string, { secrets, hide }: Hiding): string {
  if (isSecret(leaf)) return maskSecret(value, hideAll);
  if (leaf.node.type === "number") return value;
  return URLS.has(leaf.path.at(-1) ?? "") ? secrets.hideIn(maskUrl(value, hideAll), hideAll) : hide(value);
}

/** Secrets are hidden also where they are repeated, as in a comment. */
function repeatedSecrets(leaf: Leaf): string[] {
  const value = String(leaf.node.value);
  return isSecret(leaf) && isLiteralSecret(value) && !isCommonValue(value) ? [value] : [];
}

/** The texts and numbers below a node. */
function leavesOf(node: Node, place: Place): Leaf[] {
  const { path } = place;
  if (node.type === "object") {
    const members = membersOf(node);
    const siblings = Object.fromEntries(members.map(([key, { value }]): [string, unknown] => [key, value]));
    return members.flatMap(([key, value]) => leavesOf(value, { path: [...path, key], siblings }));
  }
  if (node.type === "array") {
    const items = node.children ?? [];
    const texts = items.map(({ value }) => (typeof value === "string" ? value : ""));
    return items.flatMap((item, index) =>
      item.type === "string"
        ? [{ node: item, path, siblings: {}, list: { texts, index } }]
        : leavesOf(item, { path: [...path, nameOf(item) ?? String(index)], siblings: {} }),
    );
  }
  return node.type === "string" || node.type === "number" ? [{ ...place, node }] : [];
}

/** Whether a value is a secret by its name or by what is beside it. */
function isSecret({ path, siblings }: Place): boolean {
  const [key = "", parent = "", above = ""] = path.toReversed();
  if (parent === "headers") return true;
  if (VARIABLES.has(parent)) return isSecretVariable(key, {});
  if (key === "value" || key === "default") {
    const mark = siblings["isSecret"] ?? siblings["is_secret"];
    const name = typeof siblings["name"] === "string" ? siblings["name"] : VARIABLES.has(above) ? parent : "";
    return isSecretVariable(name, typeof mark === "boolean" ? { isSecret: mark } : {});
  }
  return isCredentialName(key) && !NO_SECRET.test(key);
}

function membersOf({ children = [] }: Node): [key: string, value: Node][] {
  return children.flatMap(({ children: [key, value] = [] }): [string, Node][] =>
    key === undefined || value === undefined ? [] : [[String(key.value), value]],
  );
}

function nameOf(item: Node): string | undefined {
  const name: unknown = item.type === "object" ? membersOf(item).find(([key]) => key === "name")?.[1].value : undefined;
  return typeof name === "string" ? name : undefined;
}

function commentsOf(text: string): { offset: number; length: number }[] {
  const scanner = createScanner(text, false);
  const found: { offset: number; length: number }[] = [];
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    if (text[offset] === "/") found.push({ offset, length: scanner.getTokenLength() });
  }
  return found;
}
