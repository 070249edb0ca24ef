// Detects credentials in plain text in an entry. A file that has any must be readable by its owner only.

import {
  isCredentialName,
  maskArgs,
  maskJson,
  maskSecret,
  maskText,
  maskUrl,
  type Hide,
} from "../../redaction/mask.ts";
import { secretsInAuth } from "./auth-entry.ts";
import type { ServerConfig } from "../schema/types.ts";

export function holdsCredentials({
  transport,
  auth,
  env,
  config,
}: Pick<ServerConfig, "transport" | "auth" | "env" | "config">): boolean {
  let isFound = false;
  const find: Hide = (secret) => {
    isFound ||= secret !== "";
    return secret;
  };
  for (const [name, { value, isSecret = isCredentialName(name) }] of Object.entries(env)) {
    if (value !== undefined) (isSecret ? maskSecret : maskText)(value, find);
  }
  for (const [, secret] of auth === undefined ? [] : secretsInAuth(auth)) {
    if ("value" in secret) maskSecret(secret.value, find);
  }
  maskJson(config, find);
  if (transport.type === "stdio") maskArgs(transport.args, find);
  else {
    maskUrl(transport.url, find);
    for (const [name, value] of Object.entries(transport.headers)) if (isCredentialName(name)) maskSecret(value, find);
  }
  return isFound;
}
