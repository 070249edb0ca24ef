// The clients that the hub can take servers from and be installed into: a row for each. What the words mean is in
// client.ts.

import { posix, win32 } from "node:path";
import { localFolder, roamingFolder, supportFolder, xdgFolder, type Surroundings } from "../config/system-folders.ts";
import { didYouMean } from "../did-you-mean.ts";
import { HubError } from "../errors.ts";
import type { Client } from "./client.ts";

/** One place in the home folder, the same everywhere. */
const inHome =
  (...parts: string[]) =>
  (place: Surroundings): readonly string[] => [pathOf(place).join(place.home, ...parts)];

/** In a folder that a variable may name. */
const inFolderOf =
  (variable: string, usual: readonly string[], ...parts: string[]) =>
  (place: Surroundings): readonly string[] => {
    const path = pathOf(place);
    return [path.join(place.env[variable] || path.join(place.home, ...usual), ...parts)];
  };

/** In the folder where programs with windows keep what is the user's. */
const inAppData =
  (...parts: string[]) =>
  (place: Surroundings): readonly string[] => [pathOf(place).join(appData(place), ...parts)];

const either =
  (...places: readonly Client["files"][]) =>
  (place: Surroundings): readonly string[] =>
    places.flatMap((files) => files(place));

const CLINE = ["globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"];
const MSIX = ["Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", "claude_desktop_config.json"];

const PLAIN = { format: "jsonc", root: ["mcpServers"], timeoutUnit: "ms", http: true } as const;

export const CLIENTS: readonly Client[] = [
  {
    ...PLAIN,
    id: "claude-desktop",
    name: "Claude Desktop",
    dialect: "literal",
    shape: "plain",
    // Its file knows programs only.
    http: false,
    files: either(inAppData("Claude", "claude_desktop_config.json"), (place) =>
      // The build of the Windows store has a place of its own.
      place.platform === "win32" ? [win32.join(localFolder(place), ...MSIX)] : [],
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
    toolLimit: 128,
  },
  {
    ...PLAIN,
    id: "zed",
    name: "Zed",
    root: ["context_servers"],
    dialect: "literal",
    shape: "zed",
    files: (place) => [
      place.platform === "win32"
        ? win32.join(appData(place), "Zed", "settings.json")
        : posix.join(
            place.platform === "darwin" ? posix.join(place.home, ".config") : xdgConfig(place),
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
    files: (place) => [
      place.platform === "win32"
        ? win32.join(appData(place), "Block", "goose", "config", "config.yaml")
        : posix.join(xdgConfig(place), "goose", "config.yaml"),
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
    files: (place) => {
      const path = pathOf(place);
      const folder = place.platform === "win32" ? win32.join(place.home, ".config") : xdgConfig(place);
      const given = place.env["OPENCODE_CONFIG"];
      const usual = ["opencode.json", "opencode.jsonc"].map((name) => path.join(folder, "opencode", name));
      return given ? [given, ...usual] : usual;
    },
    projectFile: "opencode.json",
    restart: "start a new session",
  },
];

/** The clients of these names, in the order of the table. */
export function clientsNamed(ids: readonly string[]): Client[] {
  for (const id of ids) {
    if (CLIENTS.some((client) => client.id === id)) continue;
    throw new HubError("InvalidConfig", `There is no client ${JSON.stringify(id)}`, {
      field: "client",
      hint: didYouMean(
        id,
        CLIENTS.map((client) => client.id),
        "Clients",
      ),
    });
  }
  return CLIENTS.filter((client) => ids.includes(client.id));
}

function pathOf({ platform }: Surroundings): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function appData(place: Surroundings): string {
  if (place.platform === "win32") return roamingFolder(place);
  return place.platform === "darwin" ? supportFolder(place) : xdgConfig(place);
}

function xdgConfig(place: Surroundings): string {
  return xdgFolder(place, "XDG_CONFIG_HOME", ".config");
}
