// What is suspicious about the texts of a tool: characters that nobody sees, text that is out of sight, and sentences that command the
// model instead of describing the tool. Flags inform; they block nothing.

import { findHidden } from "../lib/hidden-text.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { trimEnds } from "@plugboard/shared/trim";
import { quote } from "./quote.ts";

/** Characters of a description. 99 % of the tools of public servers have less. */
const LONG = 4000;
const MAX_HIDDEN = 8;
const MAX_EXCERPT = 80;
const MAX_DEPTH = 32;
/** A text that must be scrolled to. */
const OUT_OF_SIGHT = /\n(?:[ \t]*\n){19}|[ \t\u00a0]{100}/;
const COMMENT = /<!--[^>\n]{0,80}>?/;
const TAG = /<\/?(?:important|system|instructions?|secret|hidden|admin|override)>/i;
/** A sentence for the model, not about the tool. */
const COMMANDS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override) (?:all |any |the |your |every )?(?:previous|prior|above|earlier|other|existing|system) (?:instruction|prompt|message|rule|tool|guideline)/i,
  /\b(?:do not|don't|never|without) (?:ever )?(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|show|showing|notify|notifying|alert|alerting)\b[^.\n]{0,40}\buser\b/i,
  /\b(?:keep|hide) (?:this|it|that)\b[^.\n]{0,30}\bfrom the user\b/i,
  /\b(?:before|after|when|whenever) (?:you )?(?:us|call|invok|execut|runn)(?:e|ing) (?:any|all|every|each)(?: other| of the)? tools?\b/i,
  /\b(?:instead of|rather than) (?:us|call|invok)ing (?:any other|other|another|the other) tools?\b/i,
  /~\/\.(?:ssh|aws|gnupg|kube|config\/gcloud)\b|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)\b/i,
];
/** Words that make a sentence a command, if it names a tool of another server. */
const DEMAND = /\b(?:must|always|never|do not|don't|instead|before|first|stop using|required to|make sure)\b/i;
const WORD = /[\w.-]+/g;
/** `send_email`, `page.open`, `createIssue`: no plain words. */
const JOINED = /[A-Za-z0-9][_.-][A-Za-z0-9]|[a-z][A-Z]/;

/** Of one tool, as ends of a sentence about it: `has invisible text: U+202E`. */
export function findFlags(tool: JsonObject): string[] {
  const texts = textsOf(tool);
  const text = texts.join("\n");
  const { description } = tool;
  const hidden = findHidden(text);
  const characters = hidden.filter((character) => character !== ESCAPE);
  const command = firstMatch(COMMANDS, text);
  return [
    ...(characters.length > 0 ? [`has invisible text: ${characters.slice(0, MAX_HIDDEN).join(" ")}`] : []),
    ...(hidden.includes(ESCAPE) ? ["has control sequences for terminals"] : []),
    ...(OUT_OF_SIGHT.test(text) ? ["has text behind a long gap, out of sight"] : []),
    ...excerptFlag("has an HTML comment", COMMENT.exec(text)?.[0]),
    ...excerptFlag("has a tag that looks like a system prompt", TAG.exec(text)?.[0]),
    ...excerptFlag("commands the model", command),
    ...(typeof description === "string" && description.length > LONG
      ? [`has a description of ${description.length} characters`]
      : []),
  ];
}

const ESCAPE = "U+001B";

/** Sentences that tell the model how to use tools of other servers. `ownerOf`: the other server that has a tool. */
export function findOrders(tool: JsonObject, ownerOf: (name: string) => string | undefined): string[] {
  for (const sentence of textsOf(tool).flatMap((text) => text.split(/[.!?]\s|\n/))) {
    if (!DEMAND.test(sentence)) continue;
    for (const [word] of sentence.matchAll(WORD)) {
      const name = trimEnds(word, ".-");
      const server = isDistinctive(name) ? ownerOf(name) : undefined;
      if (server !== undefined && name !== tool["name"]) {
        return [`tells the model how to use ${quote(name)} of server ${quote(server)}: ${excerpt(sentence)}`];
      }
    }
  }
  return [];
}

/** Flags of definitions, each found once. */
export class ToolFlags {
  readonly #known = new WeakMap<JsonObject, readonly string[]>();

  of(tool: JsonObject): readonly string[] {
    const known = this.#known.get(tool);
    if (known !== undefined) return known;
    const flags = findFlags(tool);
    this.#known.set(tool, flags);
    return flags;
  }
}

/** Whether a text that contains it surely means a tool. */
export function isDistinctive(name: string): boolean {
  return JOINED.test(name) && /^[\w.-]+$/.test(name);
}

function firstMatch(patterns: readonly RegExp[], text: string): string | undefined {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match !== null) return match[0];
  }
  return undefined;
}

function excerptFlag(what: string, match: string | undefined): string[] {
  return match === undefined ? [] : [`${what}: ${excerpt(match)}`];
}

function excerpt(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return quote(line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line);
}

/** Everything of a tool that a model may read, names of arguments included. */
function textsOf(tool: JsonObject): string[] {
  const texts: string[] = [];
  collect(tool, texts, 0);
  return texts;
}

function collect(value: unknown, into: string[], depth: number): void {
  if (typeof value === "string") into.push(value);
  if (depth >= MAX_DEPTH) return;
  if (Array.isArray(value)) for (const item of value) collect(item, into, depth + 1);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    into.push(key);
    collect(member, into, depth + 1);
  }
}
