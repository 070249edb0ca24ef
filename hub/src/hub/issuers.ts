// The identity providers of hub.json: completes their entries, and connects them to the secrets, the users and the network.

import type { LookupFunction } from "node:net";
import { ALGORITHMS, type ClaimRule, type IssuerSettings } from "../auth/providers/issuer-settings.ts";
import { IssuerTokens } from "../auth/providers/issuer-tokens.ts";
import type { ResourceAddresses } from "../auth/resource.ts";
import type { Users } from "../auth/users.ts";
import { expandText } from "../config/parse/expand.ts";
import { requireValidIssuers } from "../config/parse/issuers.ts";
import type { SecretEntry } from "../config/schema/auth.ts";
import type { IssuerEntry } from "../config/schema/issuer.ts";
import { HubError } from "../errors.ts";
import { createGuardedFetch } from "../oauth/fetch/guarded-fetch.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { SecretStore } from "../secrets/store.ts";

export interface IssuersOptions {
  readonly users: Users;
  readonly addresses: ResourceAddresses;
  readonly secrets: Pick<SecretStore, "get">;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly redactor: Redactor;
  readonly lookup: LookupFunction | undefined;
  readonly onWarning: (message: string) => void;
}

/** Throws InvalidConfig if an entry cannot be used. Nothing is requested before the first token. */
export function openIssuers(entries: readonly IssuerEntry[], options: IssuersOptions): IssuerTokens {
  requireValidIssuers(entries);
  const { users, addresses, lookup, onWarning } = options;
  for (const { issuer, audience = [], groups } of entries) {
    if (audience.length === 0 || groups !== undefined) continue;
    onWarning(
      `Tokens of ${issuer} for ${audience.join(", ")} are accepted by every group that is open to their users: ` +
        "that audience does not name a group. To limit them, set groups in the entry of auth.issuers",
    );
  }
  const privateIssuers = new Set(entries.filter((entry) => entry.allow_private === true).map(({ issuer }) => issuer));
  return new IssuerTokens({
    issuers: entries.map((entry, index) => toSettings(entry, index, options)),
    users,
    addresses,
    fetchFor: (address) =>
      createGuardedFetch({
        server: new URL(address),
        allowPrivate: privateIssuers.has(address),
        ...(lookup === undefined ? {} : { lookup }),
      }),
  });
}

function toSettings(entry: IssuerEntry, index: number, options: IssuersOptions): IssuerSettings {
  const { issuer, audience, jwks_uri: jwksUri, algorithms, principal, roles, teams, groups, scopes } = entry;
  const { required_claims: required, recheck, introspection } = entry;
  return {
    issuer,
    audience: audience ?? [],
    jwksUri,
    algorithms: algorithms ?? ALGORITHMS,
    principal: principal ?? "sub",
    roles: roles && toRule(roles),
    teams: teams && toRule(teams),
    groups: groups && toRule(groups),
    scopes: { map: toMap(scopes?.map ?? {}), fallback: scopes?.default ?? [] },
    requiredClaims: new Map(
      Array.isArray(required) ? required.map((claim) => [claim, undefined]) : Object.entries(required ?? {}),
    ),
    recheckMs: recheck === undefined ? undefined : recheck * 1000,
    introspection: introspection && {
      endpoint: introspection.endpoint,
      clientId: introspection.client_id,
      clientSecret: () => readSecret(introspection.client_secret, index, options),
    },
  };
}

type RuleEntry<T> = { readonly claim: string; readonly map?: Readonly<Record<string, T | T[]>> | undefined };

function toRule<T extends string>({ claim, map }: RuleEntry<T>): ClaimRule<T> {
  return { claim, map: map && toMap(map) };
}

function toMap<T>(map: Readonly<Record<string, T | T[]>>): ReadonlyMap<string, readonly T[]> {
  return new Map(Object.entries(map).map(([value, given]) => [value, Array.isArray(given) ? given : [given]]));
}

async function readSecret(
  entry: SecretEntry,
  index: number,
  { secrets, variables, redactor }: IssuersOptions,
): Promise<string> {
  const field = `auth.issuers.${index}.introspection.client_secret`;
  const given = typeof entry === "string" ? { value: entry } : entry;
  const name = given.secretRef ?? given.secret_ref;
  const value = name === undefined ? expandText(given.value ?? "", variables, field) : await secrets.get(name);
  if (value === undefined || value === "") {
    const hint = name === undefined ? "Write a secret into hub.json" : `plugboard secret set ${name}`;
    throw new HubError("InvalidConfig", `${field} is empty`, { field, hint });
  }
  redactor.setSecrets(entry, [value]);
  return value;
}
