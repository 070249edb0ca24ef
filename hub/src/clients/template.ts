// What a text of a client's file refers to, in that client's own way of writing, as parts: plain text, a variable of the
// environment, a secret that the client asks for or keeps. How the hub writes them is left to translate.ts.

import type { Dialect } from "./client.ts";

export type Part =
  | { readonly text: string }
  | { readonly variable: string; readonly fallback?: string }
  /** By the name that the client knows it by. */
  | { readonly secret: string };

export interface Template {
  readonly parts: readonly Part[];
  /** References that mean nothing outside of the client, as written. */
  readonly unknown: readonly string[];
}

export interface Places {
  readonly home: string;
  /** The folder that the file belongs to, where it belongs to one. */
  readonly workspace?: string | undefined;
  readonly separator: string;
}

type Meaning = Part | "unknown";
type Rule = readonly [pattern: RegExp, read: (match: RegExpExecArray, places: Places) => Meaning];

const NAME = "[A-Za-z_][A-Za-z0-9_]*";

const variable: Rule[1] = (match) => {
  const [, name = "", fallback] = match;
  return fallback === undefined ? { variable: name } : { variable: name, fallback };
};
const BRACES: Rule = [new RegExp(`\\$\\{(${NAME})(?::-([^}]*))?\\}`, "y"), variable];
const BARE: Rule = [new RegExp(`\\$(${NAME})`, "y"), variable];
const asText = (text: string | undefined): Meaning => (text === undefined ? "unknown" : { text });

/** The first that fits at a place counts; what none fits is plain text. */
const RULES: Readonly<Record<Dialect, readonly Rule[]>> = {
  literal: [],
  shell: [BRACES],
  gemini: [BRACES, BARE],
  editor: [
    [new RegExp(`\\$\\{env:(${NAME})\\}`, "y"), variable],
    [/\$\{input:([\w.-]+)\}/y, ([, id = ""]) => ({ secret: id })],
    [/\$\{userHome\}/y, (_, { home }) => ({ text: home })],
    [/\$\{workspaceFolder\}/y, (_, { workspace }) => asText(workspace)],
    [/\$\{workspaceFolderBasename\}/y, (_, { workspace }) => asText(workspace?.split(/[/\\]/).at(-1))],
    [/\$\{(?:pathSeparator|\/)\}/y, (_, { separator }) => ({ text: separator })],
    [/\$\{(?:command|config|file|default|workspaceFolder)[^}]*\}/y, () => "unknown"],
  ],
  continue: [[/\$\{\{\s*(?:secrets|inputs)\.([\w.-]+)\s*\}\}/y, ([, id = ""]) => ({ secret: id })]],
  opencode: [
    [new RegExp(`\\{env:(${NAME})\\}`, "y"), variable],
    [/\{file:[^}]*\}/y, () => "unknown"],
  ],
};

/** @example parseTemplate("Bearer ${env:TOKEN}", "editor", places).parts // [{ text: "Bearer " }, { variable: "TOKEN" }] */
export function parseTemplate(text: string, dialect: Dialect, places: Places): Template {
  const parts: Part[] = [];
  const unknown: string[] = [];
  const reading = { dialect, places, lastBrace: text.lastIndexOf("}") };
  let plain = "";
  for (let at = 0; at < text.length;) {
    const found = matchAt(text, at, reading);
    if (found === undefined) {
      plain += text[at++];
      continue;
    }
    at += found.length;
    if (found.meaning === "unknown") {
      plain += found.written;
      unknown.push(found.written);
    } else if ("text" in found.meaning) plain += found.meaning.text;
    else {
      if (plain !== "") parts.push({ text: plain });
      plain = "";
      parts.push(found.meaning);
    }
  }
  if (plain !== "") parts.push({ text: plain });
  return { parts, unknown };
}

interface Reading {
  readonly dialect: Dialect;
  readonly places: Places;
  /** Where the last one of the text stands. */
  readonly lastBrace: number;
}

function matchAt(text: string, at: number, { dialect, places, lastBrace }: Reading) {
  if (text[at] !== "$" && text[at] !== "{") return undefined;
  // Nothing that begins behind the last brace ends: looking for its end each time would take the square of their number.
  if (at > lastBrace && (text[at] === "{" || text[at + 1] === "{")) return undefined;
  for (const [pattern, read] of RULES[dialect]) {
    // A copy: a sticky pattern remembers where it was.
    const rule = new RegExp(pattern);
    rule.lastIndex = at;
    const match = rule.exec(text);
    if (match !== null) return { length: match[0].length, written: match[0], meaning: read(match, places) };
  }
  return undefined;
}
