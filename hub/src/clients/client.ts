// What there is to know about a program that has MCP servers in a config file of its own: where the file is, how it is
// written, which words it uses. One row for each stands in table.ts.

import type { Surroundings } from "../config/system-folders.ts";

/** What a text of the file may refer to; see template.ts. */
export type Dialect = "literal" | "shell" | "gemini" | "editor" | "continue" | "opencode";

/** How an entry is written; see own-entry.ts. */
export type Shape =
  | "plain"
  | "typed"
  | "zed"
  | "windsurf"
  | "gemini"
  | "codex"
  | "continue"
  | "cline"
  | "goose"
  | "opencode"
  | "copilot";

export type Format = "jsonc" | "toml" | "yaml";

/** `user`: all that the user does. `local`: one folder, for this user alone. `project`: it comes with the folder. */
export type Scope = "user" | "local" | "project";

export interface Client {
  readonly id: string;
  readonly name: string;
  readonly format: Format;
  /** The key that the servers stand under. */
  readonly root: readonly string[];
  /** The servers are a list whose items have a name, not a map. */
  readonly list?: true;
  readonly dialect: Dialect;
  readonly shape: Shape;
  /** False: it only launches programs. */
  readonly http: boolean;
  /** What `timeout` counts. */
  readonly timeoutUnit: "ms" | "s";
  /** Where its file may be; the first is where a new one belongs. */
  readonly files: (surroundings: Surroundings) => readonly string[];
  /** In a project's folder. */
  readonly projectFile?: string;
  /** What the user has to do before it sees a change, where it does not look itself. */
  readonly restart?: string;
  /** How many tools it takes. */
  readonly toolLimit?: number;
}
