// What people paste from READMEs, docs and other clients.

import { describe, expect, it } from "vitest";
import { parseServers } from "./parse-text.ts";
import { isPlaceholder } from "./placeholder.ts";
import { splitWords } from "../lib/shell-words.ts";
import { understand } from "./understand.ts";

const CONTEXT = { env: {}, platform: "linux", home: "/home/ann" } as const;

async function read(text: string) {
  const { format, servers } = await parseServers(text, { path: process.env["PATH"], home: CONTEXT.home });
  return { format, servers: servers.map((server) => understand(server, server.name, CONTEXT)) };
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const TIME = { command: "uvx", args: ["mcp-server-time"] };

describe("formats", () => {
  it.each<[text: string, format: string, name: string, entry: object, understood: string]>([
    [
      "npx -y @modelcontextprotocol/server-filesystem ~/work",
      "command",
      "filesystem",
      { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/ann/work"] },
      "npm package @modelcontextprotocol/server-filesystem, run by npx, argument /home/ann/work",
    ],
    ["$ uvx mcp-server-time", "command", "time", TIME, "Python package mcp-server-time, run by uvx"],
    ["uvx:mcp-server-time", "package", "time", TIME, "Python package mcp-server-time, run by uvx"],
    [
      "@acme/tickets",
      "package",
      "tickets",
      { command: "npx", args: ["-y", "@acme/tickets"] },
      "npm package @acme/tickets, run by npx",
    ],
    [
      "https://mcp.sentry.dev/mcp",
      "address",
      "sentry",
      { url: "https://mcp.sentry.dev/mcp" },
      "Remote server at https://mcp.sentry.dev/mcp, over Streamable HTTP",
    ],
    [
      '```json\n{ "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"], }, } } // comment\n```',
      "json",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      '"time": { "command": "uvx", "args": ["mcp-server-time"] }',
      "json",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      '{"mcp": {"servers": {"time": {"type": "stdio", "command": "uvx", "args": ["mcp-server-time"]}}}}',
      "json",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      '[mcp_servers.time]\ncommand = "uvx"\nargs = ["mcp-server-time"]',
      "toml",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      "mcpServers:\n  - name: time\n    command: uvx\n    args: [mcp-server-time]",
      "yaml",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      `cursor://anysphere.cursor-deeplink/mcp/install?name=time&config=${encoded(TIME)}`,
      "link",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      `https://cursor.com/en/install-mcp?name=time&config=${encodeURIComponent(encoded(TIME))}`,
      "link",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "time", ...TIME }))}`,
      "link",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      `https://insiders.vscode.dev/redirect/mcp/install?name=time&config=${encodeURIComponent(JSON.stringify(TIME))}`,
      "link",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      "claude mcp add -s user time -- uvx mcp-server-time",
      "client command",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      "claude mcp add --transport http sentry https://mcp.sentry.dev/mcp",
      "client command",
      "sentry",
      { type: "http", url: "https://mcp.sentry.dev/mcp" },
      "Remote server at https://mcp.sentry.dev/mcp, over Streamable HTTP",
    ],
    [
      `claude mcp add-json time '${JSON.stringify(TIME)}'`,
      "client command",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      "codex mcp add time -- uvx mcp-server-time",
      "client command",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      `code --add-mcp '${JSON.stringify({ name: "time", ...TIME })}'`,
      "client command",
      "time",
      TIME,
      "Python package mcp-server-time, run by uvx",
    ],
    [
      "docker run --rm -i mcp/time --zone UTC",
      "command",
      "time",
      { command: "docker", args: ["run", "--rm", "-i", "mcp/time", "--zone", "UTC"] },
      "Container image mcp/time, run by docker, arguments --zone UTC",
    ],
    [
      "node /srv/weather/dist/index.js",
      "command",
      "weather",
      { command: "node", args: ["/srv/weather/dist/index.js"] },
      "Program node, argument /srv/weather/dist/index.js",
    ],
  ])("%s", async (text, format, name, entry, understood) => {
    expect(await read(text)).toEqual({
      format,
      servers: [expect.objectContaining({ name, entry, understood, variables: [], warnings: [] })],
    });
  });

  it("a config may have several servers", async () => {
    const { servers } = await read(
      JSON.stringify({ mcpServers: { a: { command: "x" }, b: { url: "https://b.example" } } }),
    );
    expect(servers.map(({ name, entry }) => [name, entry])).toEqual([
      ["a", { command: "x" }],
      ["b", { url: "https://b.example" }],
    ]);
  });

  it.each([
    ["hello there", /Cannot tell what "hello there" is/],
    ["{ not json", /text:1:\d+: not valid JSON/],
    ["{}", /no MCP server/],
    ['{"mcpServers": {}}', /no MCP server/],
    ["npx 'a", /quote/],
    ["npx", /Missing server after npx/],
    ["claude mcp add", /names no server/],
    ["cursor://anysphere.cursor-deeplink/mcp/install?name=x", /no config/],
    ["https://example.com/mcp --flag", /no arguments/],
    ["   ", /empty/],
  ])("%j is an error that says what was not understood", async (text, message) => {
    await expect(read(text)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      code: "VALIDATION_ERROR",
    });
  });
});

