import { describe, expect, it } from "vitest";
import { normalizeServer } from "./normalize.ts";
import { serverWarnings } from "./warnings.ts";
import { toServers, parseServerDocument } from "./documents.ts";

const url = "https://a.example/mcp";
const authOf = (auth: unknown) => normalizeServer("it", { url, auth }).auth;
const idp = { issuer: "https://idp.example", client_id: "b", id_token: { secretRef: "t" } };

describe("CF-1 auth of a server", () => {
  it.each([
    [undefined, undefined],
    [null, undefined],
    [false, { type: "none" }],
    ["none", { type: "none" }],
    [true, { type: "oauth" }],
    ["oauth", { type: "oauth" }],
    [{}, { type: "oauth" }],
    [{ client_id: "a" }, { type: "oauth", clientId: "a" }],
    [
      { clientId: "a", clientSecret: "s", scopes: ["x", "y", "x"], redirectPort: 3118 },
      { type: "oauth", clientId: "a", clientSecret: { value: "s" }, scopes: ["x", "y"], redirectPort: 3118 },
    ],
    [
      { CLIENT_ID: "a", CLIENT_SECRET: "${S}", scopes: [] },
      { type: "oauth", clientId: "a", clientSecret: { value: "${S}" }, scopes: [] },
    ],
    [{ scopes: " x  y:z " }, { type: "oauth", scopes: ["x", "y:z"] }],
    [
      { type: "client_credentials", client_id: "a", client_secret: { secret_ref: "s" } },
      { type: "client_credentials", clientId: "a", clientSecret: { secretRef: "s" } },
    ],
    [
      { type: "private_key_jwt", clientId: "a", key: { value: "PEM\n" }, keyId: "k", algorithm: "ES256" },
      { type: "private_key_jwt", clientId: "a", key: { value: "PEM\n" }, keyId: "k", algorithm: "ES256" },
    ],
    [
      { type: "workload", tokenFile: "/run/t" },
      { type: "workload", tokenFile: "/run/t" },
    ],
    [
      { type: "workload", token_env: "T" },
      { type: "workload", tokenEnv: "T" },
    ],
    [
      { type: "enterprise", idp: { issuer: idp.issuer, clientId: "b", idToken: { secretRef: "t" } } },
      {
        type: "enterprise",
        idp: { issuer: idp.issuer, clientId: "b", idToken: { secretRef: "t" } },
      },
    ],
    [{ resource: false }, { type: "oauth", resource: false }],
    [{ resource: "api://a-b-c" }, { type: "oauth", resource: "api://a-b-c" }],
    [{ issuer: "http://localhost:9/x" }, { type: "oauth", issuer: "http://localhost:9/x" }],
    [{ issuer: "http://127.0.0.1" }, { type: "oauth", issuer: "http://127.0.0.1" }],
    [{ issuer: "http://[::1]:9" }, { type: "oauth", issuer: "http://[::1]:9" }],
    [{ issuer: "${ISSUER}" }, { type: "oauth", issuer: "${ISSUER}" }],
  ])("%j", (auth, expected) => {
    expect(authOf(auth)).toEqual(expected);
  });
});

describe("CF-1 oauth of other clients in the server file", () => {
  it.each([
    [{ oauth: { clientId: "a", callbackPort: 3118, other: 1 } }, { type: "oauth", clientId: "a", redirectPort: 3118 }],
    [{ oauth: { callbackPort: 3118 } }, undefined],
    [{ oauth: { scope: "a b" } }, { type: "oauth", scopes: ["a", "b"] }],
    [{ oauth: false }, { type: "none" }],
    [{ oauth: true }, undefined],
    [{ oauth: "yes" }, undefined],
    [{ oauth: [] }, undefined],
    [
      { oauth: { clientId: "a" }, auth: { client_id: "b" } },
      { type: "oauth", clientId: "b" },
    ],
    [{ oauth: { clientId: "a" }, headers: { authorization: "Bearer x" } }, undefined],
    [{ oauth: { clientId: "a" }, url: undefined, command: "x" }, undefined],
    [{ oauth: { clientId: 7, clientSecret: "s", tokenUrl: "https://a.example/t" } }, undefined],
  ])("%j", (entry, expected) => {
    expect(normalizeServer("it", { url, ...entry }).auth).toEqual(expected);
  });

  it.each([
    ["https://a.example/.well-known/oauth-authorization-server", "https://a.example"],
    ["https://a.example/.well-known/oauth-authorization-server/tenant", "https://a.example/tenant"],
    ["https://a.example/tenant/.well-known/openid-configuration", "https://a.example/tenant"],
    ["https://a.example/metadata.json", undefined],
  ])("the metadata at %s is that of %s", (authServerMetadataUrl, issuer) => {
    expect(normalizeServer("it", { url, oauth: { authServerMetadataUrl } }).auth?.issuer).toBe(issuer);
  });
});

