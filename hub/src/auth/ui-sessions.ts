// Browsers that are signed in to the web interface. A session has two secret halves, and both are needed: one in an HttpOnly
// cookie, which browsers send to every port of the host, and one that only pages of the hub's own origin can read. Kept in a
// file as digests, so that a restart of the hub signs no one out.

import { randomUUID } from "node:crypto";
import { parseJson } from "@plugboard/shared/lenient";
import * as z from "zod/mini";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { readPrivateFile } from "../lib/files/private-file.ts";
import { toHubError } from "../errors.ts";
import { digestOf, isSameDigest, randomSecret } from "./secret-digest.ts";

export interface UiSessionsOptions {
  /** The file; undefined: the sessions last as long as the process. */
  readonly path: string | undefined;
  /** Sessions that were made with another management token have ended. */
  readonly owner: string;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
  readonly onWarning: (message: string) => void;
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
  readonly responses: Set<OpenResponse>;
  lastSeenAt: number;
  /** `lastSeenAt` in the file. */
  savedAt: number;
}

const IDLE_MS = 12 * 3_600_000;
export const LIFE_MS = 30 * 24 * 3_600_000;
const SAVE_SEEN_MS = 5 * 60_000;
const MAX_SESSIONS = 32;
const MAX_USER_AGENT = 256;

const digest = z.string().check(z.regex(/^[\w-]{43}$/));
const schema = z.object({
  owner: z.string(),
  sessions: z.array(
    z.object({
      id: z.string(),
      cookie: digest,
      page_key: digest,
      created_at: z.number(),
      last_seen_at: z.number(),
      user_agent: z.string(),
    }),
  ),
});

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
      if (read.success && read.data.owner === owner) sessions.#add(read.data.sessions);
      else if (text !== undefined && !read.success) onWarning(`${path} is damaged: browsers have to sign in again`);
    } catch (error) {
      onWarning(`Browsers have to sign in again: ${toHubError(error).message}`);
    }
    return sessions;
  }

  /** A new session, always with new halves. */
  create(userAgent: string): { readonly session: UiSession; readonly credentials: UiCredentials } {
    const credentials = { cookie: randomSecret(), pageKey: randomSecret() };
    const now = this.#now();
    const entry: Entry = {
      id: randomUUID(),
      cookie: digestOf(credentials.cookie),
      pageKey: digestOf(credentials.pageKey),
      createdAt: now,
      userAgent: userAgent.slice(0, MAX_USER_AGENT),
      responses: new Set(),
      lastSeenAt: now,
      savedAt: now,
    };
    this.#removeExpired();
    const [oldest] = this.#entries.values();
    if (oldest !== undefined && this.#entries.size >= MAX_SESSIONS) this.#remove(oldest);
    this.#entries.set(entry.id, entry);
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

  endAll(answer?: OpenResponse): void {
    for (const entry of this.#entries.values()) this.#remove(entry, answer);
    this.#save();
  }

  /** Resolves when everything is on disk. */
  async saved(): Promise<void> {
    if ([...this.#entries.values()].some(({ lastSeenAt, savedAt }) => lastSeenAt !== savedAt)) this.#save();
    await this.#saving;
  }

  #add(records: z.infer<typeof schema>["sessions"]): void {
    for (const { id, cookie, page_key, created_at, last_seen_at, user_agent } of records.slice(-MAX_SESSIONS)) {
      this.#entries.set(id, {
        id,
        cookie: Buffer.from(cookie, "base64url"),
        pageKey: Buffer.from(page_key, "base64url"),
        createdAt: created_at,
        userAgent: user_agent,
        responses: new Set(),
        lastSeenAt: last_seen_at,
        savedAt: last_seen_at,
      });
    }
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
      if (now - entry.createdAt >= LIFE_MS || now - entry.lastSeenAt >= IDLE_MS) this.#remove(entry);
    }
  }

  #remove(entry: Entry, answer?: OpenResponse): void {
    this.#entries.delete(entry.id);
    for (const response of entry.responses) {
      if (response === answer) continue;
      if (response.headersSent) response.end();
      else response.destroy();
    }
  }

  #save(): void {
    const { path, owner, onWarning } = this.#options;
    if (path === undefined) return;
    const entries = [...this.#entries.values()];
    for (const entry of entries) entry.savedAt = entry.lastSeenAt;
    const text = JSON.stringify({ owner, sessions: entries.map(toRecord) } satisfies z.infer<typeof schema>);
    this.#saving = this.#saving
      .then(() => writeFileAtomic(path, `${text}\n`, { mode: 0o600 }))
      .catch((error: unknown) =>
        onWarning(`A restart of the hub will sign browsers out: ${toHubError(error).message}`),
      );
  }
}

function toSession({ id, createdAt, lastSeenAt, userAgent }: Entry): UiSession {
  return { id, createdAt, expiresAt: createdAt + LIFE_MS, lastSeenAt, userAgent };
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
