// Connects the embedded authorization server to the hub: its settings, its store, the groups that a person may use, the audit log.

import type { LookupFunction } from "node:net";
import type { AuditEntry } from "../auth/audit.ts";
import { Issuer, type IssuerEvent } from "../auth/issuer/issuer.ts";
import { may } from "../auth/policy.ts";
import type { RequestRates } from "../auth/request-rates.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { DEFAULT_GROUP } from "../catalog/membership.ts";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { Identity } from "./access.ts";
import { addressOf } from "../http/client-address.ts";

export interface HubIssuerOptions {
  readonly settings: HubSettingsEntry;
  readonly identity: Identity;
  readonly rates: RequestRates;
  /** The address of the hub, as clients know it. */
  readonly base: () => string;
  readonly catalog: () => Catalog;
  /** Replaces the system's DNS lookup. */
  readonly lookup: LookupFunction | undefined;
  /** Replaces how the documents of clients are fetched. */
  readonly fetchDocument: ((url: string) => Promise<Response>) | undefined;
  readonly onUnexpected: (error: unknown, requestId: string) => void;
}

/** An address of no network: no other address counts as near to it, so that only public ones can be fetched. */
const NOWHERE = new URL("https://192.0.2.1/");
const MAX_DOCUMENT_BYTES = 10 * 1024;

/** Undefined: it is not switched on. */
export function createIssuer(options: HubIssuerOptions): Issuer | undefined {
  const { settings, identity, rates, base, catalog, lookup, fetchDocument, onUnexpected } = options;
  const server = settings.auth?.server;
  if (server?.enabled !== true) return undefined;
  const { users, accessTokens, audit } = identity;
  return new Issuer({
    rules: { registration: server.registration ?? true, documents: server.client_documents ?? true },
    base,
    // Where the hub is managed from its own machine only, people elsewhere need an identity provider to sign in.
    hasUi: settings.listen?.admin !== "loopback" || (settings.auth?.sso ?? []).length > 0,
    tokens: accessTokens,
    rates,
    openStore: () => identity.openIssuerStore(),
    defaultGroup: DEFAULT_GROUP,
    // As the token will be: it never has the role of an administrator, who may use every group.
    groupsOf: (grant) => {
      const { kind, principal, teams, email, groups, readOnly, hasEnded } = grant;
      const rights = { kind, principal, role: "user", teams, email, groups, readOnly, hasEnded } as const;
      const current = catalog();
      return current.groupNames.filter((name) => may(rights, { to: "use", group: current.group(name) }));
    },
    isActive: async (principal) => users.rightsOf(principal) !== undefined,
    fetch: fetchDocument ?? ((url) => fetchPublic(url, lookup)),
    addressOf,
    onEvent: (event) => audit.record(entryOf(event)),
    onUnexpected,
  });
}

function entryOf(event: IssuerEvent): AuditEntry {
  const { what, by, address } = event;
  if (what === "client.registered") return { by, action: what, object: event.client, detail: event.name, address };
  const { clientName, client, principal, groups, redirectHost } = event.login;
  const detail = `${clientName} (${client}) for ${principal}: ${groups.join(", ")}`;
  // Programs with credentials of their own are sent nowhere.
  return { by, action: what, object: redirectHost === "" ? clientName : redirectHost, detail, address };
}

async function fetchPublic(url: string, lookup: LookupFunction | undefined): Promise<Response> {
  const { createGuardedFetch } = await import("../oauth/fetch/guarded-fetch.ts");
  const fetch = createGuardedFetch({ server: NOWHERE, lookup, maxRedirects: 0, maxBytes: MAX_DOCUMENT_BYTES });
  return fetch(url, { headers: { accept: "application/json" } });
}
