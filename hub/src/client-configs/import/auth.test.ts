// OAuth settings of other clients, each in the format of its file.

import { describe, expect, it } from "vitest";
import { clientsNamed, IMPORTABLE } from "../client-table.ts";
import { entriesIn } from "../file.ts";
import { editorFor } from "../formats/format.ts";
import { planImport, type PlannedServer, type PlanOptions } from "./plan.ts";

const NOTHING: PlanOptions = {
  context: { platform: "linux", home: "/home/me", env: {} },
  keepSecrets: false,
  servers: [],
  groups: {},
  secrets: [],
};

async function planned(id: string, text: string, options: Partial<PlanOptions> = {}) {
  const [client] = clientsNamed([id], IMPORTABLE);
  if (client === undefined) throw new Error(id);
  const file = { client, scope: "user", path: `/${id}` } as const;
  const data = (await editorFor(client.format)).parse(text, file.path);
  const servers = entriesIn(data, client).map(([name, entry]) => ({ file, name, entry, isDisabled: false }));
  return planImport([{ file, servers }], { ...NOTHING, ...options });
}

async function imported(id: string, text: string, options: Partial<PlanOptions> = {}): Promise<PlannedServer> {
  const { add, refused } = await planned(id, text, options);
  expect(refused).toEqual([]);
  const [server] = add;
  if (server === undefined) throw new Error("Nothing is imported");
  return server;
}

const url = "https://mcp.example.com/mcp";
const json = (root: string, entry: object) => JSON.stringify({ [root]: { it: entry } });
const REDIRECT = "its OAuth client must allow the redirect URI of the hub, which plugboard auth shows";

