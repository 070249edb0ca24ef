// The `auth` of an entry in one form, checked as a whole: what a type of login needs, and which addresses are safe to use.

import { fromFields } from "@plugboard/shared/fields";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import {
  authFields,
  type AuthEntry,
  type AuthFields,
  type IdentityProvider,
  type SecretEntry,
  type SecretValue,
  type ServerAuth,
} from "../schema/auth.ts";
import { parseWith } from "../schema/schema.ts";
import type { Transport } from "../schema/types.ts";
import { toPlainJson, type Json, type JsonObject } from "./plain-object.ts";

/** Undefined if the entry says nothing about it. */
export function toAuth(entry: AuthEntry | JsonObject | null | undefined, transport: Transport): ServerAuth | undefined {
  if (entry === null || entry === undefined) return undefined;
  if (transport.type === "stdio") {
    throw new HubError("InvalidConfig", "auth is for remote servers: a program cannot log in through the hub", {
      field: "auth",
      hint: "Remove auth; a program gets its credentials in env",
    });
  }
  const auth = fromMembers(parseWith(authFields, withoutShorthand(entry), "auth"));
  requireComplete(auth);
  requireSafeAddresses(auth);
  return auth;
}

function withoutShorthand(entry: AuthEntry | JsonObject): Json {
  if (typeof entry === "object") return canonicalAuth(toPlainJson(entry));
  if (entry === true || entry === "oauth") return { type: "oauth" };
  if (entry === false || entry === "none") return { type: "none" };
  throw new HubError("InvalidConfig", 'auth must be an object, false, or the text "oauth"', {
    field: "auth",
    hint: 'A bearer token belongs in headers: { "Authorization": "Bearer ${TOKEN}" }',
  });
}

/**
 * All members in snake_case, and secrets as text or `{ secretRef }`, so that an edit of one spelling can be merged with an
 * entry of the other.
 *
 * @example canonicalAuth({ clientId: "a", CLIENT_SECRET: { value: "b" } }) // { client_id: "a", client_secret: "b" }
 */
export function canonicalAuth(auth: Json): Json {
  if (!isObject(auth)) return auth;
  const canonical: JsonObject = {};
  for (const [key, given] of Object.entries(auth)) {
    const name = snakeCase(key);
    if (Object.hasOwn(canonical, name)) {
      throw new HubError("InvalidConfig", `auth has ${name} in two spellings`, { field: `auth.${key}` });
    }
    canonical[name] = name === "idp" ? canonicalAuth(given) : plainSecret(given);
  }
  return canonical;
}

