// Sign-ins of people by an identity provider, from the button to the session. One is bound to its browser twice: by a cookie that
// came with its start, and by a key that only the page gets that the browser comes back to. So no link of someone else signs a
// browser in.

import { HubError } from "../../errors.ts";
import type { AuditLog } from "../audit.ts";
import type { RequestRates } from "../request-rates.ts";
import { digestOf, isSameDigest, randomSecret } from "../secret-digest.ts";
import type { User, Users } from "../users.ts";
import { toSignIn, type ClaimRules, type Claims } from "./claims.ts";
import { returnPath } from "./return-path.ts";

/** A provider, as its protocol gives it. */
export interface SsoClient {
  begin(redirectUri: string): Promise<{
    readonly url: string;
    readonly state: string;
    readonly finish: (callback: URL) => Promise<ProvenPerson>;
  }>;
  checkLogout(token: string): Promise<ProvenLogout>;
  endSessionUrl(returnTo: string, idToken: string | undefined): Promise<string | undefined>;
}

export interface ProvenPerson {
  readonly subject: string;
  readonly claims: Claims;
  readonly sessionId: string | undefined;
  readonly idToken: string;
}

export interface ProvenLogout {
  readonly subject: string | undefined;
  readonly sessionId: string | undefined;
  readonly id: string;
}

export interface SsoProvider {
  readonly issuer: string;
  readonly rules: ClaimRules;
  readonly client: SsoClient;
  /** Signing out of the hub also signs out there. */
  readonly endSession: boolean;
}

export interface SsoSignInsOptions {
  readonly providers: readonly SsoProvider[];
  readonly users: Pick<Users, "signedIn">;
  readonly audit: Pick<AuditLog, "refused">;
  readonly rates: RequestRates;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
}

/** A person who comes back with the right key. */
export interface SignedInPerson {
  readonly user: User;
  readonly provider: string;
  readonly sessionId: string | undefined;
  readonly idToken: string;
  readonly returnTo: string | undefined;
}

interface Pending {
  readonly browser: Buffer;
  readonly provider: SsoProvider;
  readonly finish: (callback: URL) => Promise<ProvenPerson>;
  readonly returnTo: string | undefined;
  readonly endsAt: number;
}

interface Proven extends SignedInPerson {
  readonly browser: Buffer;
  readonly endsAt: number;
}

export const SIGN_IN_MS = 10 * 60_000;
const KEY_MS = 60_000;
const MAX_PENDING = 1000;
const MAX_LOGOUTS = 1000;

export class SsoSignIns {
  readonly #options: SsoSignInsOptions;
  readonly #now: () => number;
  /** By digest of the state; the oldest first. */
  readonly #pending = new Map<string, Pending>();
  /** By digest of the key. */
  readonly #proven = new Map<string, Proven>();
  /** Logout tokens that were used. */
  readonly #logouts = new Set<string>();

