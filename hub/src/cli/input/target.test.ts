import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { toTarget, wordsAfterDashes } from "./given-target.ts";
import { separateCommand } from "../../entry-input/launch-words.ts";
import { fromCommand, parseTarget } from "../../entry-input/target.ts";

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
    // The scope is used if the package name is generic.
    ["@playwright/mcp@latest", "playwright", { command: "npx", args: ["-y", "@playwright/mcp@latest"] }],
    ["@sentry/mcp-server", "sentry", { command: "npx", args: ["-y", "@sentry/mcp-server"] }],
    ["@upstash/context7-mcp", "context7", { command: "npx", args: ["-y", "@upstash/context7-mcp"] }],
    ["docker:acme/mcp", "acme", { command: "docker", args: ["run", "--rm", "-i", "acme/mcp"] }],
    ["npm:node", "node", { command: "npx", args: ["-y", "node"] }],
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
  ])("%s is named %s", (text, name, entry) => {
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
    // Names of launchers, which others could register as packages.
    "npx",
    "uvx",
    "node",
    "python3",
    "-x y",
    "{",
    "[1]",
    '{"mcpServers": {}}',
    '{"mcpServers": {"a": {}, "b": {}}}',
    '{"y": 1, "z": {}}x',
  ])("%j is rejected", (text) => {
    expect(() => parseTarget(text, { cwd })).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
  });

  it.each([
    [
      ["node", "./server.js", "--port", "0"],
      "project",
      { command: "node", args: ["/project/server.js", "--port", "0"] },
    ],
    [["npx", "-y", "@acme/server-git@2"], "git", { command: "npx", args: ["-y", "@acme/server-git@2"] }],
    [["python3", "-m", "mcp_server_time"], "time", { command: "python3", args: ["-m", "mcp_server_time"] }],
    [["../tool"], "tool", { command: "/tool" }],
    [["node", "/srv/weather/dist/index.js"], "weather", { command: "node", args: ["/srv/weather/dist/index.js"] }],
    [["pnpm", "dlx", "@acme/mcp"], "acme", { command: "pnpm", args: ["dlx", "@acme/mcp"] }],
    [["deno", "run", "-A", "npm:@x/y@1"], "y", { command: "deno", args: ["run", "-A", "npm:@x/y@1"] }],
    [
      ["docker", "run", "-i", "-e", "API_KEY", "ghcr.io/github/github-mcp-server:1"],
      "github",
      { command: "docker", args: ["run", "-i", "-e", "API_KEY", "ghcr.io/github/github-mcp-server:1"] },
    ],
  ])("the command %j is named %s", (words, name, entry) => {
    expect(fromCommand(words, cwd)).toEqual({ name, entry });
  });
});

describe("plugboard add", () => {
  const stdin = () => Object.assign(new PassThrough(), {});
  const io = { stdin: stdin(), env: { PATH: dirname(process.execPath) } };
  /** Parses the words like the command line: options are removed, and words after -- belong to the server. */
  const target = (...words: string[]) => {
    const own = words.slice(0, words.includes("--") ? words.indexOf("--") : undefined);
    const args = separateCommand(
      words,
      own.filter((word) => !word.startsWith("-")),
    );
    const after = wordsAfterDashes(args);
    return toTarget(
      io,
      args.filter((_, index) => index !== args.indexOf("--")),
      after,
    );
  };
  const folder = tmpdir();

  it.each<[words: string[], name: string, command: string, args: string[]]>([
    [["uvx:a"], "a", "uvx", ["a"]],
    [["uvx:a", "b"], "b", "uvx", ["a"]],
    [["uvx:a", "b", "--", "-x"], "b", "uvx", ["a", "-x"]],
    [["b", "--", "uvx", "a"], "b", "uvx", ["a"]],
    [["--", "uvx", "a"], "a", "uvx", ["a"]],
    // Arguments without a server name.
    [["@acme/x", "--", "mcp"], "x", "npx", ["-y", "@acme/x", "mcp"]],
    [["shadcn", "--", "mcp"], "shadcn", "npx", ["-y", "shadcn", "mcp"]],
    [["some-server", "--", "--port", "0"], "some", "npx", ["-y", "some-server", "--port", "0"]],
    [["files-server", "--", folder], "files", "npx", ["-y", "files-server", folder]],
    [["uvx:a", "--", "x"], "a", "uvx", ["a", "x"]],
    [["mine", "--", "node", "x"], "mine", "node", ["x"]],
    [["mine", "--", "/no/such/program", "x"], "mine", "/no/such/program", ["x"]],
    // A launcher is used as a command.
    [["uvx", "mcp-server-time"], "time", "uvx", ["mcp-server-time"]],
    [["npx", "-y", "@acme/x", "--flag"], "x", "npx", ["-y", "@acme/x", "--flag"]],
    [["npx", "--", "-y", "@acme/x"], "x", "npx", ["-y", "@acme/x"]],
    [["clock", "uvx", "mcp-server-time"], "clock", "uvx", ["mcp-server-time"]],
    [["docker", "run", "-i", "--rm", "mcp/time"], "time", "docker", ["run", "-i", "--rm", "mcp/time"]],
    [["bunx", "some-mcp"], "some", "bunx", ["some-mcp"]],
    [["python", "-m", "mcp_server_time"], "time", "python", ["-m", "mcp_server_time"]],
    [["node", "no-such-file.js"], "no-such-file", "node", ["no-such-file.js"]],
    [["node", "package.json.js", "a"], "package-json", "node", ["package.json.js", "a"]],
  ])("%j", async (words, name, command, args) => {
    expect(await target(...words)).toMatchObject({ name, entry: { command, args } });
  });

  it("a script gets its full path, because the hub runs in another folder", async () => {
    const { entry } = await target("node", "vitest.config.ts");
    expect(entry).toEqual({ command: "node", args: [resolve("vitest.config.ts")] });
  });

  it.each([
    [["@acme/x"], "plugboard add @acme/x other -e A=…"],
    [["@acme/x", "mine", "--", "a b"], "plugboard add @acme/x other -e A=… -- 'a b'"],
    [["npx", "-y", "x"], "plugboard add other -e A=… -- npx -y x"],
    [["@acme/x", "--", "--token", "Zq7-d16ff675b582"], "plugboard add @acme/x other -e A=… -- --token '***'"],
    [['{"command": "x", "env": {"TOKEN": "Zq7-d16ff675b582"}}'], "plugboard add '{…}' other -e A=…"],
  ])("the command for %j with another name and a variable", async (words, line) => {
    expect((await target(...words)).again({ name: "other", options: "-e A=…" })).toBe(line);
  });

  it("reads JSON from stdin for -", async () => {
    const input = stdin();
    input.end('{"command": "x"}');
    const read = await toTarget({ stdin: input, env: {} }, ["-", "n"], undefined);
    expect(read).toMatchObject({ name: "n", entry: { command: "x" } });
  });

  it.each([[[]], [["a", "b", "c"]]])("%j is rejected with a hint", async (words) => {
    await expect(target(...words)).rejects.toMatchObject({ code: "VALIDATION_ERROR", hint: expect.any(String) });
  });
});
