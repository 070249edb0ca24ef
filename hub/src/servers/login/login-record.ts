// The stored record of a login that has just been made.

import type { TokenSet } from "../../oauth/types.ts";
import type { LoginRecord } from "../../secrets/login-store.ts";
import type { PreparedLogin } from "./oauth-client.ts";
import type { ServerLogin } from "./server-login.ts";

export function toRecord(
  login: ServerLogin,
  { discovery, client, scopes, resource, dpop }: PreparedLogin,
  tokens: TokenSet,
  { now, earlier }: { readonly now: number; readonly earlier: LoginRecord | undefined },
): LoginRecord {
  const { key: _, ...known } = client;
  const resourceMetadata = login.challenge?.resourceMetadata;
  const account = tokens.account ?? (earlier?.issuer === discovery.issuer ? earlier.account : undefined);
  return {
    v: 1,
    ...login.key,
    url: login.url.href,
    issuer: discovery.issuer,
    client: known,
    access: tokens.access,
    type: tokens.type,
    receivedAt: now,
    requested: [...scopes],
    generation: (earlier?.generation ?? 0) + 1,
    ...(resource === undefined ? {} : { resource }),
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    ...(tokens.expiresIn === undefined ? {} : { expiresIn: tokens.expiresIn }),
    ...(tokens.refresh === undefined ? {} : { refresh: tokens.refresh }),
    ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
    ...(dpop === undefined ? {} : { dpop }),
    ...(account === undefined ? {} : { account }),
  };
}
