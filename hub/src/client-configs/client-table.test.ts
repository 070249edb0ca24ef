import { describe, expect, it } from "vitest";
import { CLIENTS, clientsNamed } from "./client-table.ts";

const linux = { platform: "linux", home: "/home/me", env: {} } as const;
const mac = { platform: "darwin", home: "/Users/me", env: {} } as const;
const windows = { platform: "win32", home: "C:\\Users\\me", env: {} } as const;

function firstFile(id: string, context: Parameters<(typeof CLIENTS)[number]["files"]>[0]): string | undefined {
  return clientsNamed([id])[0]?.files(context)[0];
}

describe("CF-11 paths of client files", () => {
  it.each([
    ["claude-desktop", linux, "/home/me/.config/Claude/claude_desktop_config.json"],
    ["claude-desktop", mac, "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"],
    ["claude-desktop", windows, "C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json"],
    ["claude-code", linux, "/home/me/.claude.json"],
    ["claude-code", { ...linux, env: { CLAUDE_CONFIG_DIR: "/c" } }, "/c/.claude.json"],
    ["cursor", windows, "C:\\Users\\me\\.cursor\\mcp.json"],
    ["vscode", linux, "/home/me/.config/Code/User/mcp.json"],
    ["vscode", mac, "/Users/me/Library/Application Support/Code/User/mcp.json"],
    ["vscode", { ...linux, env: { XDG_CONFIG_HOME: "/x" } }, "/x/Code/User/mcp.json"],
    ["vscode", { ...linux, env: { XDG_CONFIG_HOME: "relative" } }, "/home/me/.config/Code/User/mcp.json"],
    ["zed", linux, "/home/me/.config/zed/settings.json"],
    ["zed", { ...linux, env: { XDG_CONFIG_HOME: "/x" } }, "/x/zed/settings.json"],
    ["zed", mac, "/Users/me/.config/zed/settings.json"],
    ["zed", windows, "C:\\Users\\me\\AppData\\Roaming\\Zed\\settings.json"],
    ["windsurf", linux, "/home/me/.codeium/windsurf/mcp_config.json"],
    ["gemini", linux, "/home/me/.gemini/settings.json"],
    ["codex", linux, "/home/me/.codex/config.toml"],
    ["codex", { ...linux, env: { CODEX_HOME: "/c" } }, "/c/config.toml"],
    ["goose", windows, "C:\\Users\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml"],
    ["opencode", { ...linux, env: { OPENCODE_CONFIG: "/o.json" } }, "/o.json"],
    ["copilot-cli", { ...linux, env: { COPILOT_HOME: "/c" } }, "/c/mcp-config.json"],
  ] as const)("%s", (id, context, expected) => {
    expect(firstFile(id, context)).toBe(expected);
  });

  it("Claude Desktop from the Windows Store has a separate folder", () => {
    const [, second] = clientsNamed(["claude-desktop"])[0]?.files(windows) ?? [];
    expect(second).toContain("AppData\\Local\\Packages\\Claude_");
  });

  it("an unknown client is an error that lists the known clients", () => {
    expect(() => clientsNamed(["cursor", "emacs"])).toThrow(expect.objectContaining({ kind: "InvalidArgument" }));
    expect(new Set(CLIENTS.map(({ id }) => id)).size).toBe(CLIENTS.length);
  });
});
