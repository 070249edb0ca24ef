// Connects the identity providers of hub.json: their protocol, their secrets, and what the hub makes of the people they recognise.

import type { AuditLog } from "../auth/audit.ts";
import { claimsOf } from "../auth/sso/claims.ts";
import { SsoSignIns, type SsoClient, type SsoProvider } from "../auth/sso/sign-ins.ts";
import type { RequestRates } from "../auth/request-rates.ts";
import type { Users } from "../auth/users.ts";
import type { SsoProvider as ProviderEntry } from "../config/schema/sso.ts";
import { HubError } from "../errors.ts";
import { createGuardedFetch } from "../oauth/fetch/guarded-fetch.ts";
import { RelyingParty } from "../oauth/openid/relying-party.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { SecretStore } from "../secrets/store.ts";

export interface SsoOptions {
  readonly providers: readonly ProviderEntry[];
  readonly users: Users;
  readonly audit: AuditLog;
  readonly rates: RequestRates;
  readonly secrets: SecretStore;
  readonly redactor: Redactor;
}

const DEFAULT_SCOPES = ["email", "profile"];

export function openSso({ providers, users, audit, rates, secrets, redactor }: SsoOptions): SsoSignIns {
  const toProvider = (entry: ProviderEntry): SsoProvider => ({
    issuer: entry.issuer,
    rules: entry,
    client: clientOf(entry, secrets, redactor),
    endSession: entry.end_session === true,
  });
  return new SsoSignIns({ providers: providers.map(toProvider), users, audit, rates });
}

/** The secret is read when it is needed, so that it can be stored, or replaced, while the hub runs. */
function clientOf(entry: ProviderEntry, secrets: SecretStore, redactor: Redactor): SsoClient {
  const { issuer, client_id: clientId, client_secret: secret, scopes = DEFAULT_SCOPES } = entry;
  return new RelyingParty({
    issuer,
    clientId,
    clientSecret: async () => {
      if (secret === undefined) return undefined;
      const value = await secrets.get(secret.secretRef);
      if (value === undefined) {
        throw new HubError("SecretNotFound", `The secret of ${entry.name} is not stored: ${secret.secretRef}`, {
          hint: `plugboard secret set '${secret.secretRef}'`,
        });
      }
      redactor.setSecrets(entry, [value]);
      return value;
    },
    scopes,
    claims: ["email", ...claimsOf(entry)],
    fetch: createGuardedFetch({ server: new URL(issuer) }),
  });
}
