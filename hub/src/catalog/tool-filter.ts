// The `tools` entries of a group: which tools of its servers it exposes.
import { matchesGlob, parseGlob } from "./glob.ts";

interface Entry {
  readonly text: string;
  /** Excludes its matches, even if another entry admits them. */
  readonly isExclusion: boolean;
  /** Undefined: any server. */
  readonly server?: readonly string[];
  readonly tool: readonly string[];
}

export class ToolFilter {
  readonly #entries: readonly Entry[];
  readonly #admitting: readonly Entry[];
  readonly #excluding: readonly Entry[];

  /** @example new ToolFilter(["search", "git:*", "!git:push", "*:read_*"]) */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map(parseEntry);
    this.#admitting = this.#entries.filter(({ isExclusion }) => !isExclusion);
    this.#excluding = this.#entries.filter(({ isExclusion }) => isExclusion);
  }

  /** Without admitting entries, all tools are admitted that are not excluded. */
  admits(server: string, tool: string): boolean {
    const isMatch = (entry: Entry) => matches(entry, server, tool);
    return (this.#admitting.length === 0 || this.#admitting.some(isMatch)) && !this.#excluding.some(isMatch);
  }

  /** The first entry that decides about a tool: an exclusion, else the one that admits it. Undefined: no entry matches. */
  deciding(server: string, tool: string): string | undefined {
    const isMatch = (entry: Entry) => matches(entry, server, tool);
    return (this.#excluding.find(isMatch) ?? this.#admitting.find(isMatch))?.text;
  }

  /** The entries that match none of these tools: probably typos. */
  unused(tools: readonly { readonly server: string; readonly tool: string }[]): string[] {
    return this.#entries
      .filter((entry) => !tools.some(({ server, tool }) => matches(entry, server, tool)))
      .map((entry) => entry.text);
  }
}

// The first colon always ends the server's part. Otherwise a server could name a tool `git:push` and match an entry that is meant
// for the server git. A tool with a colon in its own name is written `*:its:name`.
function parseEntry(text: string): Entry {
  const isExclusion = text.startsWith("!");
  const pattern = isExclusion ? text.slice(1) : text;
  const colon = pattern.indexOf(":");
  if (colon === -1) return { text, isExclusion, tool: parseGlob(pattern) };
  const server = parseGlob(pattern.slice(0, colon));
  return { text, isExclusion, server, tool: parseGlob(pattern.slice(colon + 1)) };
}

function matches(entry: Entry, server: string, tool: string): boolean {
  return (entry.server === undefined || matchesGlob(entry.server, server)) && matchesGlob(entry.tool, tool);
}
