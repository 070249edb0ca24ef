import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { toTarget, wordsAfterDashes } from "./add.ts";
import { fromCommand, parseTarget } from "./target.ts";

const cwd = "/project";

describe("targets", () => {
  it.each([
    [
      "@modelcontextprotocol/server-memory",
      "memory",
      { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] },
    ],
    ["@acme/mcp-postgres@1.2.3", "postgres", { command: "npx", args: ["-y", "@acme/mcp-postgres@1.2.3"] }],
    ["firecrawl-mcp", "firecrawl", { command: "npx", args: ["-y", "firecrawl-mcp"] }],
    ["npm:tool@latest", "tool", { command: "npx", args: ["-y", "tool@latest"] }],
    ["uvx:mcp-server-time", "time", { command: "uvx", args: ["mcp-server-time"] }],
    ["uvx:mcp-server-git[extra]==1.0", "git", { command: "uvx", args: ["mcp-server-git[extra]==1.0"] }],
    ["docker:mcp/time", "time", { command: "docker", args: ["run", "--rm", "-i", "mcp/time"] }],
    [
      "docker:ghcr.io/acme/mcp-db:1.0",
      "db",
      { command: "docker", args: ["run", "--rm", "-i", "ghcr.io/acme/mcp-db:1.0"] },
    ],
    ["./bin/my-server", "my", { command: "/project/bin/my-server" }],
    ["/opt/tool.exe", "tool", { command: "/opt/tool.exe" }],
    ["https://mcp.sentry.dev/mcp", "sentry", { url: "https://mcp.sentry.dev/mcp" }],
    ["http://127.0.0.1:8080/mcp", "local", { url: "http://127.0.0.1:8080/mcp" }],
    ["wss://api.example.com/ws", "example", { url: "wss://api.example.com/ws" }],
    ['{"command": "node", "args": ["a.js"]}', "a", { command: "node", args: ["a.js"] }],
    ['{"name": "x", "url": "https://a.example"}', "x", { url: "https://a.example" }],
    ['{"mcpServers": {"y": {"command": "z"}}}', "y", { command: "z" }],
    ['{"y": {"url": "https://a.example"}}', "y", { url: "https://a.example" }],
  ])("%s is called %s", (text, name, entry) => {
    expect(parseTarget(text, { cwd })).toEqual({ name, entry });
  });

  it("arguments go to the server", () => {
    expect(parseTarget("uvx:a", { cwd, args: ["--x", "1"] }).entry).toEqual({
      command: "uvx",
      args: ["a", "--x", "1"],
    });
  });

  it.each([
    "",
    "a b",
    "$(x)",
    "-x y",
    "{",
    "[1]",
    '{"mcpServers": {}}',
    '{"mcpServers": {"a": {}, "b": {}}}',
    '{"y": 1, "z": {}}x',
  ])("%j is refused", (text) => {
    expect(() => parseTarget(text, { cwd })).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
  });

  it.each([
    [
      ["node", "./server.js", "--port", "0"],
      "server",
      { command: "node", args: ["/project/server.js", "--port", "0"] },
    ],
    [["npx", "-y", "@acme/server-git@2"], "git", { command: "npx", args: ["-y", "@acme/server-git@2"] }],
    [["python3", "-m", "mcp_server_time"], "time", { command: "python3", args: ["-m", "mcp_server_time"] }],
    [["../tool"], "tool", { command: "/tool" }],
  ])("the command %j is called %s", (words, name, entry) => {
    expect(fromCommand(words, cwd)).toEqual({ name, entry });
  });
});

describe("plugboard add", () => {
  const stdin = () => Object.assign(new PassThrough(), {});
  const target = (...args: string[]) => {
    const operands = args.filter((word) => word !== "--");
    return toTarget({ stdin: stdin() }, operands, wordsAfterDashes(args));
  };

  it.each([
    [["uvx:a"], "a", ["a"]],
    [["uvx:a", "b"], "b", ["a"]],
    [["uvx:a", "b", "--", "-x"], "b", ["a", "-x"]],
    [["b", "--", "uvx", "a"], "b", ["a"]],
    [["--", "uvx", "a"], "a", ["a"]],
  ])("%j", async (words, name, args) => {
    expect(await target(...words)).toEqual({ name, entry: { command: "uvx", args } });
  });

  it("reads JSON from stdin for -", async () => {
    const input = stdin();
    input.end('{"command": "x"}');
    expect(await toTarget({ stdin: input }, ["-", "n"], undefined)).toEqual({ name: "n", entry: { command: "x" } });
  });

  it.each([[[]], [["a", "b", "c"]]])("%j is refused with a hint", async (words) => {
    await expect(target(...words)).rejects.toMatchObject({ code: "VALIDATION_ERROR", hint: expect.any(String) });
  });
});
