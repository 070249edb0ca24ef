// What is read from the tokens of common identity providers. The claims are those of their documentation.

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../lib/json/json.ts";
import { readIdentity, type TokenIdentity } from "./claims.ts";
import { ALGORITHMS, type IssuerSettings } from "./issuer-settings.ts";

const SETTINGS: IssuerSettings = {
  issuer: "https://idp.example.com",
  audience: [],
  jwksUri: undefined,
  algorithms: ALGORITHMS,
  principal: "sub",
  roles: undefined,
  teams: undefined,
  groups: undefined,
  scopes: { map: new Map(), fallback: [] },
  requiredClaims: new Map(),
  recheckMs: undefined,
  introspection: undefined,
};

const read = (claims: JsonObject, settings: Partial<IssuerSettings> = {}) =>
  readIdentity({ sub: "s", ...claims }, { ...SETTINGS, ...settings });

type Row = [string, JsonObject, Partial<IssuerSettings>, Partial<TokenIdentity>];

const KEYCLOAK: JsonObject = {
  iss: "https://keycloak.example.com/realms/team",
  sub: "f:1:alice",
  typ: "Bearer",
  azp: "claude",
  aud: ["https://hub.example.com/mcp/dev", "account"],
  realm_access: { roles: ["offline_access", "hub-operator"] },
  resource_access: { plugboard: { roles: ["hub-admin"] } },
  groups: ["/engineering/platform", "/everyone"],
  scope: "openid email mcp",
  email: "alice@example.com",
  email_verified: true,
  preferred_username: "alice",
};
const ENTRA_V2: JsonObject = {
  iss: "https://login.microsoftonline.com/9122040d/v2.0",
  ver: "2.0",
  aud: "6e74172b-be56-4843-9ff4-e66a39bb12e3",
  azp: "aebc6443-996d-45c2-90f0-388ff96faa56",
  oid: "690222be-ff1a-4d56-abd1-7e4f7d38e474",
  sub: "HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",
  scp: "access_as_user mcp.read",
  roles: ["Hub.Operator"],
  groups: ["0a1b", "2c3d"],
  name: "Alice Example",
  preferred_username: "alice@example.com",
};
const ENTRA_APP: JsonObject = {
  iss: "https://sts.windows.net/9122040d/",
  ver: "1.0",
  aud: "api://plugboard",
  appid: "8f3d",
  oid: "7a",
  sub: "7a",
  roles: ["Hub.Call"],
};
const OKTA: JsonObject = {
  ver: 1,
  iss: "https://example.okta.com/oauth2/default",
  sub: "alice@example.com",
  uid: "00u1",
  cid: "0oa1",
  aud: "https://hub.example.com/mcp/dev",
  scp: ["openid", "mcp"],
  groups: ["Everyone", "Engineering"],
};

