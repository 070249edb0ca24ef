// The hub's personal secrets, and which person's credentials list what a server offers.

import { personalSecretsOf } from "../config/parse/per-user.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { configuredSecretKey } from "../secrets/configured-key.ts";
import { FileSecrets } from "../secrets/file-store.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { PersonalSecrets } from "../secrets/personal.ts";
import type { Logins } from "../servers/login/logins.ts";
import { LOCAL } from "../servers/login/server-login.ts";

/** `data`: the data folder; undefined: they last as long as the process. */
export function openPersonalSecrets(
  data: string | undefined,
  variables: Readonly<Record<string, string | undefined>>,
): PersonalSecrets {
  if (data === undefined) return new PersonalSecrets(new MemorySecrets());
  return new PersonalSecrets(new FileSecrets(data, { key: configuredSecretKey(variables), kind: "user" }));
}

/** The person whose login and secrets the main connection uses: it lists what there is, and forwards no call. */
export async function findLister(
  server: ServerConfig,
  { logins, personalSecrets }: { readonly logins: Pick<Logins, "lister">; readonly personalSecrets: PersonalSecrets },
): Promise<string> {
  if (server.auth?.per === "user") return logins.lister(server);
  const needed = personalSecretsOf(server);
  const stored = await personalSecrets.list();
  const hasAll = (who: string) =>
    needed.every((name) => stored.some((secret) => secret.principal === who && secret.name === name));
  return [LOCAL, ...stored.map(({ principal }) => principal)].find(hasAll) ?? LOCAL;
}
