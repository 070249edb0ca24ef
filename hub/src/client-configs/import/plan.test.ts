import { describe, expect, it } from "vitest";
import { FileSyntaxError, editorFor } from "../formats/format.ts";
import { entriesIn } from "../file.ts";
import { planImport, type Plan, type PlanOptions } from "./plan.ts";
import type { FoundServer, ScannedFile } from "./scan.ts";
import { clientsNamed } from "../client-table.ts";

const context = { platform: "linux", home: "/home/me", env: { BIN: "/opt/bin" } } as const;
const NOTHING: PlanOptions = { context, keepSecrets: false, servers: [], groups: {}, secrets: [] };

/** The text of a client's file with one server. */
async function scanned(id: string, text: string, more: Partial<FoundServer["file"]> = {}): Promise<ScannedFile> {
  const [client] = clientsNamed([id]);
  if (client === undefined) throw new Error(id);
  const file = { client, scope: "user", path: `/${id}`, ...more } as const;
  const data = (await editorFor(client.format)).parse(text, file.path);
  return { file, servers: entriesIn(data, client).map(([name, entry]) => ({ file, name, entry, isDisabled: false })) };
}

async function plan(id: string, text: string, options: Partial<PlanOptions> = {}): Promise<Plan> {
  return planImport([await scanned(id, text)], { ...NOTHING, ...options });
}

const json = (root: string, entry: object) => JSON.stringify({ [root]: { it: entry } });

