// Whether an entry has a credential in it as plain text. Such a file is for its owner alone.

import { isCredentialName, maskArgs, maskJson, maskSecret, maskText, maskUrl, type Hide } from "./mask.ts";
import type { ServerConfig } from "./types.ts";

export function holdsCredentials({
  transport,
  env,
  config,
}: Pick<ServerConfig, "transport" | "env" | "config">): boolean {
  let isFound = false;
  const find: Hide = (secret) => {
    isFound ||= secret !== "";
    return secret;
  };
  for (const [name, { value, isSecret = isCredentialName(name) }] of Object.entries(env)) {
    if (value !== undefined) (isSecret ? maskSecret : maskText)(value, find);
  }
  maskJson(config, find);
  if (transport.type === "stdio") maskArgs(transport.args, find);
  else {
    maskUrl(transport.url, find);
    for (const [name, value] of Object.entries(transport.headers)) if (isCredentialName(name)) maskSecret(value, find);
  }
  return isFound;
}
