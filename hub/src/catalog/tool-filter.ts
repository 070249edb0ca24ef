// The `tools` entries of a group: which tools of its servers it lets through. Naming them is left to names.ts.
import { matchesGlob, parseGlob } from "./glob.ts";

interface Entry {
  readonly text: string;
  /** Absent: any server. */
  readonly server?: readonly string[];
  readonly tool: readonly string[];
}

export class ToolFilter {
  readonly #entries: readonly Entry[];

  /** @example new ToolFilter(["search", "git:*", "*:read_*"]) */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map(parseEntry);
  }

  /** No entries let everything through. */
  admits(server: string, tool: string): boolean {
    return this.#entries.length === 0 || this.#entries.some((entry) => matches(entry, server, tool));
  }

  /** The entries that match none of these tools: most likely a slip of the pen. */
  unused(tools: readonly { readonly server: string; readonly tool: string }[]): string[] {
    return this.#entries
      .filter((entry) => !tools.some(({ server, tool }) => matches(entry, server, tool)))
      .map((entry) => entry.text);
  }
}

// A colon always ends the server's part. Otherwise a server could name a tool `git:push` and so slip through an entry
// that was meant for the server git. A tool with a colon in its own name is written `*:its:name`.
function parseEntry(text: string): Entry {
  const colon = text.indexOf(":");
  if (colon === -1) return { text, tool: parseGlob(text) };
  return { text, server: parseGlob(text.slice(0, colon)), tool: parseGlob(text.slice(colon + 1)) };
}

function matches(entry: Entry, server: string, tool: string): boolean {
  return (entry.server === undefined || matchesGlob(entry.server, server)) && matchesGlob(entry.tool, tool);
}
