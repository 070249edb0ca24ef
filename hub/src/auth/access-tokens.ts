// Access tokens for the hub's own clients: made for a person or a program, limited to groups, shown once, kept as digests. All live
// ones are in memory, so that a request costs one look-up.

import { randomUUID } from "node:crypto";
import { HubError } from "../errors.ts";
import { accessTokenDigest, makeAccessToken, startOf } from "./access-token.ts";
import { Grant, lowerRole, type GrantInit } from "./grant.ts";
import type { StoredToken, TokenStore, TokenUse } from "./token-store.ts";
import type { Users } from "./users.ts";

export interface AccessTokensOptions {
  /** Called when there is something to read or write, so that the start of most hubs does not load a database. */
  readonly openStore: () => Promise<TokenStore>;
  /** Whether there is something to read. */
  readonly hasStore: () => boolean;
  /** What the principal of a token may do limits the token. */
  readonly users: Pick<Users, "rightsOf" | "onChange">;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
  readonly onWarning: (message: string) => void;
}

export interface NewToken extends Pick<GrantInit, "principal" | "role" | "readOnly"> {
  readonly name: string;
  readonly groups: "*" | readonly string[];
  /** Undefined: never. */
  readonly expiresAt: number | undefined;
}

interface Live {
  readonly stored: StoredToken;
  /** Undefined: its user is disabled. */
  readonly grant: Grant | undefined;
  usedAt: number | undefined;
  usedFrom: string | undefined;
  /** `usedAt` in the store. */
  savedAt: number | undefined;
}

/** The last use is written this often at most. */
const SAVE_USES_MS = 60_000;
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@+ -]{0,63}$/u;

