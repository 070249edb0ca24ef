// Keys and proofs of DPoP (RFC 9449): tokens that are of use only with a key.

import { createHash, createPrivateKey, generateKeyPair, randomUUID, sign, type JsonWebKey } from "node:crypto";
import { promisify } from "node:util";
import type { DpopKey } from "./types.ts";

export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  return {
    privateJwk: toJwk(privateKey.export({ format: "jwk" })),
    publicJwk: toJwk(publicKey.export({ format: "jwk" })),
  };
}

/** The request that a proof is for. */
export interface ProvenRequest {
  readonly method: string;
  readonly url: string;
  /** Undefined at a token endpoint. */
  readonly accessToken?: string | undefined;
  /** The server's last DPoP-Nonce header. */
  readonly nonce?: string | undefined;
}

/** Makes a proof for one request. */
export type DpopSigner = (request: ProvenRequest) => string;

/** To be kept: reading the key takes twice as long as signing with it. */
export function dpopSigner({ privateJwk, publicJwk }: DpopKey): DpopSigner {
  const key = createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
  const { kty, crv, x, y } = publicJwk;
  const header = encode({ alg: "ES256", typ: "dpop+jwt", jwk: { kty, crv, x, y } });
  return ({ method, url, accessToken, nonce }) => {
    const { origin, pathname } = new URL(url);
    const payload = {
      jti: randomUUID(),
      htm: method,
      htu: origin + pathname,
      iat: Math.floor(Date.now() / 1000),
      ...(accessToken === undefined ? {} : { ath: createHash("sha256").update(accessToken).digest("base64url") }),
      ...(nonce === undefined ? {} : { nonce }),
    };
    // JWTs have the two numbers of the signature side by side, not as DER.
    const text = `${header}.${encode(payload)}`;
    return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
}

/** RFC 7638: binds a code to the key. */
export function dpopThumbprint({ publicJwk: { crv, kty, x, y } }: DpopKey): string {
  return createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function toJwk({ kty, crv, x, y, d }: JsonWebKey): DpopKey["privateJwk"] {
  return {
    kty: kty ?? "EC",
    ...Object.fromEntries(Object.entries({ crv, x, y, d }).filter(([, part]) => part !== undefined)),
  };
}
