// Which person's credentials list what a server offers.

import { personalSecretsOf } from "../config/parse/per-user.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import type { PersonalSecrets } from "../secrets/personal.ts";
import type { Logins } from "../servers/login/logins.ts";
import { LOCAL } from "../servers/login/server-login.ts";

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
