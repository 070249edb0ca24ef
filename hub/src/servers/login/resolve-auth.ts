// Fills in the `auth` of a server's config: `${NAME}`, stored secrets, and the token of a workload. Done at each start and login and
// never written back.

import { readFile, stat } from "node:fs/promises";
import { secretsInAuth } from "../../config/parse/auth-entry.ts";
import { requireSafeAddresses } from "../../config/parse/auth.ts";
import { expandText, type OnExpanded } from "../../config/parse/expand.ts";
import type { IdentityProvider, SecretValue, ServerAuth } from "../../config/schema/auth.ts";
import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import { fromFields, noFieldsLeft } from "@plugboard/shared/fields";
import {
  missingSecret,
  requirePresent,
  resolveEnv,
  resolvePath,
  withPersonalSecrets,
  type ResolvedEnv,
  type ResolveSources,
} from "../process/resolve-values.ts";
import { isSecretFilling } from "../server-secrets.ts";

/** The fields of T, with texts in place of secrets. */
type Filled<T> = { readonly [K in keyof T]: NonNullable<T[K]> extends SecretValue ? string : T[K] };

export interface ResolvedAuth extends Filled<Omit<ServerAuth, "idp" | "tokenFile" | "tokenEnv">> {
  readonly idp?: Filled<IdentityProvider>;
  /** Reads the workload's JWT. Read it before each use: platforms renew it. */
  readonly workloadToken?: () => Promise<string>;
  /** For the redactor. */
  readonly secrets: readonly string[];
}

/**
 * The settings for logging in to a server. One without `auth` is logged in by OAuth, unless it cannot be or its entry sends
 * credentials of its own.
 */
export async function resolveAuth(config: ServerConfig, given: ResolveSources): Promise<ResolvedAuth> {
  const { transport } = config;
  if (config.auth === undefined) {
    const sendsOwn = transport.type === "stdio" || Object.keys(transport.headers).some(isAuthorization);
    return { type: sendsOwn ? "none" : "oauth", secrets: [] };
  }
  const secrets = new Set<string>();
  const sources = await withPersonalSecrets(config, given, secrets);
  const onFilled = noteSecrets(config, secrets);
  const env = await resolveEnv(config.env, sources, onFilled);
  return new Filling(sources, { env, onFilled, secrets }).fill(config.auth);
}

function isAuthorization(header: string): boolean {
  return header.toLowerCase() === "authorization";
}

/** Adds what variables fill in, if it is secret. */
export function noteSecrets({ env }: Pick<ServerConfig, "env">, secrets: Set<string>): OnExpanded {
  return (name, value) => {
    // A variable of a remote server that is marked as not secret is not secret in its url either.
    if (env[name]?.isSecret !== false && isSecretFilling(name, value)) secrets.add(value);
  };
}

interface Found {
  readonly env: ResolvedEnv;
  readonly onFilled: OnExpanded;
  readonly secrets: Set<string>;
}

class Filling {
  readonly #sources: ResolveSources;
  readonly #found: Found;

  constructor(sources: ResolveSources, found: Found) {
    this.#sources = sources;
    this.#found = found;
  }

