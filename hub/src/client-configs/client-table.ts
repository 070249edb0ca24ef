// The table of clients that the hub can import servers from and be installed into. client.ts documents the fields.

import { posix, win32 } from "node:path";
import {
  localFolder,
  roamingFolder,
  supportFolder,
  xdgFolder,
  type PlatformContext,
} from "../config/files/system-folders.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { HubError } from "../errors.ts";
import type { Client } from "./client.ts";
import { PRODUCTS } from "./products/products.ts";

/** A path below the home folder, the same on every platform. */
const inHome =
  (...parts: string[]) =>
  (context: PlatformContext): readonly string[] => [pathOf(context).join(context.home, ...parts)];

/** A path below the folder that a variable names, or below its default. */
const inFolderOf =
  (variable: string, defaultFolder: readonly string[], ...parts: string[]) =>
  (context: PlatformContext): readonly string[] => {
    const path = pathOf(context);
    return [path.join(context.env[variable] || path.join(context.home, ...defaultFolder), ...parts)];
  };

/** A path below the platform's folder for application data. */
const inAppData =
  (...parts: string[]) =>
  (context: PlatformContext): readonly string[] => [pathOf(context).join(appData(context), ...parts)];

const either =
  (...lists: readonly Client["files"][]) =>
  (context: PlatformContext): readonly string[] =>
    lists.flatMap((files) => files(context));

const CLINE = ["globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"];
const MSIX = ["Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", "claude_desktop_config.json"];

const PLAIN = { format: "jsonc", root: ["mcpServers"], timeoutUnit: "ms", http: true } as const;

/** Clients that support fewer tools than a group lists for them. */
export function clientsWithFewerTools({ tools, isSearched }: ListedTools): ClientLimit[] {
  return CLIENTS.flatMap(({ id, name: title, toolLimit: limit, searchesTools }) =>
    limit === undefined || tools <= limit || (isSearched && searchesTools !== true)
      ? []
      : [{ client: id, title, limit }],
  );
}

export interface ListedTools {
  readonly tools: number;
  /** Clients that do not search by themselves get a few tools that search these. */
  readonly isSearched: boolean;
}

interface ClientLimit {
  readonly client: string;
  readonly title: string;
  readonly limit: number;
}