  constructor(options: SsoSignInsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get names(): string[] {
    return this.#options.providers.map(({ rules }) => rules.name);
  }

  /** `cookie` is for the browser that begins. */
  async begin(given: {
    readonly provider: string;
    readonly redirectUri: string;
    readonly returnTo: string | undefined;
    readonly source: string;
  }): Promise<{ readonly url: string; readonly cookie: string }> {
    const provider = this.#find(given.provider);
    this.#options.rates.take("sign_ins", given.source);
    const { url, state, finish } = await provider.client.begin(given.redirectUri);
    const cookie = randomSecret();
    const now = this.#now();
    this.#removeExpired(now);
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined && this.#pending.size >= MAX_PENDING) this.#pending.delete(oldest);
    this.#pending.set(nameOf(state), {
      browser: digestOf(cookie),
      provider,
      finish,
      returnTo: returnPath(given.returnTo),
      endsAt: now + SIGN_IN_MS,
    });
    return { url, cookie };
  }

  /** The key by which the browser that began is signed in. Throws for any other browser, and leaves its sign-in as it is. */
  async callback(callback: URL, cookies: readonly string[], source: string): Promise<string> {
    this.#removeExpired(this.#now());
    const state = nameOf(callback.searchParams.get("state") ?? "");
    const pending = this.#pending.get(state);
    if (pending === undefined) throw unknown();
    if (!isOneOf(cookies, pending.browser)) {
      throw new HubError("Forbidden", "This sign-in was begun in another browser", {
        hint: "Open the hub in this browser, and sign in there",
      });
    }
    // Once, whatever comes of it.
    this.#pending.delete(state);
    const { provider, browser, returnTo } = pending;
    const { user, sessionId, idToken } = await this.#prove(pending, callback, source);
    const key = randomSecret();
    const endsAt = this.#now() + KEY_MS;
    this.#proven.set(nameOf(key), {
      browser,
      user,
      provider: provider.rules.name,
      sessionId,
      idToken,
      returnTo,
      endsAt,
    });
    return key;
  }

  /** The person of a key, once, in the browser that began. Undefined: it is no key of a sign-in here. */
  take(key: string, cookies: readonly string[]): SignedInPerson | undefined {
    this.#removeExpired(this.#now());
    const proven = this.#proven.get(nameOf(key));
    if (proven === undefined || !isOneOf(cookies, proven.browser)) return undefined;
    this.#proven.delete(nameOf(key));
    return proven;
  }

  /** Whose sessions end, as a provider says. Rejects with LoginFailed for a token that is not to be believed. */
  async logout(
    provider: string,
    token: string,
  ): Promise<Pick<ProvenLogout, "subject" | "sessionId"> & { readonly issuer: string }> {
    const { client, issuer } = this.#find(provider);
    const { id, subject, sessionId } = await client.checkLogout(token);
    if (this.#logouts.has(id)) throw new HubError("LoginFailed", "This logout token was used before");
    const [oldest] = this.#logouts;
    if (oldest !== undefined && this.#logouts.size >= MAX_LOGOUTS) this.#logouts.delete(oldest);
    this.#logouts.add(id);
    return { issuer, subject, sessionId };
  }

  /** Where a browser goes that has signed out here; undefined: nowhere. The hub's own sign-out counts, whatever comes of this. */
  async endSessionUrl(
    provider: string,
    { returnTo, idToken }: { readonly returnTo: string; readonly idToken: string | undefined },
  ): Promise<string | undefined> {
    const found = this.#options.providers.find(({ rules }) => rules.name === provider);
    if (found?.endSession !== true) return undefined;
    return found.client.endSessionUrl(returnTo, idToken).catch(() => undefined);
  }

  async #prove({ finish, provider }: Pending, callback: URL, source: string) {
    const { rules, issuer } = provider;
    try {
      const { subject, claims, sessionId, idToken } = await finish(callback);
      const user = await this.#options.users.signedIn(toSignIn(issuer, subject, claims, rules));
      return { user, sessionId, idToken };
    } catch (thrown) {
      const detail = thrown instanceof HubError ? thrown.message : undefined;
      this.#options.audit.refused({ by: { principal: "anonymous" }, object: rules.name, detail, address: source });
      throw thrown;
    }
  }

  #find(name: string): SsoProvider {
    const found = this.#options.providers.find(({ rules }) => rules.name === name);
    if (found !== undefined) return found;
    throw new HubError("LoginNotFound", `There is no identity provider ${JSON.stringify(name)}`, {
      hint: "auth.sso in hub.json lists them",
    });
  }

  #removeExpired(now: number): void {
    for (const open of [this.#pending, this.#proven]) {
      for (const [name, { endsAt }] of open) if (endsAt <= now) open.delete(name);
    }
  }
}

/** Of the key or state, under which it is found: only a digest, so that the time of the look-up says nothing. */
function nameOf(secret: string): string {
  return digestOf(secret).toString("base64url");
}

function isOneOf(cookies: readonly string[], browser: Buffer): boolean {
  return cookies.some((cookie) => isSameDigest(digestOf(cookie), browser));
}

function unknown(): HubError {
  return new HubError(
    "LoginNotFound",
    "This sign-in is not known: it was finished before, or took longer than ten minutes",
    {
      hint: "Open the hub, and sign in again",
    },
  );
}
