// Programs that get tokens by credentials of their own (client_credentials), without a person: an administrator adds them.

import { createPublicKey, randomUUID, type JsonWebKey, type KeyObject } from "node:crypto";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { randomSecret } from "../secret-digest.ts";
import { digestOfSecret } from "./client-secret.ts";
import type { ClientLogin, StoredClient } from "./issuer-store.ts";

export interface NewProgram {
  readonly name: string;
  readonly principal: string;
  readonly groups: readonly string[];
  readonly readOnly: boolean;
  readonly expiresAt: number;
  /** PEM or JWK: the program signs assertions with its private key (private_key_jwt). Undefined: it gets a secret. */
  readonly publicKey: string | undefined;
}

export interface MadeProgram {
  readonly client: StoredClient;
  readonly login: ClientLogin;
  /** Only here: it cannot be shown again. */
  readonly secret: string | undefined;
}

/** No client that registers itself gets such an id. */
const PREFIX = "program-";
const MIN_RSA_BITS = 2048;
const CURVES: ReadonlySet<unknown> = new Set(["P-256", "Ed25519"]);

export function isProgram(client: unknown): boolean {
  return typeof client === "string" && client.startsWith(PREFIX);
}

/** The id of its one login. */
export function loginOfProgram(client: string): string {
  return client.slice(PREFIX.length);
}

export function makeProgram(given: NewProgram, now: number): MadeProgram {
  const { name, principal, groups, readOnly, expiresAt, publicKey } = given;
  const key = publicKey === undefined ? undefined : toJwk(publicKey);
  const secret = key === undefined ? randomSecret() : undefined;
  const loginId = randomUUID();
  const id = `${PREFIX}${loginId}`;
  const metadata = {
    client_id: id,
    client_name: name,
    redirect_uris: [],
    response_types: [],
    grant_types: ["client_credentials"],
    ...(secret === undefined
      ? { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [key] } }
      : { token_endpoint_auth_method: "client_secret_basic", client_secret: digestOfSecret(secret) }),
  };
  return {
    secret,
    client: { id, metadata, createdAt: now, createdFrom: "", usedAt: undefined },
    // It has one login, which lasts as long as its access.
    login: {
      id: loginId,
      client: id,
      clientName: name,
      redirectHost: "",
      principal,
      groups,
      readOnly,
      createdAt: now,
      expiresAt,
      usedAt: undefined,
    },
  };
}

function toJwk(text: string): JsonWebKey {
  const key = read(text);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const isStrong = type === "rsa" ? (details?.modulusLength ?? 0) >= MIN_RSA_BITS : type === "ec" || type === "ed25519";
  const jwk = key.export({ format: "jwk" });
  if (!isStrong || (type !== "rsa" && !CURVES.has(jwk.crv))) {
    throw unusable(`A key must be RSA with ${MIN_RSA_BITS} bits or more, EC P-256 or Ed25519`);
  }
  return { ...jwk, use: "sig" };
}

function read(text: string): KeyObject {
  const jwk = parseJson(text);
  // Whoever has seen a private key can be the program.
  if (text.includes("PRIVATE KEY") || (jwk !== undefined && "d" in jwk)) {
    throw unusable("This is a private key. Only the program may have it");
  }
  try {
    return createPublicKey(jwk === undefined ? text : { key: jwk, format: "jwk" });
  } catch (cause) {
    throw unusable("This is no public key", cause);
  }
}

function parseJson(text: string): JsonWebKey | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function unusable(message: string, cause?: unknown): HubError {
  return new HubError("InvalidArgument", message, {
    field: "public_key",
    hint: "Give the public key as PEM (openssl pkey -in KEY.pem -pubout) or as JWK",
    ...(cause === undefined ? {} : { cause }),
  });
}
