// The `auth` of a server as an entry, and the secrets and texts in it.

import { fromFields, noFieldsLeft } from "@plugboard/shared/fields";
import { isLiteralSecret } from "../../redaction/mask.ts";
import type { AuthFields, IdentityProvider, SecretEntry, SecretValue, ServerAuth } from "../schema/auth.ts";
import { snakeCase } from "./auth.ts";

export interface AuthWriter {
  readonly secret: (value: SecretValue, field: string) => SecretEntry;
  /** A text that may contain `${NAME}`. */
  readonly text: (value: string, field: string) => string;
}

/** The entry of `auth`: the inverse of `toAuth`. */
export function toAuthEntry({ idp, scopes, ...auth }: ServerAuth, writer: AuthWriter): AuthFields | false {
  const {
    type,
    per,
    listAs,
    clientId,
    clientSecret,
    issuer,
    resource,
    pkce,
    dpop,
    redirectHost,
    redirectPort,
    clientMetadataUrl,
    tokenEndpointAuthMethod,
    key,
    algorithm,
    keyId,
    tokenFile,
    tokenEnv,
    refreshScope,
    allowPrivate,
    authorizationUrl,
    tokenUrl,
    ...rest
  } = auth;
  noFieldsLeft(rest);
  const { text, secret } = writing(writer, "auth");
  const entry = fromFields<AuthFields>({
    type,
    per,
    list_as: listAs,
    client_id: text(clientId, "client_id"),
    client_secret: secret(clientSecret, "client_secret"),
    scopes: scopes?.map((scope, index) => writer.text(scope, `auth.scopes.${index}`)),
    issuer: text(issuer, "issuer"),
    resource: resource === false ? false : text(resource, "resource"),
    pkce,
    dpop,
    redirect_host: redirectHost,
    redirect_port: redirectPort,
    client_metadata_url: text(clientMetadataUrl, "client_metadata_url"),
    token_endpoint_auth_method: tokenEndpointAuthMethod,
    key: secret(key, "key"),
    algorithm,
    key_id: text(keyId, "key_id"),
    token_file: text(tokenFile, "token_file"),
    token_env: tokenEnv,
    idp: idp && toProviderEntry(idp, writer),
    refresh_scope: refreshScope,
    allow_private: allowPrivate,
    authorization_url: text(authorizationUrl, "authorization_url"),
    token_url: text(tokenUrl, "token_url"),
  });
  return type === "none" && Object.keys(entry).length === 1 ? false : entry;
}

function toProviderEntry(idp: IdentityProvider, writer: AuthWriter): NonNullable<AuthFields["idp"]> {
  const { issuer, tokenUrl, clientId, clientSecret, idToken, ...rest } = idp;
  noFieldsLeft(rest);
  const { text, secret } = writing(writer, "auth.idp");
  return fromFields<NonNullable<AuthFields["idp"]>>({
    issuer: text(issuer, "issuer"),
    token_url: text(tokenUrl, "token_url"),
    client_id: text(clientId, "client_id"),
    client_secret: secret(clientSecret, "client_secret"),
    id_token: secret(idToken, "id_token"),
  });
}

/** The writer, for optional members below a path. */
function writing({ text, secret }: AuthWriter, path: string) {
  return {
    text: (value: string | undefined, key: string) => (value === undefined ? undefined : text(value, `${path}.${key}`)),
    secret: (value: SecretValue | undefined, key: string) =>
      value === undefined ? undefined : secret(value, `${path}.${key}`),
  };
}

type SecretKeys<T> = { [K in keyof T]-?: NonNullable<T[K]> extends SecretValue ? K : never }[keyof T];
type Secrets<T> = Readonly<Record<SecretKeys<T>, SecretValue | undefined>>;

/** Every secret of `auth`, with the field that it is in. */
export function secretsInAuth({ clientSecret, key, idp }: ServerAuth): [field: string, secret: SecretValue][] {
  const own: Secrets<ServerAuth> = { clientSecret, key };
  const ofProvider: Secrets<IdentityProvider> = { clientSecret: idp?.clientSecret, idToken: idp?.idToken };
  return [...named("auth", own), ...named("auth.idp", ofProvider)];
}

function named(path: string, secrets: Readonly<Record<string, SecretValue | undefined>>): [string, SecretValue][] {
  return Object.entries(secrets).flatMap(([name, secret]): [string, SecretValue][] =>
    secret === undefined ? [] : [[`${path}.${snakeCase(name)}`, secret]],
  );
}

/** The fields whose secrets are written out. */
export function plainSecretsInAuth(auth: ServerAuth | undefined): string[] {
  return (auth === undefined ? [] : secretsInAuth(auth)).flatMap(([field, secret]) =>
    "value" in secret && isLiteralSecret(secret.value) ? [field] : [],
  );
}

/** Every text of `auth` that may contain `${NAME}`, with the field that it is in. */
export function textsInAuth(auth: ServerAuth): [field: string, text: string][] {
  const found: [string, string][] = [];
  const text = (value: string, field: string) => {
    found.push([field, value]);
    return value;
  };
  toAuthEntry(auth, { text, secret: (secret, field) => ("value" in secret ? text(secret.value, field) : secret) });
  return found;
}