interface Case {
  readonly client: string;
  readonly file: string;
  readonly auth: unknown;
  readonly entry?: object;
  readonly secrets?: readonly [string, string][];
  readonly notes?: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  "Claude Code": {
    client: "claude-code",
    file: json("mcpServers", { type: "http", url, oauth: { clientId: "abc", callbackPort: 3118 } }),
    auth: { client_id: "abc", redirect_port: 3118 },
    notes: [REDIRECT],
  },
  "Claude Code with scopes and metadata": {
    client: "claude-code",
    file: json("mcpServers", {
      type: "http",
      url,
      oauth: {
        scopes: "channels:read chat:write",
        authServerMetadataUrl: "https://auth.example.com/.well-known/openid-configuration",
        xaa: true,
      },
    }),
    auth: { scopes: ["channels:read", "chat:write"], issuer: "https://auth.example.com" },
    notes: ['"oauth.xaa" of Claude Code has no equivalent and is ignored'],
  },
  "Claude Code with a helper": {
    client: "claude-code",
    file: json("mcpServers", { type: "http", url, headersHelper: "/opt/bin/headers.sh" }),
    auth: undefined,
    notes: ["headersHelper runs a program for the headers, which the hub does not do: set headers or auth instead"],
  },
  Cursor: {
    client: "cursor",
    file: json("mcpServers", {
      url,
      auth: { CLIENT_ID: "${env:MCP_CLIENT_ID}", CLIENT_SECRET: "${env:MCP_CLIENT_SECRET}", scopes: ["read", "write"] },
    }),
    auth: { client_id: "${MCP_CLIENT_ID}", client_secret: "${MCP_CLIENT_SECRET}", scopes: ["read", "write"] },
    notes: [REDIRECT],
  },
  "Cursor with a literal secret": {
    client: "cursor",
    file: json("mcpServers", { url, auth: { CLIENT_ID: "abc", CLIENT_SECRET: "s3cret" } }),
    auth: { client_id: "abc", client_secret: { secretRef: "it-CLIENT_SECRET" } },
    secrets: [["it-CLIENT_SECRET", "s3cret"]],
    notes: [REDIRECT],
  },
  "VS Code": {
    client: "vscode",
    file: `{ // mine
      "inputs": [{ "type": "promptString", "id": "client", "description": "Client" }],
      "servers": { "it": { "type": "http", "url": "${url}", "oauth": { "clientId": "12348411142.11062036567072" } } },
    }`,
    auth: { client_id: "12348411142.11062036567072" },
    notes: [REDIRECT],
  },
  "VS Code with an input": {
    client: "vscode",
    file: json("servers", { type: "http", url, oauth: { clientId: "${input:client}" } }),
    auth: { client_id: "${CLIENT}" },
    entry: { env: { CLIENT: { secretRef: "client" } } },
    notes: [REDIRECT],
  },
  OpenCode: {
    client: "opencode",
    file: json("mcp", {
      type: "remote",
      url,
      oauth: { clientId: "{env:ID}", clientSecret: "{env:SECRET}", scope: "tools:read tools:execute" },
    }),
    auth: { client_id: "${ID}", client_secret: "${SECRET}", scopes: ["tools:read", "tools:execute"] },
    notes: [REDIRECT],
  },
  "OpenCode without OAuth": {
    client: "opencode",
    file: json("mcp", { type: "remote", url, oauth: false, headers: { "X-Api-Key": "{env:KEY}" } }),
    auth: false,
  },
  "OpenCode with automatic OAuth": {
    client: "opencode",
    file: json("mcp", { type: "remote", url, oauth: {} }),
    auth: undefined,
  },
  "Gemini CLI": {
    client: "gemini",
    file: json("mcpServers", {
      httpUrl: url,
      oauth: {
        enabled: true,
        clientId: "abc",
        clientSecret: "$GEMINI_SECRET",
        authorizationUrl: "https://auth.example.com/authorize",
        tokenUrl: "https://auth.example.com/token",
        scopes: ["a", "b"],
        tokenParamName: "token",
      },
    }),
    auth: {
      client_id: "abc",
      client_secret: "${GEMINI_SECRET}",
      authorization_url: "https://auth.example.com/authorize",
      token_url: "https://auth.example.com/token",
      scopes: ["a", "b"],
      redirect_port: 7777,
    },
    notes: ['"oauth.tokenParamName" of Gemini CLI has no equivalent and is ignored'],
  },
  "Gemini CLI with a redirect URI": {
    client: "gemini",
    file: json("mcpServers", {
      httpUrl: url,
      oauth: { clientId: "abc", redirectUri: "http://127.0.0.1:9000/oauth/callback" },
    }),
    auth: { client_id: "abc", redirect_host: "127.0.0.1", redirect_port: 9000 },
  },
  "Gemini CLI without OAuth": {
    client: "gemini",
    file: json("mcpServers", { httpUrl: url, oauth: { enabled: false } }),
    auth: false,
  },
  "Gemini CLI with Google credentials": {
    client: "gemini",
    file: json("mcpServers", {
      httpUrl: url,
      authProviderType: "google_credentials",
      oauth: { scopes: ["https://www.googleapis.com/auth/userinfo.email"] },
    }),
    auth: undefined,
    notes: ["Gemini CLI logs in with Google credentials (google_credentials), which the hub cannot do"],
  },
  LibreChat: {
    client: "librechat",
    file: `version: 1.3.0
mcpServers:
  it:
    type: streamable-http
    url: ${url}
    requiresOAuth: true
    oauth:
      authorization_url: https://auth.example.com/authorize
      token_url: https://auth.example.com/token
      client_id: abc
      client_secret: \${OAUTH_SECRET}
      scope: "openid offline_access"
      redirect_uri: https://chat.example.com/api/mcp/it/oauth/callback
      token_exchange_method: basic_auth_header
      skip_code_challenge_check: true
      revocation_endpoint: https://auth.example.com/revoke
`,
    auth: {
      authorization_url: "https://auth.example.com/authorize",
      token_url: "https://auth.example.com/token",
      client_id: "abc",
      client_secret: "${OAUTH_SECRET}",
      scopes: ["openid", "offline_access"],
      token_endpoint_auth_method: "client_secret_basic",
      pkce: "assume",
    },
    notes: ['"oauth.revocation_endpoint" of LibreChat has no equivalent and is ignored', REDIRECT],
  },
  MCPHub: {
    client: "mcphub",
    file: JSON.stringify({
      mcpServers: {
        it: {
          type: "streamable-http",
          url,
          owner: "admin",
          enabled: true,
          oauth: {
            clientId: "abc",
            clientSecret: "s3cret",
            scopes: ["read"],
            accessToken: "acc3ss",
            refreshToken: "r3fresh",
            resource: url,
            dynamicRegistration: { enabled: true, issuer: "https://auth.example.com" },
            authorizationEndpoint: "https://auth.example.com/authorize",
            tokenEndpoint: "https://auth.example.com/token",
            pendingAuthorization: { state: "x", codeVerifier: "y", createdAt: 1 },
          },
        },
      },
      users: [{ username: "admin", password: "$2b$10$x" }],
    }),
    auth: {
      client_id: "abc",
      client_secret: { secretRef: "it-CLIENT_SECRET" },
      scopes: ["read"],
      resource: url,
      issuer: "https://auth.example.com",
      authorization_url: "https://auth.example.com/authorize",
      token_url: "https://auth.example.com/token",
    },
    secrets: [["it-CLIENT_SECRET", "s3cret"]],
    notes: [REDIRECT],
  },
  Codex: {
    client: "codex",
    file: `[mcp_servers.it]\nurl = "${url}"\nscopes = ["read", "write"]\noauth_resource = "https://api.example.com"\n\n[mcp_servers.it.oauth]\nclient_id = "abc"\n`,
    auth: { client_id: "abc", scopes: ["read", "write"], resource: "https://api.example.com" },
    notes: [REDIRECT],
  },
  "Codex with a token": {
    client: "codex",
    file: `[mcp_servers.it]\nurl = "${url}"\nbearer_token_env_var = "TOKEN"\nscopes = ["read"]\n`,
    auth: undefined,
    entry: { headers: { Authorization: "Bearer ${TOKEN}" } },
    notes: ["OAuth settings are ignored: the Authorization header is used"],
  },
  "a program with OAuth settings": {
    client: "claude-code",
    file: json("mcpServers", { command: "x", oauth: { scopes: "a" } }),
    auth: undefined,
    entry: { command: "x" },
    notes: ["OAuth settings are for remote servers and are ignored"],
  },
  "a secret without its client": {
    client: "opencode",
    file: json("mcp", { type: "remote", url, oauth: { clientSecret: "s3cret", scope: "a" } }),
    auth: { scopes: ["a"] },
    notes: ['"oauth.clientSecret" of OpenCode has no equivalent and is ignored'],
  },
};

