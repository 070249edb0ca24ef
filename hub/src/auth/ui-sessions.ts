// Browsers that are signed in to the web interface. A session has two secret halves, and both are needed: one in an HttpOnly
// cookie, which browsers send to every port of the host, and one that only pages of the hub's own origin can read. Kept in a
// file as digests, so that a restart of the hub signs no one out.

import { randomUUID } from "node:crypto";
import { parseJson } from "@plugboard/shared/lenient";
import * as z from "zod/mini";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { readPrivateFile } from "../lib/files/private-file.ts";
import { HubError, toHubError } from "../errors.ts";
import { isRole, type Grant, type Role } from "./grant.ts";
import { digestOf, isSameDigest, randomSecret } from "./secret-digest.ts";

export interface UiSessionsOptions {
  /** The file; undefined: the sessions last as long as the process. */
  readonly path: string | undefined;
  /** Sessions that were made with another management token have ended. */
  readonly owner: string;
  /** What a session may do; undefined: its person may not use the hub any more. A session ends with its grant. */
  readonly grantOf: (id: string, person: SessionPerson | undefined) => Grant | undefined;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
  readonly onWarning: (message: string) => void;
}

/** A user who has signed in by an identity provider. The owner signs in by a link. */
export interface SessionPerson {
  /** The id of the user. */
  readonly user: string;
  /** At the sign-in: a session does not outlive a change. */
  readonly role: Role;
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** The session at the provider. */
  readonly providerSession?: string | undefined;
}

/** The two halves of a session. */
export interface UiCredentials {
  readonly cookie: string;
  readonly pageKey: string;
}

export interface UiSession {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastSeenAt: number;
  readonly userAgent: string;
  readonly grant: Grant;
  /** Undefined: the owner. */
  readonly person: SessionPerson | undefined;
  /** By which the provider knows whom to sign out. Not kept over a restart. */
  readonly idToken: string | undefined;
}

/** A response that a session may hold open. */
interface OpenResponse {
  readonly headersSent: boolean;
  once(event: "close", listener: () => void): unknown;
  end(): unknown;
  destroy(): unknown;
}

interface Entry {
  readonly id: string;
  readonly cookie: Buffer;
  readonly pageKey: Buffer;
  readonly createdAt: number;
  readonly userAgent: string;
  readonly grant: Grant;
  readonly person: SessionPerson | undefined;
  readonly idToken: string | undefined;
  readonly responses: Set<OpenResponse>;
  lastSeenAt: number;
  /** `lastSeenAt` in the file. */
  savedAt: number;
}

const IDLE_MS = 12 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const OWNER_LIFE_MS = 30 * DAY_MS;
const PERSON_LIFE_MS = 7 * DAY_MS;
const SAVE_SEEN_MS = 5 * 60_000;
/** Of one person. */
const MAX_SESSIONS = 32;
const MAX_ALL_SESSIONS = 1024;
const MAX_USER_AGENT = 256;

const digest = z.string().check(z.regex(/^[\w-]{43}$/));
const record = {
  id: z.string(),
  cookie: digest,
  page_key: digest,
  created_at: z.number(),
  last_seen_at: z.number(),
  user_agent: z.string(),
};
const schema = z.object({
  owner: z.string(),
  sessions: z.array(z.object(record)),
  /** Apart: a version of the hub that knows no users must not take them for the owner's. */
  user_sessions: z.optional(
    z.array(
      z.object({
        ...record,
        user: z.string(),
        role: z.string().check(z.refine(isRole)),
        provider: z.string(),
        issuer: z.string(),
        subject: z.string(),
        provider_session: z.optional(z.string()),
      }),
    ),
  ),
});
type File = z.infer<typeof schema>;

export class UiSessions {
  readonly #options: UiSessionsOptions;
  readonly #now: () => number;
  /** The one that was seen last is the last. */
  readonly #entries = new Map<string, Entry>();
  #saving: Promise<void> = Promise.resolve();

