// The people who may use the hub: everyone who has signed in with an issuer that the hub trusts. An issuer says who they are; the
// hub decides what they may do. All are in memory, and what they hold open ends as soon as they may do less.

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { HubError } from "../errors.ts";
import { Grant, lowerRole, type GrantInit, type Role } from "./grant.ts";
import type { StoredUser, UserStore } from "./user-store.ts";

export interface User {
  readonly id: string;
  /** `user:<id>` */
  readonly principal: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  readonly role: Role;
  /** By an administrator of the hub; undefined: none was given. */
  readonly givenRole: Role | undefined;
  readonly teams: ReadonlySet<string>;
  readonly disabled: boolean;
  readonly createdAt: number;
  readonly seenAt: number;
}

/** What an issuer says of someone who signs in. */
export interface SignIn {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly name?: string | undefined;
  /** Replace those of the last time; undefined: the issuer says nothing about teams. */
  readonly teams?: readonly string[] | undefined;
  readonly role?: Role | undefined;
}

/** From hub.json. People are named by their verified email address, or as `user:<id>`. */
export interface UserRules {
  readonly admins: readonly string[];
  readonly teams: Readonly<Record<string, readonly string[]>>;
}

export interface UsersOptions {
  /** Called when there is something to read or write. */
  readonly openStore: () => Promise<UserStore>;
  /** Whether there is something to read. */
  readonly hasStore: () => boolean;
  readonly rules?: UserRules;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
  readonly onWarning: (message: string) => void;
}

/** What a principal may do at most. */
export interface PrincipalRights {
  readonly role: Role;
  readonly teams: ReadonlySet<string>;
  /** Verified, in lower case. */
  readonly email: string | undefined;
}

interface Known {
  readonly stored: StoredUser;
  readonly user: User;
}

/** When someone was here last is saved this often at most. */
const SAVE_SEEN_MS = 60_000;
const MAX_TEXT = 256;
const MAX_TEAMS = 200;
const USER = "user:";
const NO_RULES: UserRules = { admins: [], teams: {} };

