import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from "jose";
import { expect, it } from "vitest";
import { createDpopKey, dpopSigner, dpopThumbprint } from "./dpop.ts";

const REQUEST = { method: "POST", url: "https://mcp.example/mcp?tenant=1#top", accessToken: "token" };

it("AU-1 a proof is a JWT over the request and the token that an independent library accepts", async () => {
  const key = await createDpopKey();
  const proof = dpopSigner(key)({ ...REQUEST, nonce: "n-1" });
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt", algorithms: ["ES256"] });
  expect(payload).toMatchObject({ htm: "POST", htu: "https://mcp.example/mcp", nonce: "n-1" });
  // base64url of SHA-256("token").
  expect(payload["ath"]).toBe("PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A");
  expect(protectedHeader.jwk).not.toHaveProperty("d");
  expect(await calculateJwkThumbprint(protectedHeader.jwk ?? {})).toBe(await calculateJwkThumbprint(key.publicJwk));
});

it("AU-1 a proof for a token endpoint is over the request alone", async () => {
  const proof = dpopSigner(await createDpopKey())({ method: "POST", url: "https://as.example/token" });
  const { payload } = await jwtVerify(proof, EmbeddedJWK);
  expect(Object.keys(payload).toSorted()).toEqual(["htm", "htu", "iat", "jti"]);
});

it("AU-1 the thumbprint of a key is that of RFC 7638", async () => {
  const key = await createDpopKey();
  expect(dpopThumbprint(key)).toBe(await calculateJwkThumbprint(key.publicJwk));
});

it("AU-1 each proof has an id of its own, and each key is new", async () => {
  const [one, two] = [await createDpopKey(), await createDpopKey()];
  expect(one.publicJwk).not.toEqual(two.publicJwk);
  const prove = dpopSigner(one);
  const ids = [1, 2].map(() => idOf(prove(REQUEST)));
  expect(new Set(ids).size).toBe(2);
});

function idOf(proof: string): unknown {
  const claims: { jti?: unknown } = JSON.parse(Buffer.from(proof.split(".")[1] ?? "", "base64url").toString());
  return claims.jti;
}
