// Which identity providers of hub.json are accepted.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hubSettingsEntry } from "../schema/hub-settings.ts";
import { parseWith } from "../schema/schema.ts";
import { requireValidIssuers } from "./issuers.ts";

const ISSUER = { issuer: "https://idp.example.com" };

function read(issuers: unknown): void {
  const { auth } = parseWith(hubSettingsEntry, { auth: { issuers } });
  requireValidIssuers(auth?.issuers ?? []);
}

describe("AU-4 auth.issuers", () => {
  it.each<[string, unknown, RegExp]>([
    ["two issuers of the same name", [ISSUER, { ...ISSUER, audience: ["a"] }], /two entries for https:\/\/idp/],
    ["an empty list of audiences", [{ ...ISSUER, audience: [] }], /audience is empty/],
    [
      "an issuer with http",
      [{ issuer: "http://idp.example.com" }],
      /auth\.issuers\.0\.issuer must be an https address/,
    ],
    ["an issuer that looks like loopback", [{ issuer: "http://127.0.0.1.evil.example" }], /must be an https address/],
    [
      "keys over http",
      [ISSUER, { issuer: "https://b.example", jwks_uri: "http://b.example/keys" }],
      /issuers\.1\.jwks_uri/,
    ],
    [
      "introspection over http",
      [{ ...ISSUER, introspection: { endpoint: "http://b.example", client_id: "a", client_secret: "b" } }],
      /introspection\.endpoint/,
    ],
    ["no address", [{ issuer: "keycloak" }], /must be an https address/],
    ["an address with credentials", [{ issuer: "https://a:b@idp.example.com" }], /must be an https address/],
    ["a shared secret as key", [{ ...ISSUER, algorithms: ["HS256"] }], /algorithms must be/],
    ["no algorithm at all", [{ ...ISSUER, algorithms: [] }], /algorithms is empty/],
    ["an unknown role", [{ ...ISSUER, roles: { claim: "r", map: { a: "root" } } }], /role/i],
    ["an unknown scope", [{ ...ISSUER, scopes: { map: { a: "all" } } }], /scope/i],
    ["a misspelt setting", [{ ...ISSUER, audiences: ["a"] }], /audiences/],
  ])("with %s are refused, and the error names it", (_, issuers, message) => {
    expect(() => read(issuers)).toThrow(message);
  });

  it.each([[[]], [[ISSUER]], [[{ issuer: "http://127.0.0.1:8080/realms/a" }, { issuer: "http://localhost" }]]])(
    "are accepted as %j",
    (issuers) => {
      expect(() => read(issuers)).not.toThrow();
    },
  );

  it("are valid in the examples of the documentation", () => {
    const text = readFileSync(new URL("../../../../docs/access.md", import.meta.url), "utf8");
    const blocks = text
      .split("```json\n")
      .slice(1)
      .map((rest) => rest.split("```")[0] ?? "");
    const examples = blocks.filter((block) => block.includes('"issuers"'));
    expect(examples.length).toBeGreaterThanOrEqual(4);
    for (const example of examples) {
      const settings = parseWith(hubSettingsEntry, JSON.parse(example));
      requireValidIssuers(settings.auth?.issuers ?? []);
    }
  });
});
