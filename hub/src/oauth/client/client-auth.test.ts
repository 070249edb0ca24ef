import { generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { clientAuth } from "./client-auth.ts";
import type { ClientKey, OAuthClient } from "../types.ts";

const ISSUER = "https://as.example/tenant";

async function authenticate(client: Partial<OAuthClient>): Promise<{ body: URLSearchParams; headers: Headers }> {
  const body = new URLSearchParams();
  const headers = new Headers();
  const full: OAuthClient = { id: "client", method: "none", how: "configured", issuer: ISSUER, ...client };
  await clientAuth(full)({ issuer: ISSUER }, { client_id: full.id }, body, headers);
  return { body, headers };
}

describe("AU-1 client authentication", () => {
  it("none sends the id", async () => {
    const { body, headers } = await authenticate({});
    expect([Object.fromEntries(body), headers.get("authorization")]).toEqual([{ client_id: "client" }, null]);
  });

  it("post sends id and secret in the body", async () => {
    const { body } = await authenticate({ method: "client_secret_post", secret: "s:%" });
    expect(Object.fromEntries(body)).toEqual({ client_id: "client", client_secret: "s:%" });
  });

  it.each([
    ["pre-registered_client.1~", "s3cr-t_x.y~z!*'()/=", "pre-registered_client.1~:s3cr-t_x.y~z!*'()/="],
    ["a:b", "c:d", "a%3Ab:c%3Ad"],
    ["100%", "a+b", "100%25:a%2Bb"],
    ["a b", "\u00e4\u20ac\u{1f600}", "a%20b:%C3%A4%E2%82%AC%F0%9F%98%80"],
    ["a\n", "\u007f", "a%0A:%7F"],
  ])("Basic of %j and %j encodes only what it must: %s", async (id, secret, plain) => {
    const { body, headers } = await authenticate({ id, secret, method: "client_secret_basic" });
    const [scheme, credentials = ""] = headers.get("authorization")?.split(" ") ?? [];
    expect([scheme, Buffer.from(credentials, "base64").toString()]).toEqual(["Basic", plain]);
    expect(Object.fromEntries(body)).toEqual({ client_id: id });
  });

  it.each(["client_secret_basic", "client_secret_post"] as const)("%s without a secret is an error", async (method) => {
    await expect(authenticate({ method })).rejects.toMatchObject({ kind: "InvalidConfig" });
  });
});

describe("AU-2 client authentication by a private key", () => {
  const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
  const pem = (type: "pkcs8" | "sec1" | "pkcs1") => ({ type, format: "pem" }) as const;
  const p256 = ec("P-256");
  const p384 = ec("P-384");
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ed = generateKeyPairSync("ed25519");
  const jwk = { ...p256.privateKey.export({ format: "jwk" }), kid: "of-jwk" };

  it.each<[string, ClientKey, { publicKey: typeof p256.publicKey }, { alg: string; kid?: string }]>([
    ["EC as PKCS#8", { text: p256.privateKey.export(pem("pkcs8")).toString() }, p256, { alg: "ES256" }],
    ["EC as SEC1", { text: p256.privateKey.export(pem("sec1")).toString() }, p256, { alg: "ES256" }],
    ["a JWK", { text: JSON.stringify(jwk) }, p256, { alg: "ES256", kid: "of-jwk" }],
    ["a JWK with a given id", { text: JSON.stringify(jwk), keyId: "given" }, p256, { alg: "ES256", kid: "given" }],
    ["RSA", { text: rsa.privateKey.export(pem("pkcs8")).toString() }, rsa, { alg: "RS256" }],
    ["RSA as PKCS#1", { text: rsa.privateKey.export(pem("pkcs1")).toString() }, rsa, { alg: "RS256" }],
    [
      "RSA with another algorithm",
      { text: rsa.privateKey.export(pem("pkcs8")).toString(), algorithm: "PS384" },
      rsa,
      { alg: "PS384" },
    ],
    ["EC of P-384", { text: p384.privateKey.export(pem("pkcs8")).toString() }, p384, { alg: "ES384" }],
    ["Ed25519", { text: ed.privateKey.export(pem("pkcs8")).toString() }, ed, { alg: "EdDSA" }],
  ])("%s signs for the issuer alone", async (_name, key, { publicKey }, header) => {
    const { body, headers } = await authenticate({ method: "private_key_jwt", key });
    expect(headers.get("authorization")).toBeNull();
    expect(body.get("client_id")).toBe("client");
    expect(body.get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    const keys = createLocalJWKSet({ keys: [{ ...publicKey.export({ format: "jwk" }) } as { kty: string }] });
    const { kid: _kid, ...rest } = header;
    const token = body.get("client_assertion") ?? "";
    const { payload, protectedHeader } = await jwtVerify(token, async (given) => keys({ alg: given.alg }), {
      audience: ISSUER,
      issuer: "client",
      subject: "client",
      requiredClaims: ["jti", "iat", "exp"],
    });
    expect(protectedHeader).toEqual({ ...rest, ...(header.kid === undefined ? {} : { kid: header.kid }) });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
    const again = await authenticate({ method: "private_key_jwt", key });
    expect(again.body.get("client_assertion")).not.toBe(token);
  });

  it.each<[string, ClientKey | undefined]>([
    ["none", undefined],
    ["text", { text: "hunter2-not-a-key" }],
    ["a broken PEM", { text: "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----" }],
    ["a public JWK", { text: JSON.stringify(p256.publicKey.export({ format: "jwk" })) }],
    ["a broken JWK", { text: '{"kty":"EC","d":"hunter2' }],
    ["an algorithm for another key", { text: JSON.stringify(jwk), algorithm: "RS256" }],
  ])("a key that is %s is named as the problem, and not quoted", async (_name, key) => {
    const error: unknown = await authenticate({
      method: "private_key_jwt",
      ...(key === undefined ? {} : { key }),
    }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "InvalidConfig", field: "auth.key" });
    expect(JSON.stringify(error) + String((error as Error).cause)).not.toContain("hunter2");
  });
});