/** @example snakeCase("clientId") // "client_id" */
export function snakeCase(key: string): string {
  return key === key.toUpperCase()
    ? key.toLowerCase()
    : key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function plainSecret(given: Json): Json {
  if (!isObject(given) || Array.isArray(given)) return given;
  const { value, secret_ref: ref, ...others } = given;
  if (Object.keys(others).length > 0) return given;
  if (ref === undefined) return typeof value === "string" ? value : given;
  return value === undefined ? { secretRef: ref } : given;
}

function fromMembers(entry: AuthFields): ServerAuth {
  const { idp, scopes, ...given } = entry;
  const words = typeof scopes === "string" ? scopes.split(/\s+/).filter((word) => word !== "") : scopes;
  return fromFields<ServerAuth>({
    type: given.type ?? "oauth",
    per: given.per,
    listAs: given.list_as,
    clientId: given.client_id,
    clientSecret: toSecret(given.client_secret),
    scopes: words === undefined ? undefined : [...new Set(words)],
    issuer: given.issuer,
    resource: given.resource,
    pkce: given.pkce,
    dpop: given.dpop,
    redirectHost: given.redirect_host,
    redirectPort: given.redirect_port,
    clientMetadataUrl: given.client_metadata_url,
    tokenEndpointAuthMethod: given.token_endpoint_auth_method,
    key: toSecret(given.key),
    algorithm: given.algorithm,
    keyId: given.key_id,
    tokenFile: given.token_file,
    tokenEnv: given.token_env,
    idp: idp === undefined ? undefined : toProvider(idp),
    refreshScope: given.refresh_scope,
    allowPrivate: given.allow_private,
    authorizationUrl: given.authorization_url,
    tokenUrl: given.token_url,
  });
}

function toProvider(idp: NonNullable<AuthFields["idp"]>): IdentityProvider {
  const what = "An identity provider";
  const idToken = toSecret(idp.id_token);
  return fromFields<IdentityProvider>({
    issuer: idp.issuer ?? missing("idp.issuer", what),
    tokenUrl: idp.token_url,
    clientId: idp.client_id ?? missing("idp.client_id", what),
    clientSecret: toSecret(idp.client_secret),
    idToken: idToken ?? missing("idp.id_token", what),
  });
}

function toSecret(given: SecretEntry | undefined): SecretValue | undefined {
  if (given === undefined) return undefined;
  if (typeof given === "string") return { value: given };
  const secretRef = given.secret_ref ?? given.secretRef;
  return secretRef === undefined ? { value: given.value ?? "" } : { secretRef };
}

/** Refuses a login that could never succeed because something is missing. */
function requireComplete(auth: ServerAuth): void {
  const { type, per, listAs } = auth;
  if (per === "user" && type !== "oauth") {
    throw new HubError("InvalidConfig", `auth.per "user" is for logins by people, not for auth of type "${type}"`, {
      field: "auth.per",
      hint: 'Remove auth.per, or use type "oauth"',
    });
  }
  if (listAs !== undefined && per !== "user") {
    throw new HubError("InvalidConfig", 'auth.list_as needs auth.per "user"', {
      field: "auth.list_as",
      hint: 'Add "per": "user" to auth, or remove list_as',
    });
  }
  if (type === "none") return;
  const what = `auth of type "${type}"`;
  if (type === "client_credentials" || type === "private_key_jwt") {
    if (auth.clientId === undefined) missing("client_id", what);
  }
  const signs = type === "private_key_jwt" || auth.tokenEndpointAuthMethod === "private_key_jwt";
  if (signs && auth.key === undefined) missing("key", type === "private_key_jwt" ? what : "private_key_jwt");
  if (signs && auth.clientId === undefined) missing("client_id", "private_key_jwt");
  if (type === "client_credentials" && !signs && auth.clientSecret === undefined) missing("client_secret", what);
  if (auth.clientSecret !== undefined && auth.clientId === undefined) missing("client_id", "client_secret");
  if (type === "workload") {
    if (auth.tokenFile === undefined && auth.tokenEnv === undefined) {
      missing("token_file", what, "Add token_file (a path) or token_env (the name of a variable)");
    }
    if (auth.tokenFile !== undefined && auth.tokenEnv !== undefined) {
      throw new HubError("InvalidConfig", "auth has both token_file and token_env: keep one", {
        field: "auth.token_env",
      });
    }
  }
  if (type === "enterprise" && auth.idp === undefined) missing("idp", what);
  if (auth.authorizationUrl !== undefined && auth.tokenUrl === undefined) missing("token_url", "authorization_url");
  if (type === "oauth" && auth.tokenUrl !== undefined && auth.authorizationUrl === undefined) {
    missing("authorization_url", "token_url");
  }
}

function missing(key: string, what: string, hint = `Add ${key} to auth`): never {
  throw new HubError("InvalidConfig", `${what} needs ${key}`, { field: `auth.${key}`, hint });
}

type Addresses = Pick<ServerAuth, "issuer" | "clientMetadataUrl" | "authorizationUrl" | "tokenUrl" | "resource"> & {
  readonly idp?: Pick<IdentityProvider, "issuer" | "tokenUrl">;
};

/** An address with `${NAME}` in it is checked when it is filled in. */
export function requireSafeAddresses(auth: Addresses, { areFilled = false } = {}): void {
  const { issuer, clientMetadataUrl, authorizationUrl, tokenUrl, idp, resource } = auth;
  const addresses = {
    issuer,
    client_metadata_url: clientMetadataUrl,
    authorization_url: authorizationUrl,
    token_url: tokenUrl,
    "idp.issuer": idp?.issuer,
    "idp.token_url": idp?.tokenUrl,
  };
  for (const [key, url] of Object.entries(addresses)) {
    if (url !== undefined && (areFilled || !url.includes("${"))) requireAddress(url, key);
  }
  if (typeof resource !== "string" || (!areFilled && resource.includes("${"))) return;
  // It is an identifier and is never fetched: `api://…` is as good as an address.
  if (URL.canParse(resource) && !resource.includes("#")) return;
  throw new HubError("InvalidConfig", "auth.resource must be an absolute URI without a fragment", {
    field: "auth.resource",
    hint: "Write the URI that the authorization server knows, or false to send none",
  });
}

function requireAddress(url: string, key: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isSafe = parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLoopback(parsed.hostname));
  if (parsed === undefined || !isSafe) {
    throw new HubError("InvalidConfig", `auth.${key} must be an https address`, {
      field: `auth.${key}`,
      hint: "http is allowed for localhost, 127.0.0.1 and [::1] only",
    });
  }
  if (parsed.username !== "" || parsed.password !== "" || url.includes("#")) {
    throw new HubError("InvalidConfig", `auth.${key} must not contain credentials or a fragment`, {
      field: `auth.${key}`,
    });
  }
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
