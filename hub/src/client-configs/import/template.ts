// Parses references in the texts of a client's file, by the client's syntax, into plain text, environment variables and secrets
// that the client stores or asks for. translate.ts writes them in the hub's syntax.

import type { Dialect } from "../client.ts";

export type Part =
  | { readonly text: string }
  | { readonly variable: string; readonly fallback?: string }
  /** The client's name of the secret. */
  | { readonly secret: string };

export interface Template {
  readonly parts: readonly Part[];
  /** References that mean nothing outside of the client, as written. */
  readonly unknown: readonly string[];
}

export interface TemplateContext {
  readonly home: string;
  /** The project folder of the file, if it has one. */
  readonly workspace?: string | undefined;
  readonly separator: string;
}

type Meaning = Part | "unknown";
type Rule = readonly [pattern: RegExp, read: (match: RegExpExecArray, context: TemplateContext) => Meaning];

const NAME = "[A-Za-z_][A-Za-z0-9_]*";

const variable: Rule[1] = (match) => {
  const [, name = "", fallback] = match;
  return fallback === undefined ? { variable: name } : { variable: name, fallback };
};
const BRACES: Rule = [new RegExp(`\\$\\{(${NAME})(?::-([^}]*))?\\}`, "y"), variable];
const BARE: Rule = [new RegExp(`\\$(${NAME})`, "y"), variable];
const asText = (text: string | undefined): Meaning => (text === undefined ? "unknown" : { text });

/** The first matching rule applies; text that matches no rule is plain. */
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
  librechat: [
    [new RegExp(`\\$\\{(${NAME})\\}`, "y"), variable],
    // Values of single users of LibreChat.
    [/\{\{[^}]*\}\}/y, () => "unknown"],
  ],
  mcpproxy: [
    [new RegExp(`\\$\\{env:(${NAME})\\}`, "y"), variable],
    [/\$\{keyring:([\w.-]+)\}/y, ([, id = ""]) => ({ secret: id })],
  ],
  supergateway: [
    [/\$\$/y, () => ({ text: "$" })],
    BRACES,
    [new RegExp(`\\$\\{env:(${NAME})(?::-([^}]*))?\\}`, "y"), variable],
  ],
  opencode: [
    [new RegExp(`\\{env:(${NAME})\\}`, "y"), variable],
    [/\{file:[^}]*\}/y, () => "unknown"],
  ],
};

/** @example parseTemplate("Bearer ${env:TOKEN}", "editor", context).parts // [{ text: "Bearer " }, { variable: "TOKEN" }] */
export function parseTemplate(text: string, dialect: Dialect, context: TemplateContext): Template {
  const parts: Part[] = [];
  const unknown: string[] = [];
  const reading = { dialect, context, lastBrace: text.lastIndexOf("}") };
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
  readonly context: TemplateContext;
  /** Offset of the last closing brace in the text. */
  readonly lastBrace: number;
}

function matchAt(text: string, at: number, { dialect, context, lastBrace }: Reading) {
  if (text[at] !== "$" && text[at] !== "{") return undefined;
  // A reference after the last closing brace is unterminated. Searching its end each time would take quadratic time.
  if (at > lastBrace && (text[at] === "{" || text[at + 1] === "{")) return undefined;
  for (const [pattern, read] of RULES[dialect]) {
    // A copy, because a sticky pattern has a mutable lastIndex.
    const rule = new RegExp(pattern);
    rule.lastIndex = at;
    const match = rule.exec(text);
    if (match !== null) return { length: match[0].length, written: match[0], meaning: read(match, context) };
  }
  return undefined;
}