describe("AU-4 the claims of", () => {
  it.each<Row>([
    [
      "Keycloak",
      KEYCLOAK,
      {},
      { client: "claude", scope: "mcp", email: "alice@example.com", emailVerified: true, name: "alice" },
    ],
    [
      "Keycloak, realm roles",
      KEYCLOAK,
      { roles: { claim: "realm_access.roles", map: new Map([["hub-operator", ["operator"]]]) } },
      { role: "operator" },
    ],
    [
      "Keycloak, client roles",
      KEYCLOAK,
      { roles: { claim: "resource_access.plugboard.roles", map: new Map([["hub-admin", ["admin"]]]) } },
      { role: "admin" },
    ],
    [
      "Keycloak, groups as teams and as groups of the hub",
      KEYCLOAK,
      {
        teams: { claim: "groups", map: undefined },
        groups: { claim: "groups", map: new Map([["/engineering/platform", ["dev", "ops"]]]) },
      },
      { teams: ["/engineering/platform", "/everyone"], groups: new Set(["dev", "ops"]) },
    ],
    [
      "Entra",
      ENTRA_V2,
      {
        principal: "oid",
        roles: { claim: "roles", map: new Map([["Hub.Operator", ["operator"]]]) },
        teams: { claim: "groups", map: new Map([["0a1b", ["platform"]]]) },
        scopes: {
          map: new Map([
            ["access_as_user", ["mcp"]],
            ["mcp.read", ["mcp:read"]],
          ]),
          fallback: [],
        },
      },
      {
        subject: "690222be-ff1a-4d56-abd1-7e4f7d38e474",
        client: "aebc6443-996d-45c2-90f0-388ff96faa56",
        role: "operator",
        teams: ["platform"],
        scope: "mcp",
        name: "Alice Example",
      },
    ],
    [
      "Entra, a program without scopes",
      ENTRA_APP,
      { principal: "oid", scopes: { map: new Map(), fallback: ["mcp:read"] } },
      { subject: "7a", client: "8f3d", scope: "mcp:read" },
    ],
    [
      "Okta",
      OKTA,
      {
        groups: {
          claim: "groups",
          map: new Map([
            ["Engineering", ["dev"]],
            ["Everyone", []],
          ]),
        },
      },
      { subject: "alice@example.com", client: "0oa1", scope: "mcp", groups: new Set(["dev"]) },
    ],
    [
      "a provider with claims named by addresses",
      { "https://example.com/roles": "admin" },
      { roles: { claim: "https://example.com/roles", map: undefined } },
      { role: "admin" },
    ],
  ])("%s", (_, claims, settings, expected) => {
    expect(read(claims, settings)).toMatchObject(expected);
  });

  it.each<[string, JsonObject, Partial<IssuerSettings>, Partial<TokenIdentity>]>([
    ["no scope of the hub", { scope: "openid profile" }, {}, { scope: undefined }],
    [
      "the default, though it names another scope",
      { scope: "mcp:read" },
      { scopes: { map: new Map(), fallback: ["hub:admin"] } },
      { scope: "mcp:read" },
    ],
    ["the broadest of several scopes", { scope: "mcp:read hub:operate mcp" }, {}, { scope: "hub:operate" }],
    ["scopes in another case", { scope: "MCP" }, {}, { scope: undefined }],
    ["all groups", { g: ["*"] }, { groups: { claim: "g", map: undefined } }, { groups: "*" }],
    ["no groups, where they are configured", {}, { groups: { claim: "g", map: undefined } }, { groups: new Set() }],
    [
      "the broadest of several roles",
      { r: ["user", "admin"] },
      { roles: { claim: "r", map: undefined } },
      { role: "admin" },
    ],
    ["unknown roles", { r: ["root", 7] }, { roles: { claim: "r", map: undefined } }, { role: "user" }],
    [
      "a value that is in the prototype",
      { r: ["constructor"] },
      { roles: { claim: "r", map: new Map([["a", ["admin"]]]) } },
      { role: "user" },
    ],
    [
      "a claim that is in the prototype",
      {},
      { groups: { claim: "constructor.name", map: undefined } },
      { groups: new Set() },
    ],
  ])("a token with %s", (_, claims, settings, expected) => {
    expect(read(claims, settings)).toMatchObject(expected);
  });

  it.each<[string, JsonObject, Partial<IssuerSettings>, RegExp]>([
    ["a missing claim", {}, { requiredClaims: new Map([["tid", undefined]]) }, /no claim tid/],
    ["another value", { tid: "b" }, { requiredClaims: new Map([["tid", "a"]]) }, /another value/],
    ["an email address that is not verified", { email: "a@b" }, { principal: "email" }, /not verified/],
    ["a verification as text", { email: "a@b", email_verified: "true" }, { principal: "email" }, /not verified/],
    ["a subject that is a number", { sub: 7 }, {}, /does not name anyone/],
    ["a subject that is too long", { sub: "x".repeat(256) }, {}, /does not name anyone/],
  ])("a token with %s is refused", (_, claims, settings, message) => {
    expect(() => read(claims, settings)).toThrow(message);
  });

  it("a required claim may be one of a list", () => {
    expect(read({ groups: ["a", "b"] }, { requiredClaims: new Map([["groups", "b"]]) }).subject).toBe("s");
  });
});