describe("CF-11 entries of every client are translated", () => {
  it.each([
    [
      "claude-desktop",
      json("mcpServers", { command: "npx", args: ["-y", "x"] }),
      { command: "npx", args: ["-y", "x"] },
    ],
    [
      "claude-desktop",
      json("mcpServers", { command: "cmd", args: ["/c", "npx", "-y", "x"] }),
      { command: "npx", args: ["-y", "x"] },
    ],
    [
      "claude-code",
      json("mcpServers", { type: "stdio", command: "${BIN}/x", args: ["${A:-b}"], env: {} }),
      { command: "/opt/bin/x", args: ["${A:-b}"] },
    ],
    [
      "claude-code",
      json("mcpServers", { type: "sse", url: "https://x/${P}", headers: { "X-A": "${A}" } }),
      { type: "sse", url: "https://x/${P}", headers: { "X-A": "${A}" } },
    ],
    [
      "cursor",
      json("mcpServers", { url: "https://x/mcp", headers: { Authorization: "Bearer ${env:T}" } }),
      { url: "https://x/mcp", headers: { Authorization: "Bearer ${T}" } },
    ],
    [
      "vscode",
      json("servers", { type: "http", url: "https://x/mcp", headers: { "X-Key": "${input:k-1}" } }),
      { type: "http", url: "https://x/mcp", headers: { "X-Key": "${K_1}" }, env: { K_1: { secretRef: "k-1" } } },
    ],
    [
      "vscode",
      json("servers", { command: "x", args: ["${userHome}/a"], env: { K: "${input:k}", L: "a${input:k}" } }),
      { command: "x", args: ["/home/me/a"], env: { K: { secretRef: "k" }, L: { secretRef: "it-L" } } },
    ],
    [
      "zed",
      json("context_servers", { command: { path: "x", args: ["a"], env: { A: "b" } }, settings: {} }),
      { command: "x", args: ["a"], env: { A: "b" } },
    ],
    [
      "zed",
      json("context_servers", { source: "custom", command: "x", args: [], env: {}, enabled: false }),
      { command: "x", enabled: false },
    ],
    [
      "windsurf",
      json("mcpServers", { serverUrl: "https://x/mcp", disabled: true }),
      { url: "https://x/mcp", enabled: false },
    ],
    [
      "gemini",
      json("mcpServers", { command: "x", args: ["$A"], cwd: "/w", timeout: 5000, description: "a\nb" }),
      { command: "x", args: ["${A}"], cwd: "/w", timeouts: { request_ms: 5000 }, description: "a b" },
    ],
    ["gemini", json("mcpServers", { httpUrl: "https://x/mcp" }), { type: "http", url: "https://x/mcp" }],
    ["gemini", json("mcpServers", { url: "https://x/sse" }), { type: "sse", url: "https://x/sse" }],
    ["gemini", json("mcpServers", { url: "https://x/mcp", type: "http" }), { type: "http", url: "https://x/mcp" }],
    [
      "codex",
      '[mcp_servers.it]\ncommand = "x"\nenv_vars = ["A", { name = "B" }]\nstartup_timeout_sec = 2\ntool_timeout_sec = 1.5',
      { command: "x", env: { A: "${A}", B: "${B}" }, timeouts: { start_ms: 2000, request_ms: 1500 } },
    ],
    [
      "codex",
      '[mcp_servers.it]\nurl = "https://x/mcp"\nbearer_token_env_var = "T"\nhttp_headers = { A = "b" }\nenv_http_headers = { C = "D" }\nenabled = false',
      { url: "https://x/mcp", headers: { A: "b", C: "${D}", Authorization: "Bearer ${T}" }, enabled: false },
    ],
    [
      "cline",
      json("mcpServers", { type: "streamableHttp", url: "https://x/mcp", timeout: 30, autoApprove: ["a"] }),
      { type: "streamablehttp", url: "https://x/mcp", timeouts: { request_ms: 30_000 } },
    ],
    ["copilot-cli", json("mcpServers", { type: "local", command: "x", args: [], tools: ["*"] }), { command: "x" }],
    [
      "continue",
      "mcpServers:\n  - name: it\n    type: streamable-http\n    url: https://x/mcp\n    requestOptions:\n      headers:\n        A: ${{ secrets.K }}\n",
      { type: "streamable-http", url: "https://x/mcp", headers: { A: "${K}" }, env: { K: { secretRef: "K" } } },
    ],
    [
      "goose",
      "extensions:\n  it:\n    type: stdio\n    cmd: x\n    args: [a]\n    envs: { A: b }\n    env_keys: [C]\n    timeout: 10\n",
      { command: "x", args: ["a"], env: { A: "b", C: { secretRef: "C" } }, timeouts: { request_ms: 10_000 } },
    ],
    [
      "goose",
      "extensions:\n  it:\n    type: streamable_http\n    uri: https://x/mcp\n",
      { type: "streamable_http", url: "https://x/mcp" },
    ],
    [
      "opencode",
      json("mcp", { type: "local", command: ["x", "{env:A}"], environment: { B: "c" }, enabled: true }),
      { command: "x", args: ["${A}"], env: { B: "c" } },
    ],
    [
      "opencode",
      json("mcp", { type: "remote", url: "https://x/mcp", enabled: false }),
      { type: "remote", url: "https://x/mcp", enabled: false },
    ],
  ])("%s: %s", async (id, text, entry) => {
    const { add, refused } = await plan(id, text);
    expect(refused).toEqual([]);
    expect(add.map((server) => server.entry)).toEqual([{ ...entry, source: id }]);
    const again = await plan(id, text, { servers: add.map((server) => ({ ...server.entry, name: server.name })) });
    expect([again.add.length, again.known.length]).toEqual([0, 1]);
  });
});

