// Describes an MCP client: where its config file is, in which format, and which keys it uses. client-table.ts has one row
// per client.

import type { PlatformContext } from "../config/files/system-folders.ts";
import type { Product } from "./products/product.ts";

/** The syntax of variable references in the file; see template.ts. */
export type Dialect =
  | "literal"
  | "shell"
  | "gemini"
  | "editor"
  | "continue"
  | "opencode"
  | "librechat"
  | "mcpproxy"
  | "supergateway";

/** How an entry is written; see hub-entry.ts. */
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

/** `user`: all folders of a user. `local`: one folder, in the user's file. `project`: a file in the folder. */
export type Scope = "user" | "local" | "project";

export interface Client {
  readonly id: string;
  readonly name: string;
  readonly format: Format;
  /** The path of the key that holds the servers. */
  readonly root: readonly string[];
  /** The servers are a list whose items have a name, not a map. */
  readonly list?: true;
  readonly dialect: Dialect;
  readonly shape: Shape;
  /** False if the client supports stdio servers only. */
  readonly http: boolean;
  /** The unit of `timeout`. */
  readonly timeoutUnit: "ms" | "s";
  /** Possible paths of its file. A new file is created at the first. */
  readonly files: (context: PlatformContext) => readonly string[];
  /** Relative to the project folder. */
  readonly projectFile?: string;
  /** The user's action to apply a change, if the client does not watch its file. */
  readonly restart?: string;
  /** The redirect URI of its OAuth clients, unless an entry has another. */
  readonly redirectUri?: string;
  /** Whether it searches large lists of tools by itself, and so needs all of them. */
  readonly searchesTools?: true;
  /** The maximum number of tools. */
  readonly toolLimit?: number;
  /** Of another hub or gateway: how its file is read, which has more than servers. */
  readonly product?: Product;
}
