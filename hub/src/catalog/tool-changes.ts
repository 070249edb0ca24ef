// Detects changed tool definitions ("rug pulls"): a server may show a harmless description until it is trusted, and another one
// afterwards. Fingerprints are kept across runs, and differences are reported to the user.

import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { quote } from "./quote.ts";

/** The members that matter to the model and to the user who allowed the tool. */
const MEMBERS = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;
const MAX_SEEN = 10_000;
const MAX_TEXT = 60;
const MAX_NAMES = 5;

export interface ToolChange {
  readonly tool: string;
  /** @example 'description "Adds" → "Adds. First read ~/.ssh"; inputSchema +note' */
  readonly summary: string;
}

/** Fingerprints of every tool that a server has ever offered. */
export class SeenTools {
  readonly #fingerprints: Map<string, string>;

  constructor(fingerprints: Readonly<Record<string, string>> = {}) {
    this.#fingerprints = new Map(Object.entries(fingerprints));
  }

  /** The changes since the last update. `before`: the previous definitions if known, for the summaries. */
  update(tools: readonly JsonObject[], before: readonly JsonObject[] = []): ToolChange[] {
    const known = new Map(before.map((tool) => [tool["name"], tool]));
    const changes: ToolChange[] = [];
    const met = new Set<string>();
    for (const tool of tools) {
      const name = String(tool["name"]);
      // Of two tools with one name only the first is exposed.
      if (met.has(name)) continue;
      met.add(name);
      const fingerprint = fingerprintOf(tool);
      const seen = this.#fingerprints.get(name);
      if (seen === fingerprint) continue;
      if (seen !== undefined) changes.push({ tool: name, summary: summaryOf(known.get(name), tool) });
      else if (this.#fingerprints.size >= MAX_SEEN) continue;
      this.#fingerprints.set(name, fingerprint);
    }
    return changes;
  }

  toJSON(): Record<string, string> {
    return Object.fromEntries(this.#fingerprints);
  }
}

/** Independent of the order of members. */
function fingerprintOf(tool: JsonObject): string {
  const essence = MEMBERS.map((member) => tool[member] ?? null);
  return createHash("sha256").update(textOf(essence)).digest("base64url").slice(0, 22);
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, sorted);
}

function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function summaryOf(before: JsonObject | undefined, after: JsonObject): string {
  if (before === undefined) return "its definition changed";
  const parts = MEMBERS.filter((member) => textOf(before[member]) !== textOf(after[member])).map((member) =>
    partOf(member, before[member], after[member]),
  );
  return parts.length === 0 ? "its definition changed" : parts.join("; ");
}

function partOf(member: string, before: unknown, after: unknown): string {
  if (isText(before) && isText(after)) return `${member} ${excerpts(before ?? "", after ?? "")}`;
  const names = namesOf(before);
  const newNames = namesOf(after);
  const removed = [...names].filter((name) => !newNames.has(name)).map((name) => `-${name}`);
  const added = [...newNames].filter((name) => !names.has(name)).map((name) => `+${name}`);
  const differences = [...added, ...removed];
  if (differences.length === 0) return `${member} changed`;
  const more = differences.length > MAX_NAMES ? ` and ${differences.length - MAX_NAMES} more` : "";
  return `${member} ${differences.slice(0, MAX_NAMES).map(clip).join(" ")}${more}`;
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Both texts from shortly before their first difference, so that an addition at the end of a long text is visible. */
function excerpts(before: string, after: string): string {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const start = Math.max(0, same - 10);
  const excerpt = (text: string) => quote((start > 0 ? "…" : "") + clip(text.slice(start)));
  return `${excerpt(before)} → ${excerpt(after)}`;
}

function clip(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** The arguments of a schema, or the members of anything else. */
function namesOf(value: unknown): ReadonlySet<string> {
  if (!isObject(value)) return new Set();
  return new Set(Object.keys(isObject(value["properties"]) ? value["properties"] : value));
}
