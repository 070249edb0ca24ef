// What each ID in a test title means, and the test file to begin with. IDs of requirements have a prefix by topic (CF config, LC life cycle,
// CL client, GR groups, RS resilience and records, MG management, SE security, AU access, CH chat, MC the basic cases), threats are
// T01 to T52, faults F01 to F48, threats to logins A01 to A34. requirements.test.ts checks that each has its proof and that titles have no other IDs.

export interface Requirement {
  readonly means: string;
  /** Where most of its tests are. */
  readonly provenBy: string;
}

export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  "CF-1": {
    means:
      "A server is declared in JSON under mcpServers, with command, args, env and cwd, or url and headers, and optional metadata.",
    provenBy: "hub/src/config/parse/normalize.test.ts",
  },
  "CF-2": {
    means: "Entries with command and args and entries with package and transport are read into one normal form.",
    provenBy: "hub/src/servers/npm/npx-call.test.ts",
  },
  "CF-3": {
    means:
      "Servers are loaded from mcp_server.json and groups from group.json in a config folder that can be moved; a missing file is an empty config.",
    provenBy: "test/cli/invalid-config.test.ts",
  },
  "CF-4": {
    means: "A server with enabled: false is not started; its status is disabled.",
    provenBy: "hub/src/config/parse/normalize.test.ts",
  },
  "CF-5": {
    means:
      "${NAME} and ${NAME:-default} are filled in from the environment at start and never written back; a missing variable is named.",
    provenBy: "hub/src/config/parse/expand.test.ts",
  },
  "CF-6": {
    means:
      "An env entry is a string or an object with value, secretRef, isSecret and required; a missing required secret blocks save and start.",
    provenBy: "hub/src/servers/process/resolve.test.ts",
  },
  "CF-7": {
    means: "Every rule of the config is validated, and each failure names its field.",
    provenBy: "hub/src/config/schema/rules.test.ts",
  },
  "CF-8": {
    means:
      "Nothing invalid is saved, a save survives a kill at any instant, and an invalid entry in a file stops no other.",
    provenBy: "hub/src/config/files/config-files.test.ts",
  },
  "CF-9": {
    means: "An edit of a config file takes effect without a restart and touches only what changed.",
    provenBy: "test/config/reload.test.ts",
  },
  "CF-10": {
    means: "Edits through the API and the CLI are written to the same files, comments kept.",
    provenBy: "hub/src/config/edit/edit.test.ts",
  },
  "CF-11": {
    means: "Servers are imported from other MCP clients, and the hub is installed into their config files.",
    provenBy: "hub/src/client-configs/import/plan.test.ts",
  },
  "LC-1": {
    means:
      "A server's status is stopped, starting, running, error, disabled or disconnected, and matches the real process or connection.",
    provenBy: "test/servers/lifecycle.test.ts",
  },
  "LC-2": {
    means:
      "A start checks that the server is enabled, resolves secrets, spawns or connects, shakes hands and lists tools.",
    provenBy: "test/servers/instances.test.ts",
  },
  "LC-3": {
    means: "Each kind of start failure has its own error code, with the last lines of the server's stderr.",
    provenBy: "test/servers/launchers.test.ts",
  },
  "LC-4": {
    means: "A stop closes stdin, waits up to 5 s, then kills the whole process tree, whatever the launcher.",
    provenBy: "hub/src/servers/process/process.test.ts",
  },
  "LC-5": {
    means: "All servers stop in parallel; when the hub dies, even by SIGKILL, no server process is left.",
    provenBy: "test/servers/orphans.test.ts",
  },
  "LC-6": {
    means: "A crash or a lost connection sets the status, and an automatic restart with backoff brings the tools back.",
    provenBy: "hub/src/servers/server.test.ts",
  },
  "LC-7": { means: "One failed server never blocks or slows another.", provenBy: "test/servers/isolation.test.ts" },
  "LC-8": {
    means: "Enabling a server that does not start disables it again and returns the error.",
    provenBy: "test/cli/config-changes.test.ts",
  },
  "LC-9": {
    means: "A config can be tested without saving it, and nothing is left running.",
    provenBy: "test/cli/call.test.ts",
  },
  "LC-10": {
    means: "Stage and elapsed time of a start are visible in the CLI and as API events.",
    provenBy: "hub/src/cli/terminal/start-steps.test.ts",
  },
  "CL-1": {
    means: "Over stdio, malformed lines, non-JSON output and unknown ids are skipped and counted, never fatal.",
    provenBy: "hub/src/protocol/connect/peer.test.ts",
  },
  "CL-2": {
    means: "The handshake speaks every protocol revision from 2024-11-05 to 2026-07-28.",
    provenBy: "test/mcp/eras.test.ts",
  },
  "CL-3": {
    means:
      "Requests time out, progress restarts the clock up to a ceiling, a timed-out call is cancelled and its late answer dropped.",
    provenBy: "hub/src/protocol/connect/peer.test.ts",
  },
  "CL-4": {
    means: "Lists follow every page; entries that clients cannot read are repaired or left out, each with a warning.",
    provenBy: "hub/src/servers/connection/lists.test.ts",
  },
  "CL-5": { means: "A tool result is passed on unchanged.", provenBy: "hub/src/calls/exposed-uris.test.ts" },
  "CL-6": {
    means: "Calls to one server run concurrently over one connection, and answers match by id.",
    provenBy: "test/calls/calls.test.ts",
  },
  "CL-7": {
    means: "Streamable HTTP, HTTP+SSE and WebSocket servers work, with sessions, resumption and credentials.",
    provenBy: "hub/src/protocol/connect/http-client.test.ts",
  },
  "CL-8": { means: "The MCP client is usable on its own as a library.", provenBy: "test/library/library.test.ts" },
  "CL-9": {
    means: "JSON-RPC batches are accepted from peers of 2025-03-26.",
    provenBy: "hub/src/protocol/serve/http-server-batches.test.ts",
  },
  "GR-1": {
    means: "group.json maps a group's name to its servers and tool patterns; no patterns means all tools.",
    provenBy: "hub/src/config/parse/normalize.test.ts",
  },
  "GR-2": {
    means: "A group that names an unknown server gets a warning and works with the rest.",
    provenBy: "test/mcp/sdk-clients.test.ts",
  },
  "GR-3": {
    means:
      "A group's tools are listed with their schemas; a failing server is left out; an unknown group is NOT_FOUND.",
    provenBy: "hub/src/catalog/catalog.test.ts",
  },
  "GR-4": {
    means: "Without a group, the group default is used, which holds every enabled server unless it is declared.",
    provenBy: "test/api/config.test.ts",
  },
  "GR-5": {
    means: "A call checks that the tool is in the group and returns the server's answer or error unchanged.",
    provenBy: "hub/src/protocol/revisions/tool-era.test.ts",
  },
  "GR-6": {
    means:
      "Tools of the same name on two servers never shadow each other, and exposed names are legal for LLM clients.",
    provenBy: "hub/src/calls/exposed-uris.test.ts",
  },
  "GR-7": {
    means: "Each group is an MCP endpoint over HTTP and stdio with every MCP feature passed in both directions.",
    provenBy: "test/mcp/two-way.test.ts",
  },
  "GR-8": {
    means: "Clients are told when a server comes, goes or changes its lists.",
    provenBy: "hub/src/mcp/lists/list-changed.test.ts",
  },
  "RS-1": {
    means: "Failed calls are retried at most twice, only where it is safe, within one deadline.",
    provenBy: "hub/src/calls/steps/retry.test.ts",
  },
  "RS-2": {
    means: "A circuit breaker per server opens after 3 failures, probes after the cooldown, and closes on success.",
    provenBy: "hub/src/servers/resilience/circuit.test.ts",
  },
  "RS-3": {
    means: "Running servers are checked periodically by a real tools/list.",
    provenBy: "test/servers/unauthenticated.test.ts",
  },
  "RS-4": {
    means: "Every call is written to the call log, redacted, bounded, and not lost by a crash.",
    provenBy: "hub/src/call-log/contract.test.ts",
  },
  "RS-5": {
    means: "Latency percentiles and totals are known per server and per tool.",
    provenBy: "hub/src/calls/latency.test.ts",
  },
  "RS-6": {
    means: "Structured logs tell connects, failures, tool counts, calls and reloads.",
    provenBy: "hub/src/log/log.test.ts",
  },
  "RS-7": {
    means: "The management API returns a tool result as success, content, error and duration_ms.",
    provenBy: "test/api/management.test.ts",
  },
  "MG-1": {
    means: "The eleven management commands exist as REST, CLI, typed client and MCP tools.",
    provenBy: "test/cli/inspect.test.ts",
  },
  "MG-2": {
    means: "The embedding interface is a documented TypeScript API.",
    provenBy: "test/library/library.test.ts",
  },
  "MG-3": {
    means: "There are OpenAPI 3.1, live events, Prometheus metrics, traces and health probes.",
    provenBy: "test/calls/traces.test.ts",
  },
  "MG-4": {
    means: "A web interface does all that the management API does.",
    provenBy: "test/ui/routes.test.ts",
  },
  "MG-5": {
    means: "Timestamps are each server's own, and every call has one outcome in result, log and metrics.",
    provenBy: "test/calls/outcomes.test.ts",
  },
  "MG-6": {
    means: "The admin endpoint accepts both argument shapes and refuses unknown arguments.",
    provenBy: "test/api/admin.test.ts",
  },
  "SC-2": {
    means: "Replicas share config, secrets, tokens and call log; changes reach each in under a second.",
    provenBy: "hub/src/config/files/contract.test.ts",
  },
  "SC-3": {
    means: "A legacy session works whichever hub gets its requests, and survives the death of its owner.",
    provenBy: "test/cluster/sessions.test.ts",
  },
  "SC-5": {
    means: "Calls continue while PostgreSQL is away; nothing acknowledged is lost when it comes back.",
    provenBy: "test/cluster/replicas.test.ts",
  },
  "SE-1": {
    means: "Secrets are encrypted at rest and appear in no config, log, API answer or call log.",
    provenBy: "hub/src/secrets/file-store.test.ts",
  },
  "SE-2": {
    means: "A child process gets a minimal environment and what its config grants.",
    provenBy: "hub/src/servers/process/environment.test.ts",
  },
  "SE-3": {
    means: "The hub binds loopback, checks Host and Origin, and refuses other addresses without authentication.",
    provenBy: "hub/src/http/listener.test.ts",
  },
  "SE-4": {
    means: "Docker servers can run with the least exposure by one setting.",
    provenBy: "hub/src/servers/process/command-line.test.ts",
  },
  "SE-5": {
    means: "Inputs are validated at every edge; sizes, depths and counts are bounded.",
    provenBy: "test/http/http-front.test.ts",
  },
  "SE-6": {
    means: "A tool that changes after it was approved is flagged, and can be withheld until it is approved again.",
    provenBy: "test/approval/approval.test.ts",
  },
  "AU-1": {
    means:
      "A remote server that asks for OAuth can be used: discovery, registration, PKCE, resource indicators, scopes with step-up, refresh, logout.",
    provenBy: "hub/src/oauth/challenge.test.ts",
  },
  "AU-2": {
    means:
      "Machine logins: client credentials, private_key_jwt, workload identity, enterprise-managed authorization, DPoP.",
    provenBy: "hub/src/oauth/client/client-auth.test.ts",
  },
  "AU-3": {
    means:
      "Access tokens of the hub: per person or program, for groups, read-only, with expiry and last use; revoked within a second; hashed at rest.",
    provenBy: "test/auth/access-tokens.test.ts",
  },
  "AU-5": {
    means:
      "Users with roles, groups open to some, own credentials per user at a server, SSO for the UI, an audit of who did what with a hash chain.",
    provenBy: "hub/src/auth/users.test.ts",
  },
  "AU-4": {
    means:
      "The hub is an OAuth 2.1 resource server: metadata per group, JWTs and opaque tokens of an identity provider, and an authorization server of its own.",
    provenBy: "hub/src/auth/credential.test.ts",
  },
  "AU-6": {
    means:
      "Beyond loopback only with authentication, a public address and TLS (own files or a named proxy); otherwise the hub refuses to start and says why.",
    provenBy: "test/network/tls.test.ts",
  },
  "AU-7": {
    means: "Calls and rates are limited, and a flooding server slows no other.",
    provenBy: "test/auth/limits.test.ts",
  },
  "RG-2": {
    means:
      "Servers, changed tools and calls are approved by a person, as CATALOGUE §6 and the rules of a group say; never by the model.",
    provenBy: "test/calls/approval.test.ts",
  },
  "RG-1": {
    means:
      "Servers are found and added from registries and mirrors; required inputs are asked for, secrets go to the store, versions are exact.",
    provenBy: "test/registry/registries.test.ts",
  },
  "RG-3": {
    means:
      "Large groups are offered as tools that search, describe and call, by setting, by URL or automatically above a measured size; token counts are shown.",
    provenBy: "test/mcp/tool-search.test.ts",
  },
  "RG-4": {
    means: "A group can rename and redescribe tools, and hide or fix their arguments, without touching the server.",
    provenBy: "test/mcp/tool-settings.test.ts",
  },
  "CH-1": {
    means: "The chat server runs over stdio or HTTP and shuts down cleanly.",
    provenBy: "test/chat/scenarios.test.ts",
  },
  "CH-2": {
    means: "It announces its tools, resources and prompts with schemas and descriptions.",
    provenBy: "test/chat/scenarios.test.ts",
  },
  "CH-3": {
    means: "list_sources names every source and whether it is connected.",
    provenBy: "test/chat/scenarios.test.ts",
  },
  "CH-4": {
    means: "list_chats filters by type and name and reports participant counts.",
    provenBy: "chat/src/store/store.test.ts",
  },
  "CH-5": {
    means: "get_messages filters and pages messages, most recent first.",
    provenBy: "chat/src/store/store.test.ts",
  },
  "CH-6": {
    means: "messages:// resources give the same messages as text lines.",
    provenBy: "chat/src/model/lines.test.ts",
  },
  "CH-7": {
    means: "The prompt analyze_conversation contains the last 100 messages and their context.",
    provenBy: "test/chat/scenarios.test.ts",
  },
  "CH-8": {
    means: "Chat errors have a code, a fixed message and instructions.",
    provenBy: "test/chat/scenarios.test.ts",
  },
  "CH-9": { means: "An optional bearer token protects the HTTP server.", provenBy: "test/chat/limits.test.ts" },
  "CH-10": {
    means: "Subscriptions deliver new messages of a source or a chat, with a filter.",
    provenBy: "test/chat/live.test.ts",
  },
  "CH-11": {
    means: "Connections and requests time out, and at most 100 requests run at once.",
    provenBy: "test/chat/limits.test.ts",
  },
  "CH-12": {
    means: "Telegram, Signal, WhatsApp and other sources work live or from their export files.",
    provenBy: "chat/src/store/write/apply.test.ts",
  },
  "MC-T1": { means: "Starting a server spawns its process.", provenBy: "test/servers/launchers.test.ts" },
  "MC-T2": { means: "Stopping a server ends its process.", provenBy: "test/servers/launchers.test.ts" },
  "MC-T3": { means: "The tool list is filled after a start.", provenBy: "hub/src/servers/connection/lists.test.ts" },
  "MC-T4": { means: "A tool call returns its result.", provenBy: "test/cli/call.test.ts" },
  "MC-T5": { means: "A failed server does not block others.", provenBy: "test/servers/isolation.test.ts" },
  "MC-T6": {
    means: "Environment variables reach the server.",
    provenBy: "hub/src/servers/process/command-line.test.ts",
  },
  "MC-T7": { means: "Secrets are resolved from the store.", provenBy: "hub/src/servers/process/resolve.test.ts" },
  "MC-T8": { means: "Shutdown stops every server.", provenBy: "hub/src/servers/supervisor.test.ts" },
  "MC-T9": { means: "The status reflects the actual state.", provenBy: "test/api/errors.test.ts" },
  "MC-NT1": {
    means: "Starting a disabled server is a CONFLICT and changes no status.",
    provenBy: "hub/src/servers/server.test.ts",
  },
  "MC-NT2": {
    means: "Calling an unknown server is NOT_FOUND and runs nothing.",
    provenBy: "hub/src/servers/supervisor.test.ts",
  },
  "MC-NT3": {
    means: "Creating a server without a name is a VALIDATION_ERROR and saves nothing.",
    provenBy: "hub/src/config/files/config-files.test.ts",
  },
  "MC-NT4": {
    means: "A missing required variable is a VALIDATION_ERROR and blocks the save.",
    provenBy: "hub/src/config/files/config-files.test.ts",
  },
  T01: {
    means: "DNS rebinding: the Host header is checked on every route.",
    provenBy: "hub/src/http/listener-origin.test.ts",
  },
  T02: { means: "Cross-origin pages: the Origin header is checked.", provenBy: "hub/src/http/listener-origin.test.ts" },
  T03: {
    means: "Cross-site request forgery: a token in a header and a JSON content type are required.",
    provenBy: "hub/src/api/server/body.test.ts",
  },
  T04: { means: "Requests without credentials are refused.", provenBy: "test/api/token.test.ts" },
  T05: {
    means: "Tokens are random, hashed and compared in constant time; guessing is slowed down.",
    provenBy: "hub/src/auth/management-token.test.ts",
  },
  T06: { means: "Object and function level authorization cannot be bypassed.", provenBy: "test/api/token.test.ts" },
  T08: {
    means: "Command and flag injection through the config is refused.",
    provenBy: "hub/src/config/parse/risks.test.ts",
  },
  T09: {
    means: "What an import or an edit would run is not run before a person has approved it.",
    provenBy: "test/approval/approval.test.ts",
  },
  T10: {
    means: "The hub's own environment does not leak to child processes.",
    provenBy: "hub/src/servers/process/process.test.ts",
  },
  T11: {
    means: "Variables are expanded only where the operator declared them.",
    provenBy: "hub/src/config/parse/allowed-env.test.ts",
  },
  T12: { means: "Secrets are masked in every output.", provenBy: "hub/src/redaction/redactor.test.ts" },
  T13: { means: "Files are readable by their owner only.", provenBy: "hub/src/secrets/file-store.test.ts" },
  T14: {
    means: "Secrets are encrypted with authenticated encryption.",
    provenBy: "hub/src/secrets/file-store.test.ts",
  },
  T15: { means: "Secrets never appear in argv.", provenBy: "hub/src/servers/process/command-line.test.ts" },
  T16: { means: "Names cannot traverse paths.", provenBy: "hub/src/secrets/contract.test.ts" },
  T17: {
    means: "Symlinks and predictable temporary files are refused.",
    provenBy: "hub/src/auth/management-token.test.ts",
  },
  T18: {
    means: "No regular expression backtracks on foreign input.",
    provenBy: "hub/src/catalog/uri-template.test.ts",
  },
  T19: { means: "Magic names such as __proto__ have no effect.", provenBy: "hub/src/config/schema/rules.test.ts" },
  T20: { means: "JSON bombs are refused by size, depth and count.", provenBy: "test/http/http-front.test.ts" },
  T21: {
    means: "Slow clients are cut off and hold nothing up.",
    provenBy: "hub/src/http/fast-path/fast-connection.test.ts",
  },
  T22: { means: "Sessions and streams cannot be exhausted.", provenBy: "test/http/sessions.test.ts" },
  T23: { means: "Compressed bombs are refused.", provenBy: "chat/src/importers/import-limits.test.ts" },
  T24: { means: "A giant line of a server ends its connection, not the hub.", provenBy: "test/http/floods.test.ts" },
  T25: { means: "A flood on stderr is drained and bounded.", provenBy: "hub/src/servers/process/process.test.ts" },
  T26: {
    means: "A flood of notifications is slowed down and bounded.",
    provenBy: "hub/src/protocol/connect/read-limiter.test.ts",
  },
  T27: {
    means: "A tool that changes after it was approved is noticed, and withheld where that is wanted.",
    provenBy: "hub/src/approval/pins.test.ts",
  },
  T28: { means: "Every exposed name maps to exactly one tool.", provenBy: "hub/src/catalog/names.test.ts" },
  T29: { means: "Hidden text in tool metadata is flagged.", provenBy: "hub/src/lib/hidden-text.test.ts" },
  T30: { means: "Foreign text in the web interface cannot run as a script.", provenBy: "test/ui/files.test.ts" },
  T44: {
    means: "A change, removal or insertion of a row of the audit log is found.",
    provenBy: "hub/src/auth/audit.test.ts",
  },
  T33: {
    means: "Sessions and other handles of one caller are unknown to all others.",
    provenBy: "test/auth/access-tokens.test.ts",
  },
  T34: {
    means: "Clients never receive each other's answers.",
    provenBy: "hub/src/protocol/connect/peer-owners.test.ts",
  },
  T35: {
    means: "Headers that contradict the body are refused.",
    provenBy: "hub/src/protocol/revisions/headers.test.ts",
  },
  T36: { means: "Ambiguous JSON is refused.", provenBy: "hub/src/protocol/rpc/jsonrpc.test.ts" },
  T37: {
    means: "The CLI proves that it talks to its own hub before it sends a token.",
    provenBy: "test/cli/conventions.test.ts",
  },
  T38: {
    means: "Other machines cannot reach the hub by accident.",
    provenBy: "test/network/refusals.test.ts",
  },
  T40: {
    means: "Credentials that a client sends to the hub are passed on to no server.",
    provenBy: "test/auth/identity-provider.test.ts",
  },
  T41: { means: "Log lines cannot be forged.", provenBy: "hub/src/api/server/live/event-log.test.ts" },
  T47: { means: "A token for some chats sees and finds nothing else.", provenBy: "test/chat/hub-tokens.test.ts" },
  T48: { means: "Concurrent calls are limited.", provenBy: "test/faults/limits.test.ts" },
  T49: { means: "Schema bombs are refused.", provenBy: "test/fuzz/headers.test.ts" },
  T50: { means: "Errors leak no internals.", provenBy: "hub/src/http/problem.test.ts" },
  T52: {
    means: "Limits of the config hold at n - 1, n and n + 1.",
    provenBy: "hub/src/config/files/config-files.test.ts",
  },
  A01: {
    means:
      "A confused deputy: a code or token that nobody has consented to at the hub, for this client and this address.",
    provenBy: "test/auth/issuer.test.ts",
  },
  A02: {
    means: "Credentials of a client never reach a server; a server gets only the token of its own login.",
    provenBy: "test/oauth/secrecy.test.ts",
  },
  A03: {
    means: "A callback counts only for the authorization server for which the login was begun.",
    provenBy: "test/oauth/callback.test.ts",
  },
  A04: {
    means: "A callback works once and for its own login only; a code is sent once.",
    provenBy: "test/oauth/callback.test.ts",
  },
  A05: {
    means: "An authorization server that may not support PKCE is refused.",
    provenBy: "test/oauth/metadata.test.ts",
  },
  A06: {
    means: "No address of the hub redirects a browser elsewhere, whatever its query says.",
    provenBy: "hub/src/auth/sso/return-path.test.ts",
  },
  A07: {
    means: "Addresses in a server's metadata cannot make the hub send requests inside the network.",
    provenBy: "hub/src/oauth/fetch/allowed-addresses.test.ts",
  },
  A08: {
    means: "Addresses in a server's metadata are https, or http on this machine, and nothing else.",
    provenBy: "hub/src/oauth/fetch/safe-url.test.ts",
  },
  A09: {
    means: "Metadata of another issuer than the one that the server or the config names is not used.",
    provenBy: "hub/src/oauth/discovery/discovery.test.ts",
  },
  A10: {
    means: "Metadata about another resource than the server is not used.",
    provenBy: "hub/src/oauth/discovery/discovery.test.ts",
  },
  A11: {
    means:
      "A login or sign-in that began in one browser cannot be finished in another, and a sign-in makes a new session.",
    provenBy: "test/auth/sso.test.ts",
  },
  A12: {
    means: "A page of another site can neither begin a login or sign-in nor finish one.",
    provenBy: "test/auth/sso.test.ts",
  },
  A13: {
    means: "The hub's pages answer only to its own names, and cannot be embedded.",
    provenBy: "hub/src/http/pages/login-pages.test.ts",
  },
  A14: {
    means: "Nobody is led to log in for another person: a link works for the person it was made for.",
    provenBy: "test/oauth/per-user.test.ts",
  },
  A15: {
    means: "Requests at the moment of expiry, and several processes, cause one renewal of a login.",
    provenBy: "hub/src/servers/login/renewal.test.ts",
  },
  A16: {
    means: "A lost answer or a kill during a renewal loses no login that the authorization server still accepts.",
    provenBy: "hub/src/servers/login/renewal.test.ts",
  },
  A17: {
    means: "A failure of the authorization server that may pass is never taken for the end of a login.",
    provenBy: "hub/src/servers/login/renewal.test.ts",
  },
  A18: {
    means: "A revoked token ends everything that it holds open within a second.",
    provenBy: "test/auth/access-tokens.test.ts",
  },
  A19: {
    means: "Tokens of servers are encrypted on disk, tokens of the hub are hashed.",
    provenBy: "hub/src/secrets/login-store.test.ts",
  },
  A20: {
    means: "Tokens, codes, verifiers and client secrets are in no output, log, event, database or error.",
    provenBy: "test/oauth/secrecy.test.ts",
  },
  A21: {
    means: "A token is used for the login that it belongs to only.",
    provenBy: "test/oauth/secrecy.test.ts",
  },
  A22: {
    means: "A forged, borrowed or expired JWT is refused, and unknown keys cause few requests.",
    provenBy: "hub/src/auth/providers/issuer-tokens.test.ts",
  },
  A23: {
    means: "A token is refused if its issuer cannot be asked about it, or does not clearly say that it is valid.",
    provenBy: "hub/src/auth/providers/issuer-tokens.test.ts",
  },
  A24: {
    means: "Abuse of registration at the hub's authorization server: floods, misleading names, dangerous addresses.",
    provenBy: "test/auth/issuer-clients.test.ts",
  },
  A25: {
    means: "A client's document that is another's, that leads into the network, or that pretends to be known.",
    provenBy: "test/auth/issuer-clients.test.ts",
  },
  A26: {
    means: "Clickjacking of the consent page, and scripts in what a client says about itself.",
    provenBy: "test/ui/consent.test.ts",
  },
  A27: {
    means: "One policy decides what each role may do; a route that is not listed needs the highest role.",
    provenBy: "test/api/token.test.ts",
  },
  A28: {
    means: "Guessing is limited by client address, and a right token always passes.",
    provenBy: "test/network/tls.test.ts",
  },
  A29: {
    means: "With settings that would make it unsafe, the hub opens no port and starts no server.",
    provenBy: "test/network/refusals.test.ts",
  },
  A30: {
    means: "Forwarded headers change neither addresses in metadata nor who a caller is taken for.",
    provenBy: "test/auth/identity-provider.test.ts",
  },
  A31: {
    means: "Another program at the port of a callback is noticed, and gets nothing that it can use.",
    provenBy: "hub/src/http/callback-listeners.test.ts",
  },
  A32: {
    means: "Handles (sessions, tasks, suspended calls, logins) of one principal or client are unknown to all others.",
    provenBy: "test/auth/access-tokens.test.ts",
  },
  A33: {
    means: "A failure during discovery does not make the hub use a weaker way to log in.",
    provenBy: "hub/src/oauth/discovery/discovery.test.ts",
  },
  A34: {
    means: "A login asks for the scopes that the server wants and those of before, and no others.",
    provenBy: "hub/src/oauth/scopes.test.ts",
  },

  F01: { means: "A server exits during a call.", provenBy: "test/faults/stdio.test.ts" },
  F02: { means: "A server is killed by a signal.", provenBy: "hub/src/servers/connection/handshake.test.ts" },
  F03: { means: "A server hangs.", provenBy: "hub/src/protocol/connect/peer.test.ts" },
  F04: { means: "A server answers just in time.", provenBy: "hub/src/protocol/connect/peer.test.ts" },
  F05: { means: "An answer comes after the timeout.", provenBy: "hub/src/protocol/connect/peer.test.ts" },
  F06: { means: "A server writes garbage.", provenBy: "test/faults/http.test.ts" },
  F07: { means: "Lines are split at any byte.", provenBy: "hub/src/lib/streams/lines.test.ts" },
  F08: { means: "A server writes a gigabyte without a newline.", provenBy: "hub/src/lib/streams/lines.test.ts" },
  F09: { means: "An answer has a wrong id.", provenBy: "test/faults/stdio.test.ts" },
  F10: { means: "An answer comes twice.", provenBy: "hub/src/protocol/connect/peer.test.ts" },
  F11: { means: "An id has the wrong type.", provenBy: "hub/src/protocol/connect/peer.test.ts" },
  F12: { means: "A server floods the hub with notifications.", provenBy: "test/faults/stdio.test.ts" },
  F13: { means: "A server sends requests that are not supported.", provenBy: "test/calls/calls.test.ts" },
  F14: { means: "A server exits during the handshake.", provenBy: "hub/src/servers/connection/handshake.test.ts" },
  F15: { means: "The handshake is never answered.", provenBy: "hub/src/servers/connection/handshake.test.ts" },
  F16: { means: "The protocol version or the capabilities are malformed.", provenBy: "test/faults/stdio.test.ts" },
  F17: {
    means: "The command is missing, not executable, or its package or engine is not there.",
    provenBy: "hub/src/servers/process/process.test.ts",
  },
  F18: { means: "A server ignores EOF and SIGTERM.", provenBy: "test/faults/stdio.test.ts" },
  F19: { means: "A launcher leaves grandchildren.", provenBy: "test/faults/stdio.test.ts" },
  F20: { means: "A server crashes in a loop.", provenBy: "hub/src/servers/resilience/backoff.test.ts" },
  F21: { means: "The hub's port is in use.", provenBy: "test/cli/up.test.ts" },
  F22: { means: "A server answers 429 with Retry-After.", provenBy: "test/faults/http.test.ts" },
  F23: { means: "A server answers 5xx.", provenBy: "test/faults/http.test.ts" },
  F24: { means: "A server answers 401 or 403.", provenBy: "test/faults/http.test.ts" },
  F25: { means: "A connection is reset at any byte.", provenBy: "test/faults/http.test.ts" },
  F26: { means: "An event stream is malformed or endless.", provenBy: "shared/src/streams/sse.test.ts" },
  F27: { means: "TLS fails.", provenBy: "test/faults/tls.test.ts" },
  F28: { means: "DNS fails.", provenBy: "test/faults/names.test.ts" },
  F29: { means: "An upstream server restarts and forgets its sessions.", provenBy: "test/faults/http.test.ts" },
  F30: { means: "A server is down at boot and comes back later.", provenBy: "test/faults/http.test.ts" },
  F31: { means: "One of fifty servers hangs at boot.", provenBy: "test/servers/isolation.test.ts" },
  F32: {
    means: "The disk is full when the config is written.",
    provenBy: "hub/src/servers/connection/era-memory.test.ts",
  },
  F33: { means: "The disk is full when the call log is written.", provenBy: "test/faults/disk.test.ts" },
  F34: { means: "Writes fail at any system call.", provenBy: "test/faults/disk.test.ts" },
  F35: { means: "The database is locked by another process.", provenBy: "hub/src/call-log/sqlite/failures.test.ts" },
  F36: { means: "The database is damaged.", provenBy: "hub/src/call-log/sqlite/damage.test.ts" },
  F37: {
    means: "A config file is half-written, invalid, empty, deleted or huge.",
    provenBy: "test/config/reload.test.ts",
  },
  F38: {
    means: "The config is reloaded while calls run, or in a storm.",
    provenBy: "hub/src/servers/supervisor.test.ts",
  },
  F39: { means: "Two writers change the config at once.", provenBy: "test/api/revisions.test.ts" },
  F40: { means: "The wall clock jumps.", provenBy: "test/faults/clock.test.ts" },
  F41: { means: "The hub is killed with SIGKILL.", provenBy: "test/bridge/restart.test.ts" },
  F42: { means: "The hub gets SIGTERM while calls run.", provenBy: "test/calls/drain.test.ts" },
  F43: { means: "A server or the hub is stopped with SIGSTOP.", provenBy: "hub/src/lib/stall-detector.test.ts" },
  F44: { means: "File descriptors run out.", provenBy: "test/faults/limits.test.ts" },
  F45: { means: "Memory is short.", provenBy: "test/faults/limits.test.ts" },
  F46: { means: "A client vanishes, cancels or half-closes.", provenBy: "test/faults/clients.test.ts" },
  F47: { means: "A thousand sessions run while faults happen at random.", provenBy: "hub/src/calls/latency.test.ts" },
  F48: { means: "The hub runs for a day.", provenBy: "test/faults/long/soak.long.ts" },
};
