// Every field of a config entry survives parsing, the API view and writing back. A new field of the schema does not compile
// without an entry here, and fails here if normalize, the view or the written form lacks it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asIs, toEntry, toShown } from "../../hub/src/api/server/entry/entry.ts";
import { normalizeGroup, normalizeServer, toGroupEntry } from "../../hub/src/config/parse/normalize.ts";
import { restoreMasked } from "../../hub/src/api/server/entry/restore.ts";
import { toJsonObject } from "../../hub/src/api/server/entry/object.ts";
import { AUTH_TYPES, type AuthFields } from "../../hub/src/config/schema/auth.ts";
import { HubError } from "../../hub/src/errors.ts";
import type { groupEntry, serverEntry } from "../../hub/src/config/schema/schema.ts";

const command = "node";
const url = "https://a.example/mcp";

const SERVERS = {
  id: { command, id: "other" },
  enabled: { command, enabled: false },
  disabled: { command, disabled: true },
  description: { command, description: "what it does" },
  command: { command: "deno" },
  args: { command, args: ["a", "b"] },
  env: { command, env: { A: "1", B: { secretRef: "b", required: true } } },
  allowEnv: { command, allowEnv: ["HOME"] },
  allow_env: { command, allow_env: ["HOME"] },
  cwd: { command, cwd: "/tmp" },
  url: { url },
  headers: { url, headers: { "X-A": "b" } },
  auth: {
    url,
    auth: {
      type: "oauth",
      per: "user",
      list_as: "user:1",
      client_id: "a",
      client_secret: { secretRef: "s" },
      scopes: ["read"],
      issuer: "https://as.example",
      resource: false,
      pkce: "assume",
      dpop: true,
      redirect_host: "127.0.0.1",
      redirect_port: 8080,
      client_metadata_url: "https://me.example/client.json",
      token_endpoint_auth_method: "private_key_jwt",
      key: "${KEY}",
      algorithm: "ES256",
      key_id: "k",
      token_file: "/run/token",
      token_env: "TOKEN",
      idp: {
        issuer: "https://idp.example",
        token_url: "https://idp.example/token",
        client_id: "b",
        client_secret: "literal",
        id_token: { secretRef: "t" },
      },
      refresh_scope: true,
      allow_private: true,
      authorization_url: "https://as.example/authorize",
      token_url: "https://as.example/token",
    } satisfies Required<AuthFields>,
  },
  oauth: { url, oauth: { clientId: "a", callbackPort: 8080 } },
  type: { url, type: "sse" },
  package: { package: { type: "npm", identifier: "some-mcp" } },
  transport: { transport: { type: "http", url } },
  envVars: { command, envVars: [{ name: "A", value: "1" }] },
  env_vars: { command, env_vars: [{ name: "A", value: "1" }] },
  hardened: { command: "docker", args: ["run", "-i", "--rm", "image"], hardened: true },
  source: { command, source: { type: "smithery", qualifiedName: "a/b" } },
  timeout: { command, timeout: 5000 },
  timeouts: { command, timeouts: { start_ms: 1000, install_ms: 2000, request_ms: 3000 } },
  isolation: { command, isolation: "per-call" },
  era: { command, era: "legacy" },
  npm: { command: "npx", args: ["-y", "some-mcp"], npm: "npx" },
  pins: { command, pins: "block" },
  resilience: { command, resilience: { restart: false } },
  results: { command, results: { max_bytes: 20_000 } },
  proxy: { url, proxy: "http://proxy.example:3128" },
  tls: { url, tls: { ca: "/etc/ca.pem" } },
  ca: { url, ca: "/etc/ca.pem" },
  groups: { command, groups: ["work"] },
  config: { command, config: { depth: 3 } },
} as const satisfies Record<keyof typeof serverEntry.shape, object>;

const GROUPS = {
  description: { description: "what it is for" },
  servers: { servers: ["git"] },
  tools: {
    tools: {
      "git:log": {
        as: "history",
        description: "What happened",
        arguments: { repo: { const: "." }, raw: { hidden: true } },
        approve: "always",
      },
      "git:*": {},
      "!git:push": {},
    },
  },
  name_asker: { name_asker: false },
  access: { access: ["user:ann@example.com", "team:eng", "*"] },
  exposure: { exposure: "search" },
  always: { always: ["git:status"] },
  approve: { approve: "destructive" },
  results: { results: { max_tokens: 5000 } },
  approval_timeout_ms: { approval_timeout_ms: 60_000 },
} as const satisfies Record<keyof typeof groupEntry.shape, object>;

describe("a server entry", () => {
  it.each(Object.entries(SERVERS))("CF-1 keeps %s", (_, entry) => {
    const config = normalizeServer("it", entry);
    expect(config).not.toEqual(normalizeServer("it", { command }));
    expect(normalizeServer(undefined, toEntry(config, asIs))).toEqual(config);
  });
});

describe("a group entry", () => {
  it.each(Object.entries(GROUPS))("GR-1 keeps %s", (_, entry) => {
    const group = normalizeGroup("work", entry);
    expect(group).not.toEqual(normalizeGroup("work", {}));
    expect(normalizeGroup("work", toGroupEntry(group))).toEqual(group);
  });
});

describe("any auth", () => {
  const SECRET = "pl4nted-s3cret-9f";
  const secret = fc.constantFrom(
    SECRET,
    { value: SECRET },
    { secretRef: "stored" },
    { secret_ref: "stored" },
    "${NAME}",
    7,
  );
  const address = fc.constantFrom("https://a.example/x", "http://localhost:1", "http://a.example", "${URL}", "no");
  const text = fc.constantFrom("a", "${NAME}", "", "a b");
  const idp = {
    issuer: address,
    tokenUrl: address,
    client_id: text,
    clientSecret: secret,
    id_token: secret,
  };
  const members = {
    type: fc.constantFrom(...AUTH_TYPES, "other"),
    client_id: text,
    CLIENT_ID: text,
    clientSecret: secret,
    scopes: fc.oneof(text, fc.array(text, { maxLength: 3 })),
    issuer: address,
    resource: fc.oneof(address, fc.boolean()),
    redirectPort: fc.integer({ min: -1, max: 70_000 }),
    key: secret,
    tokenFile: text,
    token_env: text,
    idp: fc.record(idp, { requiredKeys: [] }),
    authorizationUrl: address,
    token_url: address,
    per: text,
  };
  const keys = Object.keys(members) as (keyof typeof members)[];
  const auth = fc
    .subarray(keys, { maxLength: 6 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((key) => [key, members[key]]))));

  it("CF-8 T12 is refused, or kept by reading, showing and writing back, and shown without its secrets", () => {
    let accepted = 0;
    fc.assert(
      fc.property(auth, (given) => {
        const config = (() => {
          try {
            return normalizeServer("it", { url, auth: given });
          } catch (error) {
            expect(error).toBeInstanceOf(HubError);
            expect(error).toMatchObject({ kind: "InvalidConfig", field: expect.stringMatching(/^auth/) });
            expect(JSON.stringify(error)).not.toContain(SECRET);
            return undefined;
          }
        })();
        if (config === undefined) return;
        accepted++;
        expect(normalizeServer(undefined, toEntry(config, asIs))).toEqual(config);
        const shown = toShown(config);
        expect(JSON.stringify(shown)).not.toContain(SECRET);
        const { command: _command, args: _args, ...restored } = restoreMasked(toJsonObject(shown), config);
        expect(normalizeServer(undefined, restored)).toEqual(config);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