export const CLIENTS: readonly Client[] = [
  {
    ...PLAIN,
    id: "claude-desktop",
    name: "Claude Desktop",
    dialect: "literal",
    shape: "plain",
    // Its file supports stdio servers only.
    http: false,
    files: either(inAppData("Claude", "claude_desktop_config.json"), (context) =>
      // The Windows Store build uses a separate folder.
      context.platform === "win32" ? [win32.join(localFolder(context), ...MSIX)] : [],
    ),
    restart: "quit and start Claude Desktop",
  },
  {
    ...PLAIN,
    id: "claude-code",
    name: "Claude Code",
    dialect: "shell",
    shape: "typed",
    files: inFolderOf("CLAUDE_CONFIG_DIR", [], ".claude.json"),
    projectFile: ".mcp.json",
    restart: "start a new session",
    searchesTools: true,
  },
  {
    ...PLAIN,
    id: "cursor",
    name: "Cursor",
    dialect: "editor",
    shape: "plain",
    files: inHome(".cursor", "mcp.json"),
    projectFile: ".cursor/mcp.json",
    restart: "switch it on in Cursor's MCP settings",
    toolLimit: 40,
  },
  {
    ...PLAIN,
    id: "vscode",
    name: "VS Code",
    root: ["servers"],
    dialect: "editor",
    shape: "typed",
    files: either(
      inAppData("Code", "User", "mcp.json"),
      inAppData("Code - Insiders", "User", "mcp.json"),
      inHome(".vscode-server", "data", "User", "mcp.json"),
    ),
    projectFile: ".vscode/mcp.json",
    restart: "start it with MCP: List Servers",
    searchesTools: true,
    toolLimit: 128,
  },
  {
    ...PLAIN,
    id: "zed",
    name: "Zed",
    root: ["context_servers"],
    dialect: "literal",
    shape: "zed",
    files: (context) => [
      context.platform === "win32"
        ? win32.join(appData(context), "Zed", "settings.json")
        : posix.join(
            context.platform === "darwin" ? posix.join(context.home, ".config") : xdgConfig(context),
            "zed",
            "settings.json",
          ),
    ],
    projectFile: ".zed/settings.json",
  },
  {
    ...PLAIN,
    id: "windsurf",
    name: "Windsurf",
    dialect: "editor",
    shape: "windsurf",
    files: either(
      inHome(".codeium", "windsurf", "mcp_config.json"),
      inHome(".codeium", "windsurf-next", "mcp_config.json"),
      inHome(".codeium", "mcp_config.json"),
    ),
    restart: "refresh the list in Windsurf's MCP settings",
    toolLimit: 100,
  },
  {
    ...PLAIN,
    id: "gemini",
    name: "Gemini CLI",
    dialect: "gemini",
    shape: "gemini",
    files: inHome(".gemini", "settings.json"),
    projectFile: ".gemini/settings.json",
    redirectUri: "http://localhost:7777/oauth/callback",
    restart: "start a new session",
  },
  {
    ...PLAIN,
    id: "codex",
    name: "Codex",
    format: "toml",
    root: ["mcp_servers"],
    dialect: "literal",
    shape: "codex",
    files: inFolderOf("CODEX_HOME", [".codex"], "config.toml"),
    projectFile: ".codex/config.toml",
    restart: "start a new session",
  },
  {
    ...PLAIN,
    id: "cline",
    name: "Cline",
    dialect: "literal",
    shape: "cline",
    timeoutUnit: "s",
    files: either(
      inAppData("Code", "User", ...CLINE),
      inAppData("Cursor", "User", ...CLINE),
      inFolderOf("CLINE_DIR", [".cline"], "data", "settings", "cline_mcp_settings.json"),
    ),
  },
  {
    ...PLAIN,
    id: "lmstudio",
    name: "LM Studio",
    dialect: "literal",
    shape: "plain",
    files: either(inHome(".lmstudio", "mcp.json"), inHome(".cache", "lm-studio", "mcp.json")),
  },
  {
    ...PLAIN,
    id: "kiro",
    name: "Kiro",
    dialect: "shell",
    shape: "plain",
    files: inHome(".kiro", "settings", "mcp.json"),
    projectFile: ".kiro/settings/mcp.json",
  },
  {
    ...PLAIN,
    id: "copilot-cli",
    name: "Copilot CLI",
    dialect: "literal",
    shape: "copilot",
    files: inFolderOf("COPILOT_HOME", [".copilot"], "mcp-config.json"),
    restart: "start a new session",
  },
  {
    ...PLAIN,
    id: "continue",
    name: "Continue",
    format: "yaml",
    list: true,
    dialect: "continue",
    shape: "continue",
    files: inHome(".continue", "config.yaml"),
    restart: "reload Continue",
  },
  {
    ...PLAIN,
    id: "goose",
    name: "Goose",
    format: "yaml",
    root: ["extensions"],
    dialect: "literal",
    shape: "goose",
    timeoutUnit: "s",
    files: (context) => [
      context.platform === "win32"
        ? win32.join(appData(context), "Block", "goose", "config", "config.yaml")
        : posix.join(xdgConfig(context), "goose", "config.yaml"),
    ],
    restart: "start a new session",
  },
  {
    ...PLAIN,
    id: "opencode",
    name: "OpenCode",
    root: ["mcp"],
    dialect: "opencode",
    shape: "opencode",
    files: (context) => {
      const path = pathOf(context);
      const folder = context.platform === "win32" ? win32.join(context.home, ".config") : xdgConfig(context);
      const given = context.env["OPENCODE_CONFIG"];
      const defaults = ["opencode.json", "opencode.jsonc"].map((name) => path.join(folder, "opencode", name));
      return given ? [given, ...defaults] : defaults;
    },
    projectFile: "opencode.json",
    restart: "start a new session",
  },
];

/** The clients, and programs that the hub can import from but not be installed into. */
export const IMPORTABLE: readonly Client[] = [
  ...CLIENTS,
  {
    ...PLAIN,
    id: "librechat",
    name: "LibreChat",
    format: "yaml",
    dialect: "librechat",
    shape: "plain",
    // The file is in the folder that LibreChat runs in.
    files: () => [],
    projectFile: "librechat.yaml",
  },
  ...PRODUCTS,
];

/** The clients with these ids, in table order. */
export function clientsNamed(ids: readonly string[], known: readonly Client[] = CLIENTS): Client[] {
  for (const id of ids) {
    if (known.some((client) => client.id === id)) continue;
    throw new HubError("InvalidArgument", `There is no client ${JSON.stringify(id)}`, {
      field: "client",
      hint: didYouMean(
        id,
        known.map((client) => client.id),
        "Clients",
      ),
    });
  }
  return known.filter((client) => ids.includes(client.id));
}

function pathOf({ platform }: PlatformContext): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function appData(context: PlatformContext): string {
  if (context.platform === "win32") return roamingFolder(context);
  return context.platform === "darwin" ? supportFolder(context) : xdgConfig(context);
}

function xdgConfig(context: PlatformContext): string {
  return xdgFolder(context, "XDG_CONFIG_HOME", ".config");
}