describe("CF-11 OAuth settings of other clients become auth", () => {
  it.each(Object.entries(CASES))("%s", async (_, { client, file, auth, entry = {}, secrets = [], notes = [] }) => {
    const server = await imported(client, file);
    expect(server.entry).toMatchObject(entry);
    expect(server.entry["auth"]).toEqual(auth);
    expect([...server.secrets]).toEqual(secrets);
    expect(server.notes).toEqual(notes);
    const again = await planned(client, file, { servers: [{ ...server.entry, name: server.name }] });
    expect([again.add.length, again.known.length]).toEqual([0, 1]);
  });

  it("literal secrets stay if the user wants that", async () => {
    const file = json("mcpServers", { url, auth: { CLIENT_ID: "abc", CLIENT_SECRET: "s3cret" } });
    const { entry, secrets } = await imported("cursor", file, { keepSecrets: true });
    expect([entry["auth"], secrets.size]).toEqual([{ client_id: "abc", client_secret: "s3cret" }, 0]);
  });

  it("T12 stored tokens are in nothing that is saved or shown", async () => {
    const { client, file } = CASES["MCPHub"] ?? { client: "", file: "" };
    const { from: _, ...server } = await imported(client, file);
    expect(Object.fromEntries(server.tokens)).toEqual({ access: "acc3ss", refresh: "r3fresh" });
    expect(JSON.stringify([server, [...server.secrets]])).not.toMatch(/acc3ss|r3fresh/);
    const alone = json("mcpServers", { url, oauth: { refreshToken: "r" } });
    const { notes, tokens } = await imported("mcphub", alone);
    expect([notes, tokens.size]).toEqual([
      ["the login of MCPHub is not taken over: log in again with plugboard auth"],
      0,
    ]);
  });

  it("settings that the hub refuses name their field", async () => {
    const file = json("mcpServers", {
      url,
      oauth: { clientId: "a", authServerMetadataUrl: `http://x/.well-known/openid-configuration` },
    });
    const { refused } = await planned("claude-code", file);
    expect(refused).toMatchObject([{ error: { kind: "InvalidConfig", field: "auth.issuer" } }]);
  });
});