  private constructor(options: UiSessionsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** A file that cannot be used costs a new sign-in, and nothing else. */
  static async open(options: UiSessionsOptions): Promise<UiSessions> {
    const sessions = new UiSessions(options);
    const { path, owner, onWarning } = options;
    if (path === undefined) return sessions;
    try {
      const text = await readPrivateFile(path);
      const read = schema.safeParse(parseJson(text ?? ""));
      if (read.success && read.data.owner === owner) sessions.#addAll(read.data);
      else if (text !== undefined && !read.success) onWarning(`${path} is damaged: browsers have to sign in again`);
    } catch (error) {
      onWarning(`Browsers have to sign in again: ${toHubError(error).message}`);
    }
    return sessions;
  }

  /** A new session, always with new halves. Throws Forbidden if the person may not use the hub any more. */
  create(
    userAgent: string,
    { person, idToken }: { readonly person?: SessionPerson; readonly idToken?: string } = {},
  ): { readonly session: UiSession; readonly credentials: UiCredentials } {
    const credentials = { cookie: randomSecret(), pageKey: randomSecret() };
    const now = this.#now();
    this.#removeExpired();
    const entry = this.#add({
      id: randomUUID(),
      cookie: digestOf(credentials.cookie),
      pageKey: digestOf(credentials.pageKey),
      createdAt: now,
      userAgent: userAgent.slice(0, MAX_USER_AGENT),
      person,
      idToken,
      lastSeenAt: now,
      savedAt: now,
    });
    if (entry === undefined) throw new HubError("Forbidden", "This account may not use the hub any more");
    this.#save();
    return { session: toSession(entry), credentials };
  }

  /** The session of these halves. Compares with all sessions, so that the time says nothing. */
  find({ cookie, pageKey }: UiCredentials): UiSession | undefined {
    this.#removeExpired();
    const [cookieDigest, keyDigest] = [digestOf(cookie), digestOf(pageKey)];
    let found: Entry | undefined;
    for (const entry of this.#entries.values()) {
      const [hasCookie, hasKey] = [isSameDigest(entry.cookie, cookieDigest), isSameDigest(entry.pageKey, keyDigest)];
      if (hasCookie && hasKey) found = entry;
    }
    if (found === undefined) return undefined;
    this.#seen(found);
    return toSession(found);
  }

  /** Open responses end with their session. */
  follow({ id }: UiSession, response: OpenResponse): void {
    const responses = this.#entries.get(id)?.responses;
    responses?.add(response);
    response.once("close", () => responses?.delete(response));
  }

  list(): UiSession[] {
    this.#removeExpired();
    return [...this.#entries.values()].map(toSession);
  }

  /** `answer`: the response to the request that ends it. */
  end(id: string, answer?: OpenResponse): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#remove(entry, answer);
    this.#save();
  }

  /** Ends sessions whose other half is lost. */
  endByCookie(cookies: readonly string[]): void {
    const digests = cookies.map(digestOf);
    const lost = [...this.#entries.values()].filter(({ cookie }) => digests.some((each) => isSameDigest(each, cookie)));
    if (lost.length === 0) return;
    for (const entry of lost) this.#remove(entry);
    this.#save();
  }

  /** Those for which `isMeant` is true. */
  endWhere(isMeant: (session: UiSession) => boolean, answer?: OpenResponse): void {
    const meant = [...this.#entries.values()].filter((entry) => isMeant(toSession(entry)));
    for (const entry of meant) this.#remove(entry, answer);
    if (meant.length > 0) this.#save();
  }

  /** Resolves when everything is on disk. */
  async saved(): Promise<void> {
    if ([...this.#entries.values()].some(({ lastSeenAt, savedAt }) => lastSeenAt !== savedAt)) this.#save();
    await this.#saving;
  }

  #addAll({ sessions, user_sessions = [] }: File): void {
    for (const each of sessions) this.#add(toParts(each, undefined));
    for (const { user, role, provider, issuer, subject, provider_session, ...each } of user_sessions) {
      if (!isRole(role)) continue;
      const person = { user, role, provider, issuer, subject, providerSession: provider_session };
      this.#add(toParts(each, person));
    }
  }

  #add(parts: Omit<Entry, "grant" | "responses">): Entry | undefined {
    const { id, person } = parts;
    const grant = this.#options.grantOf(id, person);
    if (grant === undefined || grant.hasEnded) return undefined;
    const all = [...this.#entries.values()];
    const own = all.filter((each) => each.grant.principal === grant.principal);
    const [oldest] = own.length >= MAX_SESSIONS ? own : all.length >= MAX_ALL_SESSIONS ? all : [];
    if (oldest !== undefined) this.#remove(oldest);
    const entry: Entry = { ...parts, grant, responses: new Set() };
    this.#entries.set(id, entry);
    grant.onceEnded(() => this.end(id));
    return entry;
  }

  #seen(entry: Entry): void {
    entry.lastSeenAt = this.#now();
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
    if (entry.lastSeenAt - entry.savedAt >= SAVE_SEEN_MS) this.#save();
  }

  #removeExpired(): void {
    const now = this.#now();
    for (const entry of this.#entries.values()) {
      if (now >= endOf(entry) || now - entry.lastSeenAt >= IDLE_MS) this.#remove(entry);
    }
  }

  #remove(entry: Entry, answer?: OpenResponse): void {
    this.#entries.delete(entry.id);
    for (const response of entry.responses) {
      if (response === answer) continue;
      if (response.headersSent) response.end();
      else response.destroy();
    }
    entry.grant.end();
  }

  #save(): void {
    const { path, owner, onWarning } = this.#options;
    if (path === undefined) return;
    const entries = [...this.#entries.values()];
    for (const entry of entries) entry.savedAt = entry.lastSeenAt;
    const users = entries.flatMap((entry) => {
      if (entry.person === undefined) return [];
      const { providerSession, ...person } = entry.person;
      const session = providerSession === undefined ? {} : { provider_session: providerSession };
      return [{ ...toRecord(entry), ...person, ...session }];
    });
    const sessions = entries.filter(({ person }) => person === undefined).map(toRecord);
    const text = JSON.stringify({
      owner,
      sessions,
      ...(users.length === 0 ? {} : { user_sessions: users }),
    } satisfies File);
    this.#saving = this.#saving
      .then(() => writeFileAtomic(path, `${text}\n`, { mode: 0o600 }))
      .catch((error: unknown) =>
        onWarning(`A restart of the hub will sign browsers out: ${toHubError(error).message}`),
      );
  }
}

