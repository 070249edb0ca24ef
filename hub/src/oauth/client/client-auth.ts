// How the hub proves at a token endpoint which client it is.

import { createPrivateKey, randomUUID, type KeyObject } from "node:crypto";
import type { ClientAuth } from "oauth4webapi";
import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type { AuthorizationServerMetadata, ClientAuthMethod, ClientKey, OAuthClient } from "../types.ts";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ASSERTION_SECONDS = 60;
/** Node's names of the curves other than P-256. */
const BY_CURVE: ReadonlyMap<string, string> = new Map([
  ["secp384r1", "ES384"],
  ["secp521r1", "ES512"],
]);

/** Adds the client's credentials to a request. The client id is always in the body: some servers look for it only there. */
export function clientAuth(client: OAuthClient): ClientAuth {
  return async ({ issuer }, _client, body, headers) => {
    body.set("client_id", client.id);
    switch (client.method) {
      case "none":
        return;
      case "client_secret_post":
        body.set("client_secret", secretOf(client));
        return;
      case "client_secret_basic":
        headers.set("authorization", basic(client.id, secretOf(client)));
        return;
      case "private_key_jwt":
        body.set("client_assertion_type", ASSERTION_TYPE);
        body.set("client_assertion", await clientAssertion(client, issuer));
    }
  };
}

/** The values of a client that no error may quote. */
export function secretsOf({ id, secret, key, management }: OAuthClient): string[] {
  const credentials = secret === undefined ? [] : [secret, `${encoded(id)}:${encoded(secret)}`];
  return [...credentials, ...[key?.text, management?.token].filter((value) => value !== undefined)];
}

/** For a client whose method neither the config nor its registration says. */
export function defaultMethod(
  { token_endpoint_auth_methods_supported: listed }: AuthorizationServerMetadata,
  { secret, key }: { readonly secret?: string | undefined; readonly key?: ClientKey | undefined },
): ClientAuthMethod {
  if (key !== undefined) return "private_key_jwt";
  if (secret === undefined) return "none";
  const isPostOnly = listed?.includes("client_secret_post") === true && !listed.includes("client_secret_basic");
  return isPostOnly ? "client_secret_post" : "client_secret_basic";
}

function secretOf({ secret }: OAuthClient): string {
  if (secret !== undefined) return secret;
  throw new HubError("InvalidConfig", "The client of this login has no secret, but is to authenticate with one", {
    field: "auth.client_secret",
  });
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${encoded(id)}:${encoded(secret)}`).toString("base64")}`;
}

/**
 * RFC 6749 has both form-encoded. Many servers compare them as they are sent, so that only what would not survive is encoded: what
 * separates them, what a form decoder changes, and what is not printable ASCII.
 */
function encoded(text: string): string {
  return text.replaceAll(/[^!-~]|[:%+]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/** RFC 7523. The audience is the issuer, so that the assertion is of no use anywhere else. */
async function clientAssertion({ id, key }: OAuthClient, issuer: string): Promise<string> {
  if (key === undefined) throw notAKey("There is no key");
  const { privateKey, jwk } = parseKey(key.text);
  const alg = key.algorithm ?? (typeof jwk?.["alg"] === "string" ? jwk["alg"] : defaultAlgorithm(privateKey));
  const kid = key.keyId ?? (typeof jwk?.["kid"] === "string" ? jwk["kid"] : undefined);
  const { SignJWT } = await import("jose");
  const token = new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .setIssuer(id)
    .setSubject(id)
    .setAudience(issuer)
    .setIssuedAt()
    .setExpirationTime(`${ASSERTION_SECONDS}s`);
  try {
    return await token.sign(privateKey);
  } catch {
    throw notAKey(`The key cannot sign with the algorithm ${alg}`);
  }
}

/** The error of the parser is left out: it may quote the key. */
function parseKey(text: string): { readonly privateKey: KeyObject; readonly jwk?: JsonObject } {
  try {
    if (!text.trimStart().startsWith("{")) return { privateKey: createPrivateKey(text) };
    const jwk: unknown = JSON.parse(text);
    if (isObject(jwk)) return { privateKey: createPrivateKey({ key: { ...jwk }, format: "jwk" }), jwk };
  } catch {
    // As below.
  }
  throw notAKey("It is neither a private key in PEM nor a JWK with its private part");
}

function notAKey(detail: string): HubError {
  return new HubError("InvalidConfig", "The private key of the client cannot be used", { field: "auth.key", detail });
}

function defaultAlgorithm({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  if (asymmetricKeyType === "rsa-pss") return "PS256";
  if (asymmetricKeyType !== "ec") return "RS256";
  return BY_CURVE.get(asymmetricKeyDetails?.namedCurve ?? "") ?? "ES256";
}