describe("CF-7 auth that cannot work is refused", () => {
  const pair = { client_id: "a", client_secret: "s" };

  it.each([
    [{ type: "password" }, "auth.type", /"none", "oauth", "client_credentials"/],
    ["ghp_x", "auth", /auth must be an object/],
    [7, "auth", /auth must be an object/],
    [[], "auth", /must be an object|auth must be an object/],
    [{ per: "team" }, "auth.per", /auth\.per/],
    [{ idp: { ...idp, secret: "x" } }, "auth.idp.secret", /Unknown field/],
    [{ client_id: "a", clientId: "b" }, "auth.clientId", /client_id in two spellings/],
    [{ client_id: "" }, "auth.client_id", /empty/],
    [{ client_secret: "s" }, "auth.client_id", /needs client_id/],
    [{ ...pair, client_secret: { value: "a", secretRef: "b" } }, "auth.client_secret", /either value or secretRef/],
    [{ ...pair, client_secret: { secret: "b" } }, "auth.client_secret.secret", /Unknown field/],
    [{ ...pair, client_secret: 7 }, "auth.client_secret", /A secret must be text/],
    [{ scopes: ["a b"] }, "auth.scopes.0", /one word/],
    [{ scopes: 7 }, "auth.scopes", /list of scopes/],
    [{ redirect_port: 0 }, "auth.redirect_port", /at least 1/],
    [{ redirect_port: 65_536 }, "auth.redirect_port", /at most 65535/],
    [{ redirect_host: "0.0.0.0" }, "auth.redirect_host", /"localhost", "127\.0\.0\.1"/],
    [{ pkce: "no" }, "auth.pkce", /"assume"/],
    [{ dpop: "yes" }, "auth.dpop", /true or false/],
    [{ token_endpoint_auth_method: "tls_client_auth" }, "auth.token_endpoint_auth_method", /client_secret_basic/],
    [{ type: "client_credentials", client_secret: "s" }, "auth.client_id", /needs client_id/],
    [{ type: "client_credentials", client_id: "a" }, "auth.client_secret", /needs client_secret/],
    [{ type: "private_key_jwt", client_id: "a" }, "auth.key", /needs key/],
    [{ type: "private_key_jwt", key: "k" }, "auth.client_id", /needs client_id/],
    [{ client_id: "a", token_endpoint_auth_method: "private_key_jwt" }, "auth.key", /needs key/],
    [{ type: "workload" }, "auth.token_file", /needs token_file/],
    [{ type: "workload", token_file: "/t", token_env: "T" }, "auth.token_env", /keep one/],
    [{ type: "enterprise" }, "auth.idp", /needs idp/],
    [{ type: "enterprise", idp: { ...idp, issuer: undefined } }, "auth.idp.issuer", /needs idp\.issuer/],
    [{ type: "enterprise", idp: { ...idp, client_id: undefined } }, "auth.idp.client_id", /needs idp\.client_id/],
    [{ type: "enterprise", idp: { ...idp, id_token: undefined } }, "auth.idp.id_token", /needs idp\.id_token/],
    [{ authorization_url: "https://a.example/a" }, "auth.token_url", /needs token_url/],
    [{ token_url: "https://a.example/t" }, "auth.authorization_url", /needs authorization_url/],
    [{ algorithm: "HS256" }, "auth.algorithm", /RS256/],
    [{ token_env: "A B" }, "auth.token_env", /letters, digits/],
  ])("%j", (auth, field, message) => {
    expect(() => authOf(auth)).toThrow(
      expect.objectContaining({ kind: "InvalidConfig", field, message: expect.stringMatching(message) as string }),
    );
  });

  it.each([
    "http://a.example",
    "ftp://a.example",
    "a.example",
    "https://u:p@a.example",
    "https://a.example/#x",
    "http://127.0.0.1.a.example",
    "http://10.0.0.1",
  ])("CF-7 an address must be https or on this machine: %s", (address) => {
    for (const key of ["issuer", "client_metadata_url"]) {
      expect(() => authOf({ [key]: address })).toThrow(
        expect.objectContaining({ kind: "InvalidConfig", field: `auth.${key}` }),
      );
    }
    const both = { authorization_url: address, token_url: address };
    expect(() => authOf(both)).toThrow(expect.objectContaining({ field: "auth.authorization_url" }));
    expect(() => authOf({ type: "enterprise", idp: { ...idp, issuer: address } })).toThrow(
      expect.objectContaining({ field: "auth.idp.issuer" }),
    );
  });

  it.each(["a b", "/relative", "https://a.example/#part"])("CF-7 resource %j is no absolute URI", (resource) => {
    expect(() => authOf({ resource })).toThrow(expect.objectContaining({ field: "auth.resource" }));
  });

  it("CF-7 a program has no auth", () => {
    expect(() => normalizeServer("it", { command: "x", auth: { client_id: "a" } })).toThrow(
      expect.objectContaining({
        kind: "InvalidConfig",
        field: "auth",
        message: expect.stringContaining("remote servers") as string,
      }),
    );
  });

  it("CF-7 an Authorization header beside auth is warned about, unless auth is false", () => {
    const warnings = (auth: unknown) =>
      serverWarnings(normalizeServer("it", { url, headers: { authorization: "Bearer ${T}" }, auth }));
    expect(warnings({ client_id: "a" })).toEqual([expect.stringContaining("the header authorization is not sent")]);
    expect(warnings(false)).toEqual([]);
    expect(warnings(undefined)).toEqual([]);
  });

  it("CF-8 only the entry with the mistake is invalid", () => {
    const text = JSON.stringify({ mcpServers: { bad: { url, auth: { type: "enterprise" } }, good: { url } } });
    const [bad, good] = toServers(parseServerDocument(text));
    expect(bad?.invalid).toMatchObject({ field: "mcpServers.bad.auth.idp" });
    expect(good?.invalid).toBeUndefined();
  });
});
