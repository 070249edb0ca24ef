import { describe, expect, it } from "vitest";
import {
  entriesOf,
  groupsOf,
  notesOf,
  planProduct as plan,
} from "../../../../test/support/client-configs/plan-product.ts";
import { PRODUCT_FILES as FILES } from "../../../../test/support/client-configs/product-files.ts";
import { clientsNamed, IMPORTABLE } from "../client-table.ts";

describe("CF-11 the config of another hub or gateway is translated", () => {
  it("mcphub", async () => {
    const planned = await plan("mcphub", FILES.mcphub);
    expect(entriesOf(planned)).toEqual({
      notes: {
        command: "node",
        args: ["server.js", "${HOME_DIR}"],
        env: { API_KEY: { secretRef: "notes-API_KEY" }, LEVEL: "${LEVEL}" },
        description: "Notes",
        enabled: false,
        timeouts: { request_ms: 5000 },
        isolation: "per-session",
        resilience: { on_demand: true, idle_ms: 1000 },
      },
      tickets: {
        type: "streamable-http",
        url: "https://tickets.example/mcp",
        headers: { Authorization: "Bearer ${AUTHORIZATION}" },
        env: { AUTHORIZATION: { secretRef: "tickets-AUTHORIZATION" } },
        resilience: { health_check_ms: 9000 },
      },
      wiki: { type: "sse", url: "https://wiki.example/sse", auth: { client_id: "c", scopes: ["read"] } },
    });
    expect(groupsOf(planned)).toEqual({
      mcphub: {
        description: "Tools for MCPHub",
        servers: ["notes", "tickets", "wiki"],
        tools: {
          "notes:*": {},
          "!notes:wipe": {},
          "tickets:*": {},
          "wiki:*": {},
          "notes:find": { description: "Finds notes" },
        },
      },
      work: {
        description: "Work",
        servers: ["notes", "tickets"],
        tools: { "notes:*": {}, "!notes:wipe": {}, "tickets:get": {}, "notes:find": { description: "Finds notes" } },
      },
      // Not `default`: that is /mcp, which clients of the hub use already.
      "mcphub-default": { servers: ["tickets"], tools: [] },
    });
  });

  it("metamcp, from its tables", async () => {
    const planned = await plan("metamcp", FILES.metamcp);
    expect(entriesOf(planned)).toEqual({
      clock: { command: "uvx", args: ["clock"], env: { TZ: "UTC" } },
      tickets: {
        type: "http",
        url: "https://tickets.example/mcp",
        headers: { "X-Team": "a", Authorization: "Bearer ${AUTHORIZATION}" },
        env: { AUTHORIZATION: { secretRef: "tickets-AUTHORIZATION" } },
      },
      wiki: {
        type: "sse",
        url: "https://wiki.example/sse",
        auth: { client_id: "c", client_secret: { secretRef: "wiki-CLIENT_SECRET" } },
      },
    });
    // Its login can be continued, since it was made with this client.
    expect([...(planned.add.find(({ name }) => name === "wiki")?.tokens.keys() ?? [])]).toEqual(["access", "refresh"]);
    expect(groupsOf(planned)).toEqual({
      team: {
        description: "The team",
        servers: ["clock", "tickets"],
        tools: { "clock:*": {}, "tickets:*": {}, "!tickets:wipe": {}, "clock:now": { as: "time_now" } },
      },
    });
  });

  it("metamcp, from the export of its web interface", async () => {
    const planned = await plan("metamcp", {
      mcpServers: {
        clock: { type: "stdio", command: "uvx", args: ["clock"], description: "Time" },
        tickets: { type: "streamable_http", url: "https://tickets.example/mcp", bearerToken: "${TOKEN}" },
        api: { type: "REST_API", base_url: "https://x" },
      },
    });
    expect(entriesOf(planned)).toEqual({
      clock: { command: "uvx", args: ["clock"], description: "Time" },
      tickets: {
        type: "http",
        url: "https://tickets.example/mcp",
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
    });
    expect(notesOf(planned).join("\n")).toMatch(/api is a REST API[^]*servers only/);
  });

  it("mcpproxy-go", async () => {
    const planned = await plan("mcpproxy-go", FILES["mcpproxy-go"]);
    expect(entriesOf(planned)).toEqual({
      notes: {
        command: "npx",
        args: ["-y", "notes"],
        cwd: "/srv",
        env: { TOKEN: { secretRef: "notes-token" }, LEVEL: "${LEVEL}", COLOR: "red" },
        enabled: false,
        timeouts: { start_ms: 90_000, request_ms: 45_000 },
        resilience: { health_check_ms: 120_000, max_calls: 3, max_queued_calls: 0 },
      },
      tickets: {
        type: "streamable-http",
        url: "https://tickets.example/mcp",
        headers: { "X-Key": "${X_KEY}" },
        env: { X_KEY: { secretRef: "tickets-X_KEY" } },
        auth: { client_id: "c", scopes: ["read"], resource: "https://tickets.example/mcp" },
        enabled: false,
        timeouts: { request_ms: 45_000 },
      },
    });
    expect(planned.add[0]?.missing).toEqual(["notes-token"]);
    expect(groupsOf(planned)).toEqual({
      "mcpproxy-go": {
        description: "Tools for mcpproxy-go",
        servers: ["notes", "tickets"],
        tools: ["notes:*", "!notes:wipe", "tickets:get", "tickets:list"],
      },
      reader: { servers: ["notes", "tickets"], tools: ["notes:find*", "!tickets:get", "!notes:wipe"], exposure: "all" },
      "all-tools": { description: "All", servers: ["notes"], tools: ["notes:*", "!notes:wipe"], exposure: "all" },
    });
    expect(notesOf(planned).join("\n")).toContain("notes: is in quarantine there and disabled here");
  });

  it("1mcp: tags are groups", async () => {
    const planned = await plan("1mcp", FILES["1mcp"]);
    expect(entriesOf(planned)).toEqual({
      notes: {
        command: "npx",
        args: ["-y", "notes"],
        cwd: "/srv",
        env: { LEVEL: "${LEVEL}", REGION: "${REGION}", API_KEY: { secretRef: "notes-API_KEY" } },
        resilience: { restart_first_ms: 500 },
      },
      tickets: {
        type: "http",
        url: "https://tickets.example/mcp",
        headers: { Authorization: "Bearer ${TICKETS}" },
        enabled: false,
        timeouts: { start_ms: 3000, request_ms: 7000 },
      },
    });
    const description = (tag: string) => `Servers with the tag ${tag} in 1MCP`;
    expect(groupsOf(planned)).toMatchObject({
      files: { description: description("files"), servers: ["notes", "tickets"] },
      "team-a": { description: description("team.a"), servers: ["notes"], tools: ["notes:*", "!notes:wipe"] },
    });
  });

  it.each([
    [{ tag: "a" }, ["x", "y"]],
    [{ $or: [{ tag: "b" }, { tag: "c" }] }, ["y", "z"]],
    [{ $and: [{ tag: "a" }, { $not: { tag: "b" } }] }, ["x"]],
    [{ tag: { $in: ["c"] } }, ["z"]],
    [{ $in: ["a", "c"] }, ["x", "y", "z"]],
    [{ $advanced: "a and b" }, undefined],
    [{ $or: [{ tag: "a" }, { some: 1 }] }, undefined],
  ])("1mcp: the preset %j has the servers %j", async (tagQuery, servers) => {
    const [client] = clientsNamed(["1mcp"], IMPORTABLE);
    const product = client?.product;
    const tagged = (...tags: string[]) => ({ command: "x", tags });
    const config = await product?.read({ mcpServers: { x: tagged("a"), y: tagged("a", "b"), z: tagged("c") } }, () =>
      Promise.resolve({ version: "1", presets: { mine: { description: "Mine", strategy: "or", tagQuery } } }),
    );
    const mine = config?.groups.find(({ name }) => name === "mine");
    expect(mine?.members.map(({ server }) => server)).toEqual(servers ?? []);
    expect(mine?.notes?.join().includes("cannot be read")).toBe(servers === undefined);
  });

  it("mcp-proxy of TBXark: each server has its own group, and equal servers with other credentials stay apart", async () => {
    const planned = await plan("mcp-proxy", FILES["mcp-proxy"]);
    expect(entriesOf(planned)).toEqual({
      notes: {
        command: "npx",
        args: ["-y", "notes"],
        env: { TOKEN: { secretRef: "notes-TOKEN" }, PLAIN: "${PLAIN}" },
      },
      again: { command: "npx", args: ["-y", "notes"], env: { TOKEN: { secretRef: "again-TOKEN" }, PLAIN: "x" } },
      tickets: {
        type: "http",
        url: "https://tickets.example/mcp",
        headers: { "X-Team": "a" },
        timeouts: { request_ms: 5000 },
      },
      old: { type: "sse", url: "https://old.example/sse", enabled: false },
    });
    expect(planned.groups.map(({ name, entry }) => [name, entry.servers, entry.tools])).toEqual([
      ["notes", ["notes"], ["notes:*", "!notes:wipe"]],
      ["again", ["again"], []],
      ["tickets", ["tickets"], []],
      ["old", ["old"], []],
    ]);
    expect(notesOf(planned).join("\n")).toMatch(
      /\$\{…\} in env.PLAIN is plain text in mcp-proxy[^]*its tokens are not/,
    );
  });

  it("mcp-proxy of TBXark, first version", async () => {
    const planned = await plan("mcp-proxy", {
      server: { baseURL: "x", globalAuthTokens: ["t"] },
      clients: { fetch: { type: "stdio", config: { command: "uvx", args: ["fetch"] } } },
    });
    expect(entriesOf(planned)).toEqual({ fetch: { command: "uvx", args: ["fetch"] } });
  });

  it("mcp-proxy: named servers ignore the time limit of other clients", async () => {
    const planned = await plan("mcp-proxy", {
      mcpServers: {
        fetch: { command: "uvx", args: ["fetch"], timeout: 60, transportType: "stdio", headerToEnv: { A: "B" } },
      },
    });
    expect(entriesOf(planned)).toEqual({ fetch: { command: "uvx", args: ["fetch"] } });
    expect(notesOf(planned)).toEqual([expect.stringContaining('fetch: "headerToEnv": ')]);
  });

  it("supergateway", async () => {
    const planned = await plan("supergateway", FILES.supergateway);
    expect(entriesOf(planned)).toEqual({
      notes: {
        command: "npx",
        args: ["-y", "notes", "--dir", "my notes"],
        cwd: "/srv",
        env: { LEVEL: "${LEVEL}" },
      },
      assigned: {
        command: "uvx",
        args: ["server"],
        env: { API_KEY: { secretRef: "assigned-API_KEY" }, LEVEL: "2" },
      },
      piped: { command: "sh", args: ["-c", "cat x | server"], enabled: false },
      "both-notes": { command: "uvx", args: ["other"] },
      tickets: {
        type: "http",
        url: "https://tickets.example/mcp",
        headers: { Authorization: "Bearer ${AUTHORIZATION}" },
        env: { AUTHORIZATION: { secretRef: "tickets-AUTHORIZATION" } },
      },
    });
    expect(groupsOf(planned)).toMatchObject({
      notes: { servers: ["notes"], tools: ["notes:find"] },
      piped: { servers: ["piped"], tools: [] },
      both: { servers: ["both-notes", "tickets"], tools: [] },
    });
  });
});
