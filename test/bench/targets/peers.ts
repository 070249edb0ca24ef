// Other programs with a part of the hub's features, each started as documented.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programOf } from "../places.ts";
import { install, type Package } from "./install.ts";
import { mcpUrl, type Entry, type Launch, type Stage, type Target } from "./target.ts";

const PACKAGES = {
  mcpHub: { from: "npm", name: "mcp-hub", version: "4.2.1", bin: "dist/cli.js" },
  mcpProxy: { from: "npm", name: "mcp-proxy", version: "6.7.19", bin: "dist/bin/mcp-proxy.mjs" },
  supergateway: { from: "npm", name: "supergateway", version: "4.0.0", bin: "dist/index.js" },
  rust: { from: "crates.io", name: "mcp-proxy", version: "0.6.0", bin: "mcp-proxy" },
  go: { from: "go", name: "github.com/TBXark/mcp-proxy", version: "0.43.2", bin: "mcp-proxy" },
  python: { from: "pypi", name: "mcp-proxy", version: "0.13.0", bin: "mcp-proxy" },
} as const satisfies Record<string, Package>;

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

/** Three programs have this name besides the one from npm. This one routes servers, with limits and metrics, and records nothing. */
export const rustProxy = peer(
  PACKAGES.rust,
  async (program, { folder, port, upstreams }) => {
    const config = join(folder, "proxy.toml");
    const backends = Object.entries(upstreams).map(([name, entry]) => [
      "[[backends]]",
      `name = "${name}"`,
      ...lines(entry),
    ]);
    const proxy = [
      "[proxy]",
      'name = "bench"',
      'version = "1"',
      "[proxy.listen]",
      'host = "127.0.0.1"',
      `port = ${port}`,
    ];
    await writeFile(config, `${[proxy, ...backends].flat().join("\n")}\n`);
    return { command: [program, "--config", config], face: { kind: "http", url: mcpUrl(port, "/") } };
  },
  "mcp-proxy (Rust)",
);

function lines(entry: Entry): string[] {
  if ("url" in entry) return ['transport = "http"', `url = ${JSON.stringify(entry.url)}`];
  return ['transport = "stdio"', `command = ${JSON.stringify(entry.command)}`, `args = ${JSON.stringify(entry.args)}`];
}

/** Each server at an address of its own. */
export const goProxy = peer(
  PACKAGES.go,
  async (program, { folder, port, upstreams }) => {
    const [name, ...others] = Object.keys(upstreams);
    if (name === undefined || others.length > 0) return undefined;
    const config = join(folder, "config.json");
    const own = { baseURL: `http://127.0.0.1:${port}`, addr: `127.0.0.1:${port}`, name: "bench", version: "1" };
    const mcpServers = Object.fromEntries(
      Object.entries(upstreams).map(([each, entry]) => [
        each,
        "url" in entry ? { ...entry, transportType: "streamable-http" } : entry,
      ]),
    );
    await writeFile(config, JSON.stringify({ mcpProxy: { ...own, type: "streamable-http" }, mcpServers }));
    return { command: [program, "--config", config], face: { kind: "http", url: mcpUrl(port, `/${name}/mcp`) } };
  },
  "mcp-proxy (Go)",
);

/** One stdio server behind HTTP. */
export const pythonProxy = peer(
  PACKAGES.python,
  async (program, { port, upstreams }) => {
    const line = onlyCommand(upstreams);
    if (line === undefined) return undefined;
    const options = ["--host", "127.0.0.1", "--port", String(port), "--log-level", "ERROR"];
    return { command: [program, ...options, "--", ...line], face: { kind: "http", url: mcpUrl(port) } };
  },
  "mcp-proxy (Python)",
);

const ON_LOOPBACK = ["--import", programOf("targets/loopback")];

function peer(
  pack: Package,
  launch: (program: string, stage: Stage) => Promise<Launch | undefined>,
  name: string = pack.name,
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
