// The config of each hub and gateway that can be imported, with everything that is translated.

/** Every credential in the files contains it. */
export const MARKER = "m4rk3r-5ecr3t-0123456789";

/** One file of each product with everything that is translated. */
export const PRODUCT_FILES = {
  mcphub: {
    mcpServers: {
      notes: {
        command: "node",
        args: ["server.js", "$HOME_DIR"],
        env: { API_KEY: MARKER, LEVEL: "${LEVEL}" },
        enabled: false,
        description: "Notes",
        tools: { wipe: { enabled: false }, find: { enabled: true, description: "Finds notes" } },
        options: { timeout: 5000 },
        perSessionClient: true,
        startOnDemand: true,
        idleTimeoutMs: 1000,
      },
      tickets: {
        type: "streamable-http",
        url: "https://tickets.example/mcp",
        headers: { Authorization: `Bearer ${MARKER}` },
        enableKeepAlive: true,
        keepAliveInterval: 9000,
      },
      wiki: { type: "sse", url: "https://wiki.example/sse", oauth: { clientId: "c", scopes: ["read"] } },
    },
    groups: [
      { id: "1", name: "work", description: "Work", servers: ["notes", { name: "tickets", tools: ["get"] }] },
      { id: "2", name: "default", servers: [{ name: "tickets", tools: "all" }] },
    ],
  },
  metamcp: {
    mcp_servers: [
      { uuid: "s1", name: "clock", type: "STDIO", command: "uvx", args: ["clock"], env: { TZ: "UTC" }, url: null },
      {
        uuid: "s2",
        name: "tickets",
        type: "STREAMABLE_HTTP",
        command: null,
        args: [],
        env: {},
        url: "https://tickets.example/mcp",
        bearer_token: MARKER,
        headers: { "X-Team": "a" },
      },
      { uuid: "s3", name: "wiki", type: "SSE", args: [], env: {}, url: "https://wiki.example/sse" },
    ],
    namespaces: [{ uuid: "n1", name: "team", description: "The team" }],
    namespace_server_mappings: [
      { namespace_uuid: "n1", mcp_server_uuid: "s1", status: "ACTIVE" },
      { namespace_uuid: "n1", mcp_server_uuid: "s2", status: "ACTIVE" },
      { namespace_uuid: "n1", mcp_server_uuid: "s3", status: "INACTIVE" },
    ],
    tools: [
      { uuid: "t1", name: "now" },
      { uuid: "t2", name: "wipe" },
    ],
    namespace_tool_mappings: [
      { namespace_uuid: "n1", mcp_server_uuid: "s1", tool_uuid: "t1", status: "ACTIVE", override_name: "time_now" },
      { namespace_uuid: "n1", mcp_server_uuid: "s2", tool_uuid: "t2", status: "INACTIVE" },
    ],
    endpoints: [{ name: "team", namespace_uuid: "n1", enable_api_key_auth: true }],
    oauth_sessions: [
      {
        mcp_server_uuid: "s3",
        client_information: { client_id: "c", client_secret: MARKER, redirect_uris: ["https://x/cb"] },
        tokens: { access_token: MARKER, refresh_token: MARKER },
      },
    ],
  },
  "mcpproxy-go": {
    mcpServers: [
      {
        name: "notes",
        protocol: "stdio",
        command: "npx",
        args: ["-y", "notes"],
        working_dir: "/srv",
        env: { TOKEN: "${keyring:notes-token}", LEVEL: "${env:LEVEL}", COLOR: "red" },
        enabled: true,
        quarantined: true,
        disabled_tools: ["wipe"],
        init_timeout: "1m30s",
        health_check_interval: "2m",
        max_concurrent_requests: 3,
        queue_size: 0,
      },
      {
        name: "tickets",
        protocol: "streamable-http",
        url: "https://tickets.example/mcp",
        headers: { "X-Key": MARKER },
        enabled: false,
        enabled_tools: ["get", "list"],
        oauth: { client_id: "c", scopes: ["read"], extra_params: { resource: "https://tickets.example/mcp" } },
      },
    ],
    profiles: [
      { name: "reader", servers: ["notes", "tickets"], tools: { allow: ["notes:find*"], deny: ["tickets:get"] } },
      { name: "all-tools", title: "All", servers: ["notes"] },
    ],
    call_tool_timeout: "45s",
    routing_mode: "direct",
  },
  "1mcp": {
    mcpServers: {
      notes: {
        command: ["npx", "-y", "notes"],
        cwd: "/srv",
        env: ["API_KEY=" + MARKER, "LEVEL"],
        tags: ["files", "team.a"],
        disabledTools: ["wipe"],
        inheritParentEnv: true,
        envFilter: ["PATH", "REGION", "!SECRET_*"],
        restartDelay: 500,
      },
      tickets: {
        type: "streamableHttp",
        url: "https://tickets.example/mcp",
        headers: { Authorization: "Bearer ${TICKETS}" },
        tags: ["files"],
        disabled: true,
        connectionTimeout: 3000,
        requestTimeout: 7000,
        oauth: { clientId: "c", clientSecret: MARKER, scopes: ["read"] },
      },
    },
  },
  "mcp-proxy": {
    mcpProxy: { baseURL: "https://x", addr: ":9090", options: { authTokens: [MARKER] } },
    mcpServers: {
      notes: {
        command: "npx",
        args: ["-y", "notes"],
        env: { TOKEN: MARKER, PLAIN: "${PLAIN}" },
        options: { toolFilter: { mode: "block", list: ["wipe"] } },
      },
      again: { command: "npx", args: ["-y", "notes"], env: { TOKEN: "other", PLAIN: "x" } },
      tickets: {
        url: "https://tickets.example/mcp",
        transportType: "streamable-http",
        headers: { "X-Team": "a" },
        timeout: 5_000_000_000,
      },
      old: { url: "https://old.example/sse", enabled: false },
    },
  },
  supergateway: {
    port: 8000,
    oauth2Bearer: MARKER,
    mcpServers: {
      notes: { stdio: "npx -y notes --dir 'my notes'", env: { LEVEL: "${env:LEVEL}" }, cwd: "/srv", tools: ["find"] },
      assigned: { stdio: "API_KEY=" + MARKER + " LEVEL=2 uvx server" },
      piped: { stdio: "cat x | server", disabled: true },
      both: {
        mcpServers: {
          notes: { command: "uvx", args: ["other"] },
          tickets: { url: "https://tickets.example/mcp", type: "http" },
        },
      },
    },
  },
} as const satisfies Record<string, object>;