function toSession(entry: Entry): UiSession {
  const { id, createdAt, lastSeenAt, userAgent, grant, person, idToken } = entry;
  return { id, createdAt, expiresAt: endOf(entry), lastSeenAt, userAgent, grant, person, idToken };
}

/** However much it is used. */
function endOf({ createdAt, person }: Pick<Entry, "createdAt" | "person">): number {
  return createdAt + (person === undefined ? OWNER_LIFE_MS : PERSON_LIFE_MS);
}

function toParts(
  { id, cookie, page_key, created_at, last_seen_at, user_agent }: File["sessions"][number],
  person: SessionPerson | undefined,
): Omit<Entry, "grant" | "responses"> {
  return {
    id,
    cookie: Buffer.from(cookie, "base64url"),
    pageKey: Buffer.from(page_key, "base64url"),
    createdAt: created_at,
    userAgent: user_agent,
    person,
    idToken: undefined,
    lastSeenAt: last_seen_at,
    savedAt: last_seen_at,
  };
}

function toRecord({ id, cookie, pageKey, createdAt, lastSeenAt, userAgent }: Entry) {
  return {
    id,
    cookie: cookie.toString("base64url"),
    page_key: pageKey.toString("base64url"),
    created_at: createdAt,
    last_seen_at: lastSeenAt,
    user_agent: userAgent,
  };
}