export class Users {
  readonly #options: UsersOptions;
  readonly #rules: UserRules;
  readonly #now: () => number;
  /** By id. */
  readonly #users = new Map<string, Known>();
  /** What users hold open, by principal. */
  readonly #grants = new Map<string, Set<Grant>>();
  readonly #listeners = new Set<(principal: string) => void>();
  #store: Promise<UserStore> | undefined;
  #stopWatching: (() => void) | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: UsersOptions) {
    this.#options = options;
    this.#rules = options.rules ?? NO_RULES;
    this.#now = options.now ?? Date.now;
  }

  /** Called with the principal of a user who may do more, or less, than before, or is gone. */
  onChange(listener: (principal: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Notes who has signed in, for the first time or again. Throws Forbidden if the hub has disabled them. */
  async signedIn(who: SignIn): Promise<User> {
    const known = [...this.#users.values()].find(({ stored }) => isSame(stored, who))?.stored;
    const merged = this.#merge(known, who);
    const isNews =
      known === undefined || merged.seenAt - known.seenAt >= SAVE_SEEN_MS || !hasSameContent(known, merged);
    if (!isNews) return requireEnabled(toUser(known, this.#rules));
    const store = await this.#open();
    return requireEnabled(this.#set(await store.save(who, (stored) => this.#merge(stored, who))));
  }

  /** A grant of a user: its role is the user's own at most, and it ends when the user may do less, or other things, than now. */
  grant(user: User, init: Omit<GrantInit, "principal" | "role" | "teams" | "email"> & { readonly role?: Role }): Grant {
    const { principal } = user;
    const rights = this.rightsOf(principal);
    if (rights === undefined) throw disabled(user);
    const grant = new Grant({ ...init, principal, ...rights, role: lowerRole(init.role ?? rights.role, rights.role) });
    const grants = this.#grants.get(principal) ?? new Set();
    this.#grants.set(principal, grants.add(grant));
    grant.onceEnded(() => {
      grants.delete(grant);
      if (grants.size === 0 && this.#grants.get(principal) === grants) this.#grants.delete(principal);
    });
    return grant;
  }

  /** Of anyone: the owner, a user, a service. Undefined: a user who is disabled or unknown. */
  rightsOf(principal: string): PrincipalRights | undefined {
    if (!principal.startsWith(USER)) {
      return { role: "admin", teams: teamsOf(this.#rules, [principal]), email: undefined };
    }
    const user = this.#users.get(principal.slice(USER.length))?.user;
    if (user === undefined || user.disabled) return undefined;
    const { role, teams, email, emailVerified } = user;
    return { role, teams, email: emailVerified ? email?.toLowerCase() : undefined };
  }

  byId(id: string): User | undefined {
    return this.#users.get(id)?.user;
  }

  /** By id, principal or verified email address. */
  find(text: string): User | undefined {
    const id = text.startsWith(USER) ? text.slice(USER.length) : text;
    const email = id.toLowerCase();
    const named = ({ email: own, emailVerified }: User) => emailVerified && own?.toLowerCase() === email;
    const known = this.#users.get(id)?.user;
    if (known !== undefined) return known;
    const found = this.#all().filter(named);
    if (found.length < 2) return found[0];
    throw new HubError("Conflict", `Several users have the address ${id}, from different issuers`, {
      hint: `Use an id: ${found.map((each) => each.id).join(", ")}`,
    });
  }

  async get(text: string): Promise<User> {
    await this.reload();
    const found = this.find(text);
    if (found !== undefined) return found;
    throw new HubError("UserNotFound", `There is no user ${JSON.stringify(text)}`, {
      hint: "plugboard user ls lists everyone who has signed in",
    });
  }

  async list(): Promise<User[]> {
    await this.reload();
    return this.#all();
  }

  /** `role`: undefined for the one that the issuer says. */
  async setRole(text: string, role: Role | undefined): Promise<User> {
    const user = await this.get(text);
    if (this.#isNamedAdmin(user) && role !== "admin") {
      throw new HubError("Conflict", "auth.admins in hub.json makes this user an administrator", {
        field: "role",
        hint: "Remove the entry there, and restart the hub",
      });
    }
    return this.#change(user, { givenRole: role });
  }

  /** The credentials of a disabled user are refused, whatever they are. */
  async setDisabled(text: string, isDisabled: boolean): Promise<User> {
    const user = await this.get(text);
    if (user.disabled === isDisabled) return user;
    return this.#change(user, { disabledAt: isDisabled ? this.#now() : undefined });
  }

  /** Forgets a user, who may sign in again, as someone new. */
  async remove(text: string): Promise<User> {
    const user = await this.get(text);
    // First here: if the file cannot be written, the user is out at least until the next start, and the error says so.
    this.#drop(user);
    await (await this.#open()).remove(user.id);
    return user;
  }

  /** Reads what other processes have changed. */
  reload(): Promise<void> {
    return (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  close(): void {
    this.#stopWatching?.();
  }

  async #load(): Promise<void> {
    if (this.#store === undefined && !this.#options.hasStore()) return;
    const store = await this.#open();
    const listed = await store.list();
    const ids = new Set(listed.map(({ id }) => id));
    for (const user of this.#all()) if (!ids.has(user.id)) this.#drop(user);
    for (const each of listed) this.#set(each);
  }

  #open(): Promise<UserStore> {
    this.#store ??= this.#options.openStore().then(
      (store) => {
        this.#stopWatching = store.watch(() => void this.reload().catch(this.#warn));
        return store;
      },
      (error: unknown) => {
        this.#store = undefined;
        throw error;
      },
    );
    return this.#store;
  }

  async #change(user: User, change: Partial<StoredUser>): Promise<User> {
    const store = await this.#open();
    const saved = await store.save(user, (stored) => {
      if (stored === undefined) throw new HubError("UserNotFound", `The user ${labelOf(user)} was removed meanwhile`);
      return { ...stored, ...change };
    });
    return this.#set(saved);
  }

  #all(): User[] {
    return [...this.#users.values()].map(({ user }) => user);
  }

  #set(stored: StoredUser): User {
    const before = this.#users.get(stored.id)?.user;
    const user = toUser(stored, this.#rules);
    this.#users.set(stored.id, { stored, user });
    if (before === undefined || !hasSameRights(before, user)) this.#changed(user.principal);
    return user;
  }

  #drop(user: User): void {
    if (this.#users.delete(user.id)) this.#changed(user.principal);
  }

  #changed(principal: string): void {
    const grants = this.#grants.get(principal) ?? [];
    for (const grant of grants) grant.end();
    for (const listener of this.#listeners) listener(principal);
  }

  #merge(stored: StoredUser | undefined, who: SignIn): StoredUser {
    const now = this.#now();
    return {
      id: stored?.id ?? randomUUID(),
      issuer: who.issuer,
      subject: who.subject,
      email: clean(who.email) ?? stored?.email,
      emailVerified: who.email === undefined ? (stored?.emailVerified ?? false) : who.emailVerified === true,
      name: clean(who.name) ?? stored?.name,
      givenRole: stored?.givenRole,
      claimedRole: who.role ?? stored?.claimedRole,
      claimedTeams: who.teams?.slice(0, MAX_TEAMS) ?? stored?.claimedTeams ?? [],
      createdAt: stored?.createdAt ?? now,
      seenAt: now,
      disabledAt: stored?.disabledAt,
    };
  }

  #isNamedAdmin({ id, email, emailVerified }: User): boolean {
    return isNamed(this.#rules.admins, namesOf(id, emailVerified ? email : undefined));
  }

  readonly #warn = (error: unknown): void => {
    this.#options.onWarning(`Users: ${error instanceof Error ? error.message : String(error)}`);
  };
}

/** How people read a user. */
export function labelOf({ email, name, id }: Pick<User, "email" | "name" | "id">): string {
  return email ?? name ?? id;
}

/** For a token or session that stands for a program. */
export function servicePrincipal(name: string): string {
  return `service:${name}`;
}

function toUser(stored: StoredUser, { admins, teams }: UserRules): User {
  const { id, issuer, subject, email, emailVerified, name, claimedTeams, createdAt, seenAt } = stored;
  const names = namesOf(id, emailVerified ? email : undefined);
  const role = isNamed(admins, names) ? "admin" : (stored.givenRole ?? stored.claimedRole ?? "user");
  return {
    id,
    principal: `${USER}${id}`,
    issuer,
    subject,
    email,
    emailVerified,
    name,
    role,
    givenRole: stored.givenRole,
    teams: new Set([...claimedTeams, ...teamsOf({ admins, teams }, names)]),
    disabled: stored.disabledAt !== undefined,
    createdAt,
    seenAt,
  };
}

function namesOf(id: string, verifiedEmail: string | undefined): string[] {
  return [`${USER}${id}`, ...(verifiedEmail === undefined ? [] : [verifiedEmail, `${USER}${verifiedEmail}`])];
}

function teamsOf({ teams }: UserRules, names: readonly string[]): ReadonlySet<string> {
  const own = Object.entries(teams).filter(([, members]) => isNamed(members, names));
  return new Set(own.map(([team]) => team));
}

function isNamed(entries: readonly string[], names: readonly string[]): boolean {
  return entries.some((entry) => names.some((name) => name.toLowerCase() === entry.toLowerCase()));
}

function isSame(user: Pick<StoredUser, "issuer" | "subject">, { issuer, subject }: SignIn): boolean {
  return user.issuer === issuer && user.subject === subject;
}

/** Whether a sign-in has said nothing new. */
function hasSameContent({ seenAt: _one, ...before }: StoredUser, { seenAt: _other, ...after }: StoredUser): boolean {
  return isDeepStrictEqual(before, after);
}

function hasSameRights(one: User, other: User): boolean {
  const isSameTeams = one.teams.size === other.teams.size && [...one.teams].every((team) => other.teams.has(team));
  const emailOf = ({ email, emailVerified }: User) => (emailVerified ? email : undefined);
  return one.role === other.role && one.disabled === other.disabled && isSameTeams && emailOf(one) === emailOf(other);
}

function requireEnabled(user: User): User {
  if (user.disabled) throw disabled(user);
  return user;
}

function disabled(user: User): HubError {
  return new HubError("Forbidden", `The user ${labelOf(user)} is disabled`, {
    hint: `Ask an administrator of the hub: plugboard user enable ${user.id}`,
  });
}

/** A name or address as it may be shown: without control characters and text that changes its direction. */
function clean(text: string | undefined): string | undefined {
  const shown = text
    ?.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .trim()
    .slice(0, MAX_TEXT);
  return shown === "" ? undefined : shown;
}