describe("variables", () => {
  it.each<[text: string, variables: object[], entry: object]>([
    [
      "GITHUB_TOKEN=<YOUR_TOKEN> MODE=fast npx -y x",
      [
        { name: "GITHUB_TOKEN", required: true, secret: true },
        { name: "MODE", required: false, secret: false, value: "fast" },
      ],
      { command: "npx", args: ["-y", "x"], env: { MODE: "fast" } },
    ],
    [
      "docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN ghcr.io/github/github-mcp-server",
      [{ name: "GITHUB_PERSONAL_ACCESS_TOKEN", required: true, secret: true }],
      {
        command: "docker",
        args: ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      },
    ],
    [
      'claude mcp add --transport http tickets https://t.example/mcp -H "Authorization: Bearer YOUR_TOKEN"',
      [{ name: "AUTHORIZATION", required: true, secret: true }],
      { type: "http", url: "https://t.example/mcp", headers: { Authorization: "Bearer ${AUTHORIZATION}" } },
    ],
    [
      JSON.stringify({
        inputs: [{ type: "promptString", id: "key", description: "The key of Figma", password: true }],
        servers: { figma: { command: "npx", args: ["-y", "figma"], env: { FIGMA_KEY: "${input:key}" } } },
      }),
      [{ name: "FIGMA_KEY", required: true, secret: true, description: "The key of Figma" }],
      { command: "npx", args: ["-y", "figma"] },
    ],
    [
      JSON.stringify({ command: "x", env: { A: { secretRef: "a" }, B: { value: "b", isSecret: true } } }),
      [
        { name: "A", required: false, secret: true },
        { name: "B", required: false, secret: true, value: "b" },
      ],
      { command: "x", env: { A: { secretRef: "a" }, B: { value: "b", isSecret: true } } },
    ],
  ])("of %s", async (text, variables, entry) => {
    const { servers } = await read(text);
    expect(servers.map((server) => [server.variables, server.entry])).toEqual([[variables, entry]]);
  });

  it("a setting that gives access to the host is a warning", async () => {
    const { servers } = await read("docker run -i -v /var/run/docker.sock:/var/run/docker.sock acme/mcp");
    expect(servers[0]?.warnings).toEqual([expect.stringMatching(/^The hub refuses to add it: /)]);
  });

  it.each(["<token>", "YOUR_API_KEY", "your-token-here", "xxxx", "...", "", "[key]"])("%j is a placeholder", (text) => {
    expect(isPlaceholder(text)).toBe(true);
  });

  it.each(["sk-12345", "${TOKEN}", "production", "/home/ann"])("%j is a value", (text) => {
    expect(isPlaceholder(text)).toBe(false);
  });
});

describe("words of a command line", () => {
  it.each([
    [`a "b c" 'd "e"'`, ["a", "b c", 'd "e"']],
    ["npx \\\n  -y x", ["npx", "-y", "x"]],
    ["a\\ b", ["a b"]],
    ['"a\\"b"', ['a"b']],
    ["C:\\tools\\server.exe --x", ["C:\\tools\\server.exe", "--x"]],
    ["''", [""]],
  ])("%s", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});
