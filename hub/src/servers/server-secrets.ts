// Finds the secret values in a server's config: by mark, by name, by form.

import { unescape } from "node:querystring";
import { secretsInAuth } from "../config/parse/auth-entry.ts";
import { isCommonValue } from "../redaction/entropy.ts";
import { isCredentialName, maskArgs, maskJson, maskSecret, maskText, maskUrl, type Hide } from "../redaction/mask.ts";
import type { EnvEntry, ServerConfig, Transport } from "../config/schema/types.ts";
import { isBasic } from "./process/environment.ts";

/** The parts of a config that may contain secrets, as written or filled in. */
export type Secretive = Pick<ServerConfig, "transport" | "auth" | "env" | "config" | "network">;

/** Every credential in a config. */
export function secretsOf({ transport, auth, env, config, network }: Secretive): string[] {
  const found = new Set<string>();
  const collect: Hide = (secret) => {
    for (const part of partsOf(secret)) found.add(part);
    return secret;
  };
  for (const [name, entry] of Object.entries(env)) {
    if (entry.value !== undefined) (isSecretVariable(name, entry) ? maskSecret : maskText)(entry.value, collect);
  }
  inTransport(transport, collect);
  for (const [, secret] of auth === undefined ? [] : secretsInAuth(auth)) {
    if ("value" in secret) maskSecret(secret.value, collect);
  }
  if (typeof network?.proxy === "string") maskUrl(network.proxy, collect);
  maskJson(config, collect);
  found.delete("");
  return [...found];
}

/** Whether the value of the hub's variable `name` is secret wherever the config uses it. */
export function isSecretFilling(name: string, value: string): boolean {
  // Every child gets the basic ones anyway. PWD is a folder, not a password.
  if (isBasic(name) || /^(?:OLD)?PWD$/.test(name)) return false;
  return isCredentialName(name) || !isCommonValue(value);
}

export function isSecretVariable(name: string, { secretRef, isSecret }: EnvEntry): boolean {
  return secretRef !== undefined || (isSecret ?? isCredentialName(name));
}

function inTransport(transport: Transport, collect: Hide): void {
  if (transport.type === "stdio") {
    maskArgs(transport.args, collect);
    return;
  }
  maskUrl(transport.url, collect);
  for (const [name, value] of Object.entries(transport.headers)) {
    // Any header may be the credential, but masking the value of `Accept: application/json` in every text would go too far.
    if (isCredentialName(name) || !isCommonValue(value)) maskSecret(value, collect);
  }
}

/** A secret in the forms that a program may print: without quotes, decoded, the two halves of `user:password`. */
function* partsOf(secret: string): Generator<string> {
  const bare = secret.replace(/^["'](.*)["']$/s, "$1");
  yield bare;
  yield unescape(bare);
  yield unquoted(bare);
  const colon = bare.indexOf(":");
  if (colon < 0) return;
  const [user, password] = [bare.slice(0, colon), bare.slice(colon + 1)];
  yield password;
  yield unescape(password);
  // The user may be a token.
  if (!isCommonValue(user)) yield user;
}

/** Decodes JSON escapes. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text; // not JSON
  }
}