describe("CF-11 mcp-remote is replaced by a connection of the hub", () => {
  const CLIENT = JSON.stringify({ client_id: "abc", client_secret: "s3cret" });
  const ITSELF = "the hub connects to the server itself, without mcp-remote";

  it.each<[string, readonly string[], object]>([
    ["npx", ["mcp-remote", url], { url }],
    ["npx", ["-y", "mcp-remote@latest", url, "--debug", "--auth-timeout", "60"], { url }],
    ["/usr/bin/npx", ["-y", "mcp-remote@0.1.37", url, "9696"], { url }],
    ["pnpm", ["dlx", "mcp-remote", url], { url }],
    ["bunx", ["mcp-remote", url, "--transport", "sse-only"], { url, type: "sse" }],
    ["mcp-remote", [url, "--transport", "http-only", "--host", "127.0.0.1"], { url, type: "http" }],
    ["node", ["/opt/node_modules/mcp-remote/dist/proxy.js", url, "--transport", "http-first"], { url }],
    [
      "npx",
      ["mcp-remote", url, "3334", "--static-oauth-client-info", CLIENT],
      { url, auth: { redirect_port: 3334, client_id: "abc", client_secret: { secretRef: "it-CLIENT_SECRET" } } },
    ],
    [
      "npx",
      ["mcp-remote", url, "--static-oauth-client-metadata", '{"scope":"a b","token_endpoint_auth_method":"none"}'],
      { url, auth: { scopes: ["a", "b"], token_endpoint_auth_method: "none" } },
    ],
    [
      "npx",
      ["mcp-remote", url, "--resource", "https://tenant1.example.net/"],
      { url, auth: { resource: "https://tenant1.example.net/" } },
    ],
    ["npx", ["mcp-remote", url, "--disable-resource-parameter"], { url, auth: { resource: false } }],
    [
      "npx",
      ["mcp-remote", url, "--client-metadata-url", "https://me.example/c"],
      { url, auth: { client_metadata_url: "https://me.example/c" } },
    ],
    [
      "npx",
      [
        "mcp-remote",
        url,
        "--client-credentials",
        "--token-endpoint",
        "https://as.example/t",
        "--static-oauth-client-info",
        CLIENT,
      ],
      {
        url,
        auth: {
          type: "client_credentials",
          token_url: "https://as.example/t",
          client_id: "abc",
          client_secret: { secretRef: "it-CLIENT_SECRET" },
        },
      },
    ],
  ])("%s %j", async (command, args, entry) => {
    const file = json("mcpServers", { command, args });
    const server = await imported("claude-desktop", file);
    expect(server.entry).toEqual({ ...entry, source: "claude-desktop" });
    expect(server.notes).toEqual([ITSELF]);
    const again = await planned("claude-desktop", file, { servers: [{ ...server.entry, name: "it" }] });
    expect([again.add.length, again.known.length]).toEqual([0, 1]);
  });

  it("with its headers, whose variables come from its environment", async () => {
    const args = ["mcp-remote", url, "--header", "Authorization:${AUTH_HEADER}", "--header", "X-Team: ${TEAM:-a}"];
    const env = { AUTH_HEADER: "Bearer s3cret-t0ken", NODE_OPTIONS: "--use-system-ca" };
    const server = await imported("claude-desktop", json("mcpServers", { command: "npx", args, env }));
    expect(server.entry).toEqual({
      url,
      headers: { Authorization: "${AUTH_HEADER}", "X-Team": "${TEAM:-a}" },
      env: { AUTH_HEADER: { secretRef: "it-AUTH_HEADER" } },
      source: "claude-desktop",
    });
    expect([...server.secrets]).toEqual([["it-AUTH_HEADER", "Bearer s3cret-t0ken"]]);
    expect(server.notes).toEqual([ITSELF, "the variable NODE_OPTIONS of mcp-remote is ignored"]);
  });

  it("with inputs of VS Code, and variables in its client", async () => {
    const info = '{"client_id":"${input:id}","client_secret":"${SECRET}"}';
    const args = ["mcp-remote", url, "--static-oauth-client-info", info];
    const server = await imported("vscode", json("servers", { command: "npx", args, env: { SECRET: "s3cret" } }));
    expect(server.entry).toMatchObject({
      auth: { client_id: "${ID}", client_secret: "${SECRET}" },
      env: { ID: { secretRef: "id" }, SECRET: { secretRef: "it-SECRET" } },
    });
    expect(server.missing).toEqual(["id"]);
  });

  it("without the tools that it hides", async () => {
    const args = ["mcp-remote", url, "--ignore-tool", "delete*"];
    const { groups } = await planned("cursor", json("mcpServers", { command: "npx", args }));
    expect(groups).toMatchObject([{ entry: { tools: ["it:*", "!it:delete*"] } }]);
  });

  it("as one server for each tenant", async () => {
    const args = (tenant: string) => ["mcp-remote", url, "--resource", `https://${tenant}.example.net/`];
    const servers = { a: { command: "npx", args: args("a") }, b: { command: "npx", args: args("b") } };
    expect((await planned("cursor", JSON.stringify({ mcpServers: servers }))).add.map(({ name }) => name)).toEqual([
      "a",
      "b",
    ]);
  });

  it("unless the hub already runs it", async () => {
    const entry = { command: "npx", args: ["-y", "mcp-remote", url] };
    const { add, known } = await planned("cursor", json("mcpServers", entry), { servers: [{ ...entry, name: "old" }] });
    expect([add.length, known.map(({ name }) => name)]).toEqual([0, ["old"]]);
  });

  it("unless it is this hub", async () => {
    const entry = { command: "npx", args: ["mcp-remote", "http://127.0.0.1:7430/mcp"] };
    expect((await planned("cursor", json("mcpServers", entry))).skipped.map(({ name }) => name)).toEqual(["it"]);
  });

  it.each([
    ["--use-id-token", ["mcp-remote", url, "--use-id-token"]],
    ["--authorize-param", ["mcp-remote", url, "--authorize-param", "audience=x"]],
    ["--header-file", ["mcp-remote", url, "--header-file", "/h"]],
    ["--static-oauth-client-info", ["mcp-remote", url, "--static-oauth-client-info", "@/client.json"]],
    ["--static-oauth-client-info", ["mcp-remote", url, "--static-oauth-client-info", "{client_id: a}"]],
    ["--transport", ["mcp-remote", url, "--transport", "carrier-pigeon"]],
    ["--host", ["mcp-remote", url, "--host", "example.com"]],
    ["an argument", ["mcp-remote", url, "9696", "more"]],
  ])("stays where the hub has no equivalent for %s", async (option, args) => {
    const server = await imported("cursor", json("mcpServers", { command: "npx", args }));
    expect(server.entry).toMatchObject({ command: "npx", args });
    expect(server.notes).toContain(
      `mcp-remote stays between the hub and the server: the hub has no equivalent for ${option}`,
    );
  });

  it.each([
    ["npx", ["mcp-remote-go", url]],
    ["npx", ["mcp-remote"]],
    ["npx", ["-p", "mcp-remote", "mcp-remote-client", url]],
    ["docker", ["run", "mcp-remote", url]],
  ])("other programs stay: %s %j", async (command, args) => {
    expect((await imported("cursor", json("mcpServers", { command, args }))).entry).toMatchObject({ command, args });
  });
});