export class AccessTokens {
  readonly #options: AccessTokensOptions;
  readonly #now: () => number;
  /** By digest. */
  readonly #live = new Map<string, Live>();
  readonly #uses = new Map<string, TokenUse>();
  #savingUses: NodeJS.Timeout | undefined;
  #stopWatching: (() => void) | undefined;
  #store: Promise<TokenStore> | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #loading: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    options.users.onChange((principal) => this.#renewGrants(principal));
  }

  /** The grant of a token; undefined if it is none, was revoked or has expired. */
  find(token: string, from?: string): Grant | undefined {
    const live = this.#live.get(accessTokenDigest(token));
    if (live?.grant === undefined || live.grant.hasEnded) return undefined;
    const at = this.#now();
    if (live.stored.expiresAt !== undefined && at >= live.stored.expiresAt) {
      this.#drop(live);
      return undefined;
    }
    live.usedAt = at;
    if (from !== undefined) live.usedFrom = from;
    return live.grant;
  }

  /** The token itself is only here: it cannot be shown again. */
  async make(given: NewToken, by: string): Promise<{ readonly token: string; readonly stored: StoredToken }> {
    const now = this.#now();
    requireValid(given, now);
    const token = makeAccessToken();
    const stored: StoredToken = {
      ...given,
      id: randomUUID(),
      digest: accessTokenDigest(token),
      start: startOf(token),
      createdAt: now,
      createdBy: by,
      usedAt: undefined,
      usedFrom: undefined,
    };
    const store = await this.#open();
    await store.add(stored);
    this.#add(stored);
    this.#waitForExpiry();
    return { token, stored };
  }

  /** Keeps a token of the embedded authorization server. */
  async addIssued(stored: StoredToken): Promise<void> {
    await (await this.#open()).add(stored);
    this.#add(stored);
    this.#waitForExpiry();
  }

  /** The live token of the embedded authorization server with this digest. */
  findIssued(digest: string): StoredToken | undefined {
    const stored = this.#live.get(digest)?.stored;
    return stored?.issued === undefined ? undefined : stored;
  }

  /** Ends one token of the embedded authorization server, or all of a login, and everything that they hold open. */
  async endIssued(which: { readonly digest: string } | { readonly login: string }, by: string): Promise<void> {
    await this.reload();
    const ended = [...this.#live.values()].filter(({ stored: { digest, issued } }) =>
      "digest" in which ? issued !== undefined && digest === which.digest : issued?.login === which.login,
    );
    for (const live of ended) this.#drop(live);
    const store = ended.length === 0 ? undefined : await this.#open();
    for (const { stored } of ended) await store?.revoke(stored.id, by);
  }

  /** Those that were made by people. */
  async list(): Promise<StoredToken[]> {
    return (await this.#all()).filter(({ issued }) => issued === undefined);
  }

  /** Those of the embedded authorization server. */
  async listIssued(): Promise<StoredToken[]> {
    return (await this.#all()).filter(({ issued }) => issued !== undefined);
  }

  async #all(): Promise<StoredToken[]> {
    await this.reload();
    return [...this.#live.values()].map(({ stored, usedAt, usedFrom }) => ({
      ...stored,
      usedAt: usedAt ?? stored.usedAt,
      usedFrom: usedFrom ?? stored.usedFrom,
    }));
  }

  /** By id or name. Everything that the token holds open ends. A token that is not `mine` is unknown. */
  async revoke(idOrName: string, by: string, mine: (token: StoredToken) => boolean = () => true): Promise<StoredToken> {
    await this.reload();
    const live = [...this.#live.values()].find(
      ({ stored: { id, name, issued } }) => issued === undefined && (id === idOrName || name === idOrName),
    );
    if (live === undefined || !mine(live.stored)) throw notFound(idOrName);
    // First here: if the file cannot be written, the token is useless at least until the next start, and the error says so.
    this.#drop(live);
    const store = await this.#open();
    await store.revoke(live.stored.id, by);
    return live.stored;
  }

  /** Reads what other processes have changed. */
  reload(): Promise<void> {
    return (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#stopWatching?.();
    clearInterval(this.#savingUses);
    clearTimeout(this.#expiry);
    await this.#saveUses();
  }

  #open(): Promise<TokenStore> {
    this.#store ??= this.#options.openStore().then(
      (store) => {
        this.#stopWatching = store.watch(() => void this.reload().catch(this.#warn));
        this.#savingUses = setInterval(() => void this.#saveUses(), SAVE_USES_MS).unref();
        return store;
      },
      (error: unknown) => {
        this.#store = undefined;
        throw error;
      },
    );
    return this.#store;
  }

  async #load(): Promise<void> {
    if (this.#store === undefined && !this.#options.hasStore()) return;
    const store = await this.#open();
    const stored = new Map((await store.list()).map((each) => [each.digest, each]));
    for (const [digest, live] of this.#live) if (!stored.has(digest)) this.#drop(live);
    for (const [digest, each] of stored) if (!this.#live.has(digest)) this.#add(each);
    this.#waitForExpiry();
  }

  #add(stored: StoredToken): void {
    if (stored.expiresAt !== undefined && stored.expiresAt <= this.#now()) return;
    this.#live.set(stored.digest, this.#toLive(stored));
  }

  #toLive(stored: StoredToken): Live {
    const { id, principal, readOnly, name, issued } = stored;
    const rights = this.#options.users.rightsOf(principal);
    const groups = stored.groups === "*" ? "*" : new Set(stored.groups);
    const of =
      issued === undefined ? ({ kind: "token", client: name } as const) : ({ kind: "issued", ...issued } as const);
    const limits = { kind: of.kind, client: of.client, id, principal, groups, readOnly } as const;
    const grant =
      rights === undefined ? undefined : new Grant({ ...limits, ...rights, role: lowerRole(stored.role, rights.role) });
    return { stored, grant, usedAt: undefined, usedFrom: undefined, savedAt: undefined };
  }

  /** What the tokens of a user hold open ends; the tokens have the user's new rights. */
  #renewGrants(principal: string): void {
    for (const [digest, live] of this.#live) {
      if (live.stored.principal !== principal) continue;
      this.#noteUse(live);
      const { usedAt, usedFrom, savedAt } = live;
      this.#live.set(digest, { ...this.#toLive(live.stored), usedAt, usedFrom, savedAt });
      live.grant?.end();
    }
  }

  #drop(live: Live): void {
    this.#noteUse(live);
    this.#live.delete(live.stored.digest);
    live.grant?.end();
  }

  #waitForExpiry(): void {
    clearTimeout(this.#expiry);
    const times = [...this.#live.values()].flatMap(({ stored }) => stored.expiresAt ?? []);
    if (times.length === 0) return;
    const delay = Math.min(Math.max(Math.min(...times) - this.#now(), 0), MAX_TIMER_MS);
    this.#expiry = setTimeout(() => {
      for (const live of this.#live.values()) {
        if ((live.stored.expiresAt ?? Infinity) <= this.#now()) this.#drop(live);
      }
      this.#waitForExpiry();
    }, delay).unref();
  }

  #noteUse(live: Live): void {
    const { usedAt: at, usedFrom: from, savedAt, stored } = live;
    if (at === undefined || at === savedAt) return;
    live.savedAt = at;
    this.#uses.set(stored.id, { id: stored.id, at, from });
  }

  async #saveUses(): Promise<void> {
    for (const live of this.#live.values()) this.#noteUse(live);
    const uses = [...this.#uses.values()];
    this.#uses.clear();
    if (uses.length === 0) return;
    await this.#open()
      .then((store) => store.used(uses))
      .catch(this.#warn);
  }

  readonly #warn = (error: unknown): void => {
    this.#options.onWarning(`Access tokens: ${error instanceof Error ? error.message : String(error)}`);
  };
}

/** The name of a token, or of a program. */
export function requireTokenName(name: string): void {
  if (NAME.test(name)) return;
  throw new HubError("InvalidArgument", "The name begins with a letter or digit and has at most 64 characters", {
    field: "name",
    hint: "Letters, digits, spaces and . _ @ + - are allowed",
  });
}

function requireValid({ name, groups, expiresAt }: NewToken, now: number): void {
  requireTokenName(name);
  if (groups !== "*" && groups.length === 0) {
    throw new HubError("InvalidArgument", "A token needs at least one group", { field: "groups" });
  }
  if (expiresAt !== undefined && !(expiresAt > now)) {
    throw new HubError("InvalidArgument", "The token would have expired already", { field: "expires_at" });
  }
}

function notFound(idOrName: string): HubError {
  return new HubError("TokenNotFound", `There is no token ${JSON.stringify(idOrName)}`, { hint: "plugboard token ls" });
}