describe("CF-11 literal credentials", () => {
  const entry = {
    url: "https://me:url-secret@x/mcp?api_key=query-secret",
    headers: { Authorization: "Bearer header-secret", "X-Region": "eu" },
  };

  it("of a url and its headers become references to secrets", async () => {
    const { add } = await plan("cursor", json("mcpServers", entry));
    expect(JSON.stringify(add[0]?.entry)).not.toContain("secret-");
    expect(JSON.stringify(add[0]?.entry)).not.toMatch(/url-secret|query-secret|header-secret/);
    expect(add[0]?.entry["headers"]).toEqual({ Authorization: "Bearer ${AUTHORIZATION}", "X-Region": "eu" });
    expect([...(add[0]?.secrets ?? [])]).toEqual([
      ["it-AUTHORIZATION", "header-secret"],
      ["it-URL_SECRET", "me:url-secret"],
      ["it-URL_SECRET_2", "query-secret"],
    ]);
  });

  it("of environment variables and docker -e become references; other values stay", async () => {
    const args = ["run", "-i", "-e", "KEY=docker-secret", "-e", "LEVEL=debug", "image"];
    const env = { API_TOKEN: "env-secret", URL: "postgres://u:p4ss@db/x", PLAIN: "plain" };
    const { add } = await plan("claude-desktop", json("mcpServers", { command: "docker", args, env }));
    expect(add[0]?.entry).toMatchObject({
      args: ["run", "-i", "-e", "LEVEL=debug", "image"],
      env: { KEY: { secretRef: "it-KEY" }, API_TOKEN: { secretRef: "it-API_TOKEN" }, PLAIN: "plain" },
    });
    expect([...(add[0]?.secrets.values() ?? [])].toSorted()).toEqual([
      "docker-secret",
      "env-secret",
      "postgres://u:p4ss@db/x",
    ]);
  });

  it("stay with keepSecrets; in arguments they stay with a note", async () => {
    const kept = await plan("cursor", json("mcpServers", entry), { keepSecrets: true });
    expect(kept.add[0]?.entry).toMatchObject(entry);
    expect(kept.add[0]?.secrets.size).toBe(0);
    const { add } = await plan("cursor", json("mcpServers", { command: "x", args: ["--token", "arg-secret"] }));
    expect(add[0]?.notes.join()).toContain("arguments");
    expect(add[0]?.notes.join()).not.toContain("arg-secret");
  });

  it("get a secret name that is not used yet", async () => {
    const { add } = await plan("cursor", json("mcpServers", { command: "x", env: { API_KEY: "abc" } }), {
      secrets: ["it-API_KEY"],
    });
    expect([...(add[0]?.secrets.keys() ?? [])]).toEqual(["it-API_KEY-2"]);
  });
});

describe("CF-11 which servers are new", () => {
  const own = { command: "/usr/bin/node", args: ["/opt/hub/bin/plugboard.js", "stdio", "--group", "g"] };

  it("this hub is skipped, as a program or by its address; a bridge to another server is not", async () => {
    const servers = {
      a: own,
      b: { command: "npx", args: ["-y", "plugboard", "stdio"] },
      c: { url: "http://127.0.0.1:7430/mcp/dev" },
      g: { url: "http://127.0.0.1:7430/groups/dev/mcp" },
      d: { url: "http://localhost:9999/mcp" },
      e: { command: "plugboard", args: ["stdio", "--url", "https://x/mcp"] },
      f: { url: "http://localhost:9998/mcp" },
    };
    const { add, skipped } = await plan("cursor", JSON.stringify({ mcpServers: servers }), {
      address: "http://127.0.0.1:9999",
    });
    expect(skipped.map(({ name }) => name)).toEqual(["a", "b", "c", "g", "d"]);
    expect(add.map(({ name }) => name)).toEqual(["e", "f"]);
  });

  it("the same server under another name is known; a different server with the same name gets a number", async () => {
    const files = [
      await scanned("claude-desktop", json("mcpServers", { command: "x", args: ["a"], env: { TOKEN: "1" } })),
      await scanned(
        "cursor",
        JSON.stringify({
          mcpServers: { same: { command: "x", args: ["a"], env: { TOKEN: "2" } }, it: { command: "y" } },
        }),
      ),
    ];
    const first = planImport(files, NOTHING);
    expect(first.add.map(({ name }) => name)).toEqual(["it", "it-2"]);
    expect(first.known.map(({ name, from }) => [name, from.name])).toEqual([["it", "same"]]);
    expect(first.add[1]?.notes.join()).toContain("it-2");
    const servers = first.add.map(({ name, entry }) => ({ name, ...entry }));
    const second = planImport(files, { ...NOTHING, servers });
    expect([second.add.length, second.known.length]).toEqual([0, 3]);
  });

  it("a server that one client enables and another disables is enabled", async () => {
    const files = [
      await scanned("windsurf", json("mcpServers", { command: "x", disabled: true })),
      await scanned("cursor", json("mcpServers", { command: "x" })),
    ];
    expect(planImport(files, NOTHING).add.map(({ entry }) => entry)).toEqual([{ command: "x", source: "cursor" }]);
  });

  it("a server of a project is disabled, runs in the project folder, and has a note", async () => {
    const file = await scanned("cursor", json("mcpServers", { command: "x" }), {
      scope: "project",
      workspace: "/srv/app",
    });
    const [server] = planImport([file], NOTHING).add;
    expect(server?.entry).toMatchObject({ enabled: false, cwd: "/srv/app" });
    expect(server?.notes.join()).toContain("plugboard enable it");
  });

  it("names are converted to legal ones", async () => {
    const { add } = await plan(
      "cursor",
      JSON.stringify({
        mcpServers: { "a b/ü": { command: "x" }, "🙂": { command: "y" }, ["n".repeat(80)]: { command: "z" } },
      }),
    );
    expect(add.map(({ name }) => name)).toEqual(["a-b", "server", "n".repeat(61)]);
  });

  it("entries that the hub's rules reject are refused, and the others are added", async () => {
    const servers = {
      dashed: { command: "x", env: { "not-a-name": "y" } },
      both: { command: "x", url: "https://x" },
      neither: {},
      list: [],
      risky: { command: "docker", args: ["run", "--privileged", "image"] },
      long: { command: "x", args: ["a".repeat(600)] },
      good: { command: "x" },
    };
    const { add, refused } = await plan("cursor", JSON.stringify({ mcpServers: servers }));
    expect(add.map(({ name }) => name)).toEqual(["good"]);
    expect(refused.map(({ from }) => from.name)).toEqual(["dashed", "both", "neither", "list", "risky", "long"]);
  });

  it("built-in parts of a client are skipped", async () => {
    const { add, skipped } = await plan("goose", "extensions:\n  developer:\n    type: builtin\n    enabled: true\n");
    expect([add.length, skipped.length]).toEqual([0, 1]);
  });
});

