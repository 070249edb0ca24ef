// Who may use the hub: its tokens in the data folder, and the rules in hub.json.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { AccessTokens } from "../auth/access-tokens.ts";
import type { AuditStore } from "../auth/audit-store.ts";
import { AuditLog } from "../auth/audit.ts";
import { Authenticator } from "../auth/authenticator.ts";
import type { IssuerStore } from "../auth/issuer/issuer-store.ts";
import { ManagementToken, readManagementToken } from "../auth/management-token.ts";
import type { RequestRates } from "../auth/request-rates.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { UserStore } from "../auth/user-store.ts";
import { Users } from "../auth/users.ts";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import { toHubError } from "../errors.ts";
import { resourceAddresses } from "./resources.ts";
import type { IssuersOptions } from "./issuers.ts";
import type { IdentityFile } from "../identity/identity-file.ts";

export interface AccessOptions extends Omit<IssuersOptions, "users" | "addresses"> {
  /** The data folder. */
  readonly data: string;
  readonly settings: HubSettingsEntry;
  readonly identity: Identity;
  readonly rates: RequestRates;
}

export async function openAuthenticator(options: AccessOptions): Promise<Authenticator> {
  const { data, settings, identity, rates, redactor, onWarning } = options;
  const { accessTokens: tokens, users } = identity;
  const addresses = resourceAddresses();
  const entries = settings.auth?.issuers ?? [];
  const issuers =
    entries.length === 0
      ? undefined
      : (await import("./issuers.ts")).openIssuers(entries, { ...options, users, addresses });
  const management = await ManagementToken.open(data, rates);
  // The owner of the token may pass it to a tool by mistake.
  redactor.setSecrets(ManagementToken, [(await readManagementToken(data)) ?? ""]);
  // A damaged file lets no one in, and does not keep the servers from running.
  const load = users.reload().then(() => tokens.reload());
  await load.catch((thrown: unknown) => {
    const { message, hint } = toHubError(thrown);
    onWarning(`No access token works: ${message}.${hint === undefined ? "" : ` ${hint}`}`);
  });
  return new Authenticator({
    management,
    tokens,
    issuers,
    addresses,
    isIssuer: settings.auth?.server?.enabled === true,
    isMcpOpen: settings.auth?.mcp !== "required",
    onRefused: (refusal) => identity.audit.refused(refusal),
  });
}

/** Who may use the hub, and what was done with that. */
export interface Identity {
  readonly users: Users;
  readonly accessTokens: AccessTokens;
  readonly audit: AuditLog;
  openIssuerStore(): Promise<IssuerStore>;
  close(): Promise<void>;
}

/** Where all of it is kept. Opened when there is something to read or write. */
export interface IdentityStores {
  /** Whether there is something to read. */
  readonly hasStore: () => boolean;
  readonly openUsers: () => Promise<UserStore>;
  readonly openTokens: () => Promise<TokenStore>;
  readonly openAudit: () => Promise<AuditStore>;
  readonly openIssuer: () => Promise<IssuerStore>;
  readonly close: () => Promise<void>;
}

/** `dataDir`: undefined if it lasts as long as the process. */
export function sqliteIdentity(dataDir: string | undefined): IdentityStores {
  const file = new LazyFile(dataDir === undefined ? undefined : join(dataDir, "identity.db"));
  return {
    hasStore: () => file.exists,
    openUsers: async () => new (await import("../identity/sqlite-users.ts")).SqliteUsers(await file.open()),
    openTokens: async () => new (await import("../identity/sqlite-tokens.ts")).SqliteTokens(await file.open()),
    openAudit: async () => new (await import("../identity/sqlite-audit.ts")).SqliteAudit(await file.open()),
    openIssuer: async () => new (await import("../identity/sqlite-issuer.ts")).SqliteIssuer(await file.open()),
    close: () => file.close(),
  };
}

export function openIdentity(
  { hasStore, openUsers, openTokens, openAudit, openIssuer, close: closeStores }: IdentityStores,
  { auth = {} }: HubSettingsEntry,
  onWarning: (message: string) => void,
): Identity {
  const users = new Users({
    hasStore,
    openStore: openUsers,
    rules: { admins: auth.admins ?? [], teams: auth.teams ?? {} },
    onWarning,
  });
  const accessTokens = new AccessTokens({ hasStore, openStore: openTokens, users, onWarning });
  const audit = new AuditLog({ hasStore, openStore: openAudit, onWarning });
  const close = async () => {
    users.close();
    await accessTokens.close();
    await closeStores();
  };
  return { users, accessTokens, audit, openIssuerStore: openIssuer, close };
}

/** Opened once, for all that is kept in it. */
class LazyFile {
  readonly #path: string | undefined;
  #opened: Promise<IdentityFile> | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  get exists(): boolean {
    return this.#opened !== undefined || (this.#path !== undefined && existsSync(this.#path));
  }

  open(): Promise<IdentityFile> {
    this.#opened ??= import("../identity/identity-file.ts")
      .then((module) => module.IdentityFile.open(this.#path))
      .catch((error: unknown) => {
        this.#opened = undefined;
        throw error;
      });
    return this.#opened;
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close();
  }
}
