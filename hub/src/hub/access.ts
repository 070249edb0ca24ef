// Who may use the hub: its tokens in the data folder, and the rules in hub.json.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { AccessTokens } from "../auth/access-tokens.ts";
import { AuditLog } from "../auth/audit.ts";
import { Authenticator } from "../auth/authenticator.ts";
import type { IssuerStore } from "../auth/issuer/issuer-store.ts";
import { ManagementToken, readManagementToken } from "../auth/management-token.ts";
import type { RequestRates } from "../auth/request-rates.ts";
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

/** Everything in `identity.db`. */
export interface Identity {
  readonly users: Users;
  readonly accessTokens: AccessTokens;
  readonly audit: AuditLog;
  openIssuerStore(): Promise<IssuerStore>;
  close(): Promise<void>;
}

/** `dataDir`: undefined if it lasts as long as the process. The file is opened when there is something to read or write. */
export function openIdentity(
  dataDir: string | undefined,
  { auth = {} }: HubSettingsEntry,
  onWarning: (message: string) => void,
): Identity {
  const path = dataDir === undefined ? undefined : join(dataDir, "identity.db");
  const file = new LazyFile(path);
  const hasStore = () => file.exists;
  const users = new Users({
    hasStore,
    openStore: async () => new (await import("../identity/sqlite-users.ts")).SqliteUsers(await file.open()),
    rules: { admins: auth.admins ?? [], teams: auth.teams ?? {} },
    onWarning,
  });
  const accessTokens = new AccessTokens({
    hasStore,
    openStore: async () => new (await import("../identity/sqlite-tokens.ts")).SqliteTokens(await file.open()),
    users,
    onWarning,
  });
  const audit = new AuditLog({
    hasStore,
    openStore: async () => new (await import("../identity/sqlite-audit.ts")).SqliteAudit(await file.open()),
    onWarning,
  });
  const openIssuerStore = async () =>
    new (await import("../identity/sqlite-issuer.ts")).SqliteIssuer(await file.open());
  const close = async () => {
    users.close();
    await accessTokens.close();
    await file.close();
  };
  return { users, accessTokens, audit, openIssuerStore, close };
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
