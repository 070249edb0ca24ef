// The stored secrets that a server uses.

import type { ServerConfig } from "../schema/types.ts";
import { secretsInAuth } from "./auth-entry.ts";

/** The name of each secret, by the variable or the field of `auth` that uses it. */
export function secretRefsOf({ env, auth }: Pick<ServerConfig, "env" | "auth">): Record<string, string> {
  const inEnv = Object.entries(env).flatMap(([name, { secretRef }]) =>
    secretRef === undefined ? [] : [[name, secretRef] as const],
  );
  const inAuth = (auth === undefined ? [] : secretsInAuth(auth)).flatMap(([field, secret]) =>
    "secretRef" in secret ? [[field, secret.secretRef] as const] : [],
  );
  return Object.fromEntries([...inEnv, ...inAuth]);
}
