// What an ID token and a logout token must be to be believed.

import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { checkIdToken, checkLogoutToken, type TokenCheck } from "./id-token.ts";

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

const ISSUER = "https://id.example";
const CLIENT = "plugboard";
const NONCE = "the nonce of the request";
const EVENT = { "http://schemas.openid.net/event/backchannel-logout": {} };

let keys: Keys;
let others: Keys;
let check: TokenCheck;

beforeAll(async () => {
  [keys, others] = await Promise.all([generateKeyPair("ES256"), generateKeyPair("ES256")]);
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "1", alg: "ES256" };
  check = { issuer: ISSUER, clientId: CLIENT, keys: createLocalJWKSet({ keys: [jwk] }) };
});

const now = () => Math.floor(Date.now() / 1000);

function sign(
  claims: JWTPayload,
  { key = keys.privateKey, typ = "JWT" }: { key?: Keys["privateKey"]; typ?: string } = {},
) {
  return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "1", typ }).sign(key);
}

type Claims = Readonly<Record<string, unknown>>;

const idClaims = (more: Claims = {}): JWTPayload => {
  const time = { iat: now(), exp: now() + 60 };
  return { iss: ISSUER, aud: CLIENT, sub: "ann", nonce: NONCE, ...time, ...more };
};
const logoutClaims = (more: Claims = {}): JWTPayload => {
  return { iss: ISSUER, aud: CLIENT, sub: "ann", iat: now(), jti: "1", events: EVENT, ...more };
};

describe("AU-5 an ID token", () => {
  it("of this provider, for this hub and this sign-in says who it is", async () => {
    expect(await checkIdToken(await sign(idClaims()), NONCE, check)).toMatchObject({ sub: "ann" });
    const several = await sign(idClaims({ aud: [CLIENT, "another"], azp: CLIENT }));
    expect(await checkIdToken(several, NONCE, check)).toMatchObject({ sub: "ann" });
  });

  it.each<[string, string, Claims]>([
    ["of another issuer", "iss", { iss: "https://evil.example" }],
    ["for another client", "aud", { aud: "another" }],
    ["for several clients, without the one that asked", "azp", { aud: [CLIENT, "another"] }],
    ["that another client asked for", "azp", { azp: "another" }],
    ["of another sign-in", "nonce", { nonce: "another" }],
    ["without a nonce", "nonce", { nonce: undefined }],
    ["that has expired", "exp", { exp: now() - 600 }],
    ["without an end", "exp", { exp: undefined }],
    ["without a subject", "sub", { sub: undefined }],
    ["with an empty subject", "sub", { sub: "" }],
    ["from the future", "nbf", { nbf: now() + 3600 }],
  ])("%s is refused", async (_, wrong, claims) => {
    const refused = { kind: "LoginFailed", detail: `Wrong: ${wrong}` };
    await expect(checkIdToken(await sign(idClaims(claims)), NONCE, check)).rejects.toMatchObject(refused);
  });

  it.each<[string, () => string | Promise<string>]>([
    ["signed by another key", () => sign(idClaims(), { key: others.privateKey })],
    ["that is not signed", () => new UnsecuredJWT(idClaims()).encode()],
    [
      "signed with a secret",
      () => new SignJWT(idClaims()).setProtectedHeader({ alg: "HS256" }).sign(Buffer.alloc(32, 1)),
    ],
    ["that is an access token", () => sign(idClaims(), { typ: "at+jwt" })],
    ["that is a logout token", () => sign(idClaims(), { typ: "logout+jwt" })],
    ["that is no token", () => "x.y.z"],
  ])("%s is refused", async (_, make) => {
    await expect(checkIdToken(await make(), NONCE, check)).rejects.toMatchObject({ kind: "LoginFailed" });
  });
});

describe("AU-5 a logout token", () => {
  it.each([undefined, "logout+jwt"])("of the type %s ends sessions", async (typ) => {
    const token = await sign(logoutClaims({ sid: "7" }), typ === undefined ? {} : { typ });
    expect(await checkLogoutToken(token, check)).toEqual({ subject: "ann", sessionId: "7", id: "1" });
  });

  it.each<[string, Claims]>([
    ["of another issuer", { iss: "https://evil.example" }],
    ["for another client", { aud: "another" }],
    ["without the event", { events: {} }],
    ["that is an ID token", { nonce: NONCE }],
    ["without an id", { jti: undefined }],
    ["about no one", { sub: undefined }],
    ["that is old", { iat: now() - 3600 }],
  ])("%s ends nothing", async (_, claims) => {
    const token = await sign(logoutClaims(claims));
    await expect(checkLogoutToken(token, check)).rejects.toMatchObject({ kind: "LoginFailed" });
  });
});
