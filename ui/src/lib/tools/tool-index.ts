// The tool index in columns: ten thousand tools are filtered between two key presses.

import type { ToolIndex as ToolIndexAnswer } from "$api/tool.ts";

export interface ToolRow {
  readonly server: string;
  /** As a client of the group sees it. */
  readonly name: string;
  /** As its server calls it. */
  readonly tool: string;
  readonly title: string | null;
  readonly flags: number;
  readonly tokens: number;
}

export class ToolIndex {
  readonly rows: readonly ToolRow[];
  readonly servers: readonly string[];
  readonly tokens: number;
  /** What is searched, in lower case, one text per row. */
  readonly #texts: readonly string[];

  constructor(answer: ToolIndexAnswer) {
    this.servers = answer.servers;
    this.rows = answer.tools.map(([server, name, tool, title, flags, tokens]) => ({
      server: answer.servers[server] ?? "",
      name,
      tool,
      title,
      flags,
      tokens,
    }));
    this.tokens = this.rows.reduce((sum, row) => sum + row.tokens, 0);
    this.#texts = this.rows.map(({ server, name, tool, title }) =>
      `${server}: ${name} ${tool} ${title ?? ""}`.toLowerCase(),
    );
  }

  /** The numbers of the rows that contain every word. `server:` limits the search to that server. */
  search(query: string): number[] {
    const words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const servers = words.filter((word) => word.length > 1 && word.endsWith(":"));
    const rest = words.filter((word) => !servers.includes(word));
    const found: number[] = [];
    for (let row = 0; row < this.#texts.length; row++) {
      const text = this.#texts[row] ?? "";
      if (servers.every((server) => text.startsWith(server)) && rest.every((word) => text.includes(word)))
        found.push(row);
    }
    return found;
  }
}

/** Rows by their server, in the order in which they come. */
export function byServer<T extends { readonly server: string }>(rows: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const list = found.get(row.server);
    if (list === undefined) found.set(row.server, [row]);
    else list.push(row);
  }
  return found;
}