  async fill(auth: ServerAuth): Promise<ResolvedAuth> {
    const values = new Map<SecretValue, string>();
    for (const [field, secret] of secretsInAuth(auth)) values.set(secret, await this.#secret(field, secret));
    const secretOf = (secret: SecretValue | undefined) => (secret === undefined ? undefined : values.get(secret));
    const { type, per, listAs, pkce, dpop, redirectHost, redirectPort, tokenEndpointAuthMethod, algorithm, ...rest } =
      auth;
    const { clientId, clientSecret, scopes, issuer, resource, clientMetadataUrl, key, keyId, ...more } = rest;
    const { tokenFile, tokenEnv, idp, refreshScope, allowPrivate, authorizationUrl, tokenUrl, ...left } = more;
    noFieldsLeft(left);
    const filled = fromFields<ResolvedAuth>({
      type,
      per,
      listAs,
      clientId: this.#text("client_id", clientId),
      clientSecret: secretOf(clientSecret),
      scopes: scopes?.flatMap((scope) => words(this.#text("scopes", scope))),
      issuer: this.#text("issuer", issuer),
      resource: resource === false ? false : this.#text("resource", resource),
      pkce,
      dpop,
      redirectHost,
      redirectPort,
      clientMetadataUrl: this.#text("client_metadata_url", clientMetadataUrl),
      tokenEndpointAuthMethod,
      key: secretOf(key),
      algorithm,
      keyId: this.#text("key_id", keyId),
      workloadToken: type === "workload" ? this.#workloadToken(tokenFile, tokenEnv) : undefined,
      idp: idp === undefined ? undefined : this.#provider(idp, secretOf),
      refreshScope,
      allowPrivate,
      authorizationUrl: this.#text("authorization_url", authorizationUrl),
      tokenUrl: this.#text("token_url", tokenUrl),
      secrets: [...this.#found.secrets],
    });
    requireSafeAddresses(filled, { areFilled: true });
    return filled;
  }

  #provider(
    { issuer, tokenUrl, clientId, clientSecret, idToken, ...left }: IdentityProvider,
    secretOf: (secret: SecretValue | undefined) => string | undefined,
  ): Filled<IdentityProvider> {
    noFieldsLeft(left);
    return fromFields<Filled<IdentityProvider>>({
      issuer: this.#text("idp.issuer", issuer) ?? "",
      tokenUrl: this.#text("idp.token_url", tokenUrl),
      clientId: this.#text("idp.client_id", clientId) ?? "",
      clientSecret: secretOf(clientSecret),
      idToken: secretOf(idToken) ?? "",
    });
  }

  async #secret(field: string, secret: SecretValue): Promise<string> {
    const value =
      "value" in secret ? this.#expand(field, secret.value) : await this.#sources.secrets.get(secret.secretRef);
    if (value === undefined || value === "") {
      if ("secretRef" in secret) throw missingSecret(field, secret.secretRef, field);
      throw new HubError("InvalidConfig", "Missing required credentials", { field, detail: `${field} is empty` });
    }
    this.#found.secrets.add(value);
    return value;
  }

  #text(key: string, text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.#expand(`auth.${key}`, text);
  }

  #expand(field: string, text: string): string {
    const { env, onFilled } = this.#found;
    requirePresent([text], env);
    return expandText(text, { ...this.#sources.variables, ...env.env }, field, onFilled);
  }

  #workloadToken(file: string | undefined, variable: string | undefined): (() => Promise<string>) | undefined {
    if (variable !== undefined) {
      const { variables } = this.#sources;
      const { env } = this.#found.env;
      return async () =>
        toJwt(env[variable] ?? variables[variable] ?? "", "auth.token_env", `The variable ${variable}`);
    }
    if (file === undefined) return undefined;
    const path = resolvePath(this.#expand("auth.token_file", file), this.#sources);
    return async () => toJwt(await readToken(path), "auth.token_file", path);
  }
}

function words(text = ""): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

const TOKEN_MAX_BYTES = 64 * 1024;

async function readToken(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (found.isFile() && found.size <= TOKEN_MAX_BYTES) return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw new HubError("InvalidConfig", "The workload's token cannot be read", {
      field: "auth.token_file",
      detail: toHubError(error).message,
      hint: "Check auth.token_file, and that the hub may read the file",
      cause: error,
    });
  }
  return "";
}

/** Nothing else is sent: an entry that was copied from somewhere must not be able to send any file anywhere. */
function toJwt(text: string, field: string, what: string): string {
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return text;
  throw new HubError("InvalidConfig", `${what} does not hold a JSON web token`, {
    field,
    hint: "A workload logs in with the JWT that its platform issues",
  });
}