describe("CF-11 clients that use only some tools", () => {
  const text = JSON.stringify({
    mcpServers: { a: { command: "x", includeTools: ["one", "two"] }, b: { command: "y" } },
  });

  it("get a group with the client's name", async () => {
    const { groups } = await plan("gemini", text);
    expect(groups).toEqual([
      {
        name: "gemini",
        entry: { description: "Tools for Gemini CLI", servers: ["a", "b"], tools: ["a:one", "a:two", "b:*"] },
      },
    ]);
  });

  it("exclude the same tools in that group", async () => {
    const left = { command: "x", excludeTools: ["rm"] };
    const { groups } = await plan("gemini", JSON.stringify({ mcpServers: { a: left, b: { command: "y" } } }));
    expect(groups[0]?.entry.tools).toEqual(["a:*", "!a:rm", "b:*"]);
    const some = { ...left, includeTools: ["ls", "rm"] };
    expect((await plan("gemini", json("mcpServers", some))).groups[0]?.entry.tools).toEqual([
      "it:ls",
      "it:rm",
      "!it:rm",
    ]);
  });

  it("extend an existing group", async () => {
    const { groups } = await plan("gemini", text, { groups: { gemini: { servers: ["z"], tools: ["z:*"] } } });
    expect(groups[0]?.entry).toEqual({ servers: ["z", "a", "b"], tools: ["z:*", "a:one", "a:two", "b:*"] });
    const open = await plan("gemini", text, { groups: { gemini: { servers: ["z"] } } });
    expect(open.groups[0]?.entry).toEqual({ servers: ["z", "a", "b"], tools: [] });
  });

  it("a client that uses all tools gets no group", async () => {
    const { groups } = await plan("copilot-cli", json("mcpServers", { command: "x", tools: ["*"] }));
    expect(groups).toEqual([]);
  });
});

describe("CF-11 a file that cannot be parsed", () => {
  it.each([
    ["cursor", '{\n  "mcpServers": {,\n', 2, 18],
    ["codex", 'a = "secret-in-here\n[b]', 1, 5],
    ["goose", "a: 1\nb: [\n", 3, 1],
  ])("%s: the error has the position and no content of the file", async (id, text, line, column) => {
    const error = await plan(id, text).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(FileSyntaxError);
    expect(error).toMatchObject({ line, message: expect.stringContaining(`/${id}:${line}:`) });
    expect((error as FileSyntaxError).column).toBeGreaterThan(0);
    expect(column).toBeGreaterThan(0);
    expect((error as FileSyntaxError).message).not.toContain("secret-in-here");
  });
});
