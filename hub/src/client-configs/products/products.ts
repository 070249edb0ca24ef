// Other hubs and gateways that servers, groups and settings can be imported from.

import { posix, win32 } from "node:path";
import { roamingFolder, type PlatformContext } from "../../config/files/system-folders.ts";
import type { Client } from "../client.ts";
import { mcphub } from "./mcphub.ts";
import { mcpProxy } from "./mcp-proxy.ts";
import { mcpproxyGo } from "./mcpproxy-go.ts";
import { metamcp } from "./metamcp.ts";
import { oneMcp } from "./one-mcp.ts";
import { supergateway } from "./supergateway.ts";

const COMMON = {
  format: "jsonc",
  root: ["mcpServers"],
  shape: "plain",
  timeoutUnit: "ms",
  http: true,
  files: () => [],
} as const;

export const PRODUCTS: readonly Client[] = [
  {
    ...COMMON,
    id: "mcphub",
    name: "MCPHub",
    dialect: "gemini",
    // The variable names the file or its folder.
    files: (context) => {
      const given = context.env["MCPHUB_SETTING_PATH"];
      return given ? [given, pathOf(context).join(given, "mcp_settings.json")] : [];
    },
    projectFile: "mcp_settings.json",
    product: mcphub,
  },
  { ...COMMON, id: "metamcp", name: "MetaMCP", dialect: "shell", product: metamcp },
  {
    ...COMMON,
    id: "mcpproxy-go",
    name: "mcpproxy-go",
    dialect: "mcpproxy",
    files: (context) => [pathOf(context).join(context.home, ".mcpproxy", "mcp_config.json")],
    product: mcpproxyGo,
  },
  {
    ...COMMON,
    id: "1mcp",
    name: "1MCP",
    dialect: "gemini",
    files: (context) => {
      const path = pathOf(context);
      const folder =
        context.env["ONE_MCP_CONFIG_DIR"] ??
        (context.platform === "win32"
          ? path.join(roamingFolder(context), "1mcp")
          : path.join(context.home, ".config", "1mcp"));
      return [path.join(folder, "mcp.json")];
    },
    product: oneMcp,
  },
  { ...COMMON, id: "mcp-proxy", name: "mcp-proxy", dialect: "literal", product: mcpProxy },
  { ...COMMON, id: "supergateway", name: "supergateway", dialect: "supergateway", product: supergateway },
];

function pathOf({ platform }: PlatformContext): typeof posix {
  return platform === "win32" ? win32 : posix;
}
