// Other programs with a part of the hub's features, each started as documented.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programOf } from "../places.ts";
import { install, type Package } from "./install.ts";
import { mcpUrl, type Entry, type Launch, type Stage, type Target } from "./target.ts";

export const PACKAGES: Readonly<Record<"mcpHub" | "mcpProxy" | "supergateway", Package>> = {
  mcpHub: { name: "mcp-hub", version: "4.2.1", bin: "dist/cli.js" },
  mcpProxy: { name: "mcp-proxy", version: "6.7.19", bin: "dist/bin/mcp-proxy.mjs" },
  supergateway: { name: "supergateway", version: "4.0.0", bin: "dist/index.js" },
};

/** Its MCP front is HTTP+SSE of 2024-11-05. */
export const mcpHub = peer(PACKAGES.mcpHub, async (program, { folder, port, upstreams }) => {
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify({ mcpServers: upstreams }));
  return {
    command: [process.execPath, ...ON_LOOPBACK, program, "--port", String(port), "--config", config],
    env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_STATE_HOME: folder },
    face: { kind: "sse", url: mcpUrl(port) },
  };
});

/** One stdio server behind HTTP. */
export const mcpProxy = peer(PACKAGES.mcpProxy, async (program, { port, upstreams }) => {
  const line = onlyCommand(upstreams);
  if (line === undefined) return undefined;
  const options = ["--host", "127.0.0.1", "--port", String(port), "--server", "stream"];
  return { command: [process.execPath, program, ...options, "--", ...line], face: { kind: "http", url: mcpUrl(port) } };
});

/** One stdio server behind HTTP, with a process for each session. */
export const supergateway = peer(PACKAGES.supergateway, async (program, { port, upstreams }) => {
  const line = onlyCommand(upstreams);
  if (line === undefined) return undefined;
  const options = ["--outputTransport", "streamableHttp", "--stateful", "--port", String(port), "--logLevel", "none"];
  return {
    command: [process.execPath, ...ON_LOOPBACK, program, "--stdio", line.join(" "), ...options],
    face: { kind: "http", url: mcpUrl(port) },
  };
});

/** The reverse: an HTTP server on stdin and stdout. */
export const supergatewayBridge = peer(
  PACKAGES.supergateway,
  async (program, { upstreams }) => {
    const [only] = Object.values(upstreams);
    if (only === undefined || !("url" in only)) return undefined;
    const options = ["--streamableHttp", only.url, "--logLevel", "none"];
    return { command: [process.execPath, program, ...options], face: { kind: "stdio" } };
  },
  "supergateway stdio",
);

const ON_LOOPBACK = ["--import", programOf("targets/loopback")];

function peer(
  pack: Package,
  launch: (program: string, stage: Stage) => Promise<Launch | undefined>,
  name = pack.name,
): Target {
  return {
    name,
    launch: async (stage) => {
      const program = stage.clientEra === "legacy" ? await install(pack) : undefined;
      return program === undefined ? undefined : launch(program, stage);
    },
  };
}

function onlyCommand(upstreams: Readonly<Record<string, Entry>>): readonly string[] | undefined {
  const [only, ...others] = Object.values(upstreams);
  if (only === undefined || others.length > 0 || !("command" in only)) return undefined;
  return [only.command, ...only.args];
}
