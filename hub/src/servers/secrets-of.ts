// Which values of a server's config must never be shown: by mark, by name, by form. The one list of them, for the
// redactor; how they look in other texts is left to it, and what is shown of the config itself to the API.

import { unescape } from "node:querystring";
import { isCommonplace } from "../config/commonplace.ts";
import { isCredentialName, maskArgs, maskJson, maskSecret, maskText, maskUrl, type Hide } from "../config/mask.ts";
import type { EnvEntry, ServerConfig, Transport } from "../config/types.ts";
import { isBasic } from "./environment.ts";

/** What the secrets of a server stand in, as written or filled in. */
export type Secretive = Pick<ServerConfig, "transport" | "env" | "config" | "network">;

/** Every credential that stands in a config as it is. */
export function secretsOf({ transport, env, config, network }: Secretive): string[] {
  const found = new Set<string>();
  const collect: Hide = (secret) => {
    for (const part of partsOf(secret)) found.add(part);
    return secret;
  };
  for (const [name, entry] of Object.entries(env)) {
    if (entry.value !== undefined) (isSecretVariable(name, entry) ? maskSecret : maskText)(entry.value, collect);
  }
  inTransport(transport, collect);
  if (typeof network?.proxy === "string") maskUrl(network.proxy, collect);
  maskJson(config, collect);
  found.delete("");
  return [...found];
}

/** Whether what the hub's variable `name` was filled in with is secret, wherever in the config it went. */
export function isSecretFilling(name: string, value: string): boolean {
  // Every child gets them anyway; PWD is a folder, whatever its name says elsewhere.
  if (isBasic(name) || /^(?:OLD)?PWD$/.test(name)) return false;
  return isCredentialName(name) || !isCommonplace(value);
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
    // Any header may be the credential, but `Accept: application/json` would then be hidden in every text.
    if (isCredentialName(name) || !isCommonplace(value)) maskSecret(value, collect);
  }
}

/** A secret, and what a program may say of it: without its quotes, decoded, the two halves of `user:password`. */
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
  // A token may stand in the place of the user.
  if (!isCommonplace(user)) yield user;
}

/** Of a text that stands in JSON. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text; // it does not
  }
}
