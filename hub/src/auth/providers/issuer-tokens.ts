// Tokens of identity providers. A token that was checked is kept as a digest with its grant, so that it costs a look-up until it
// expires, or until it has to be checked again.

import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { HubError } from "../../errors.ts";
import type { Credential, IdentifiedRequest } from "../credential.ts";
import type { Grant } from "../grant.ts";
import type { Resource, ResourceAddresses } from "../resource.ts";
import { roleWithin } from "../scopes.ts";
import type { Users } from "../users.ts";
import { coverageOf, covers, type Coverage } from "./audience.ts";
import { readIdentity, type TokenIdentity } from "./claims.ts";
import { DpopProofs } from "./dpop-proofs.ts";
import { Issuer, type IssuerOptions } from "./issuer.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import { InvalidToken } from "./refusals.ts";

export interface IssuerTokensOptions extends Pick<IssuerOptions, "fetchFor"> {
  readonly issuers: readonly IssuerSettings[];
  readonly users: Pick<Users, "signedIn" | "grant">;
  readonly addresses: ResourceAddresses;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
}

/** What a token gives access to. */
interface Access {
  readonly issuer: Issuer;
  readonly identity: TokenIdentity;
  readonly coverage: Coverage;
  /** Undefined: it does not say. */
  readonly expiresAt: number | undefined;
}

interface Entry extends Access {
  readonly digest: string;
  readonly grant: Grant;
  /** Undefined: it is not checked again. */
  readonly again: Again | undefined;
  checkedAt: number;
  usedAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface Again {
  readonly afterMs: number;
  readonly credential: Credential;
}

const MAX_ENTRIES = 10_000;
/** How many of the oldest entries are compared to find one that gives way to a new one. */
const MAX_LOOKED_AT = 100;
/** A token that no one sends any more is not checked again. What it still holds open ends. */
const UNUSED_MS = 3_600_000;
/** An introspected token that is not active may be so a moment later. */
const REFUSED_MS = 5000;
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class IssuerTokens {
  readonly #options: IssuerTokensOptions;
  readonly #now: () => number;
  readonly #issuers: readonly Issuer[];
  readonly #proofs: DpopProofs;
  /** By digest, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** Until when opaque tokens are refused without asking, by digest. */
  readonly #refused = new Map<string, number>();
  readonly #checks = new Map<string, Promise<Entry | undefined>>();

  constructor(options: IssuerTokensOptions) {
    const { issuers, fetchFor, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#issuers = issuers.map((settings) => new Issuer({ settings, fetchFor, now }));
    this.#proofs = new DpopProofs(now);
  }

  /** Where clients get tokens. */
  get issuers(): readonly string[] {
    return this.#issuers.map(({ settings }) => settings.issuer);
  }

  /** Whether `check` has anything to say about the token. */
  concerns({ token, shape }: Credential): boolean {
    return this.#issuers.some((issuer) => issuer.isAskedAbout(token, shape));
  }

  /** The grant of a token that was checked before and can be used at the resource as it is. */
  find({ token, scheme }: Credential, resource: Resource): Grant | undefined {
    const entry = this.#fresh(digestOf(token));
    if (entry === undefined || scheme === "dpop" || entry.identity.keyThumbprint !== undefined) return undefined;
    return entry.identity.scope !== undefined && covers(entry.coverage, resource.name) ? entry.grant : undefined;
  }

  /**
   * The grant of a token; undefined if no issuer here has issued it. Rejects with InvalidToken; with InsufficientScope, Forbidden
   * or IssuerUnavailable.
   */
  async check(credential: Credential, request: IdentifiedRequest, resource: Resource): Promise<Grant | undefined> {
    const digest = digestOf(credential.token);
    const entry = this.#fresh(digest) ?? (await this.#join(digest, credential));
    if (entry === undefined) return undefined;
    if (!covers(entry.coverage, resource.name)) {
      throw new InvalidToken("The token is for another resource", { isGenuine: true });
    }
    await this.#requireProof(entry, credential, request);
    if (entry.identity.scope === undefined) throw insufficientScope(resource);
    return entry.grant;
  }

  close(): void {
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
    this.#entries.clear();
  }

  #fresh(digest: string): Entry | undefined {
    const entry = this.#entries.get(digest);
    if (entry === undefined || entry.grant.hasEnded) return undefined;
    const now = this.#now();
    if (now >= dueAt(entry)) return undefined;
    entry.usedAt = now;
    return entry;
  }

  /** Requests with the same token share one check. */
  #join(digest: string, credential: Credential): Promise<Entry | undefined> {
    const running = this.#checks.get(digest);
    if (running !== undefined) return running;
    const check = this.#enter(digest, credential).finally(() => this.#checks.delete(digest));
    this.#checks.set(digest, check);
    return check;
  }

  async #enter(digest: string, credential: Credential): Promise<Entry | undefined> {
    const old = this.#entries.get(digest);
    try {
      const access = await this.#ask(digest, credential);
      if (access !== undefined && old !== undefined && !old.grant.hasEnded && isSameAccess(old, access)) {
        return this.#checked(old);
      }
      this.#drop(old);
      return access === undefined ? undefined : await this.#add(digest, access, credential);
    } catch (thrown) {
      if (thrown instanceof InvalidToken) this.#drop(old);
      throw thrown;
    }
  }

  async #ask(digest: string, { token, shape }: Credential): Promise<Access | undefined> {
    if ((this.#refused.get(digest) ?? 0) > this.#now()) return undefined;
    let failure: unknown;
    for (const issuer of this.#issuers.filter((each) => each.isAskedAbout(token, shape))) {
      try {
        const claims = await issuer.check(token, shape);
        if (claims === undefined) continue;
        const { exp, aud } = claims;
        return {
          issuer,
          identity: readIdentity(claims, issuer.settings),
          coverage: coverageOf(aud, issuer.settings, this.#options.addresses),
          expiresAt: typeof exp === "number" ? exp * 1000 : undefined,
        };
      } catch (thrown) {
        // Another issuer may know it.
        if (!(thrown instanceof HubError && thrown.kind === "IssuerUnavailable")) throw thrown;
        failure = thrown;
      }
    }
    if (failure !== undefined) throw failure;
    if (shape === "opaque") this.#refuse(digest);
    return undefined;
  }

  async #add(digest: string, access: Access, credential: Credential): Promise<Entry> {
    const { issuer, identity } = access;
    const { subject, email, emailVerified, name, role, teams, scope, client, groups } = identity;
    const { users } = this.#options;
    const user = await users.signedIn({
      issuer: issuer.settings.issuer,
      subject,
      email,
      emailVerified,
      name,
      ...(teams === undefined ? {} : { teams }),
      ...(role === undefined ? {} : { role }),
    });
    const grant = users.grant(user, {
      kind: "jwt",
      id: `jwt:${digest.slice(0, 16)}`,
      role: roleWithin(scope),
      unscopedRole: user.role,
      groups,
      readOnly: scope === "mcp:read",
      client,
    });
    const afterMs = issuer.recheckMs(credential.shape);
    const entry: Entry = {
      ...access,
      digest,
      grant,
      again: afterMs === undefined ? undefined : { afterMs, credential },
      checkedAt: this.#now(),
      usedAt: this.#now(),
      timer: undefined,
    };
    this.#makeRoom();
    this.#entries.set(digest, entry);
    return this.#checked(entry);
  }

  /** It was checked just now. */
  #checked(entry: Entry): Entry {
    entry.checkedAt = this.#now();
    this.#wait(entry);
    return entry;
  }

  #wait(entry: Entry): void {
    clearTimeout(entry.timer);
    const at = dueAt(entry);
    if (at === Infinity) return;
    const delay = Math.min(Math.max(at - this.#now(), 0), MAX_TIMER_MS);
    entry.timer = setTimeout(() => void this.#due(entry), delay).unref();
  }

  /** Ends what has expired, and checks again what is in use: a stream that stays open sends no token again. */
  async #due(entry: Entry): Promise<void> {
    const now = this.#now();
    if (now < dueAt(entry)) return this.#wait(entry);
    const { again, digest } = entry;
    const hasExpired = again === undefined || now >= (entry.expiresAt ?? Infinity);
    if (hasExpired || now - entry.usedAt >= UNUSED_MS + again.afterMs) return this.#drop(entry, "expired");
    try {
      const access = await this.#ask(digest, again.credential);
      if (access !== undefined && isSameAccess(entry, access)) this.#checked(entry);
      else this.#drop(entry);
    } catch {
      this.#drop(entry);
    }
  }

  #drop(entry: Entry | undefined, why: "expired" | "revoked" = "revoked"): void {
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    if (this.#entries.get(entry.digest) === entry) this.#entries.delete(entry.digest);
    entry.grant.end(why);
  }

  /** Of the oldest entries, the one that was not used for the longest time gives way. */
  #makeRoom(): void {
    if (this.#entries.size < MAX_ENTRIES) return;
    let least: Entry | undefined;
    let looked = 0;
    for (const entry of this.#entries.values()) {
      if (least === undefined || entry.usedAt < least.usedAt) least = entry;
      if (++looked === MAX_LOOKED_AT) break;
    }
    this.#drop(least, "expired");
  }

  #refuse(digest: string): void {
    const now = this.#now();
    for (const [old, until] of this.#refused) {
      if (until > now && this.#refused.size < MAX_ENTRIES) break;
      this.#refused.delete(old);
    }
    this.#refused.set(digest, now + REFUSED_MS);
  }

  async #requireProof({ identity }: Entry, { scheme, token }: Credential, request: IdentifiedRequest): Promise<void> {
    const { keyThumbprint: thumbprint } = identity;
    if ((scheme === "dpop") !== (thumbprint !== undefined)) {
      const fault = thumbprint === undefined ? "is not bound to a key" : "is bound to a key, and needs the scheme DPoP";
      throw new InvalidToken(`The token ${fault}`, { isGenuine: true });
    }
    if (thumbprint === undefined) return;
    await this.#proofs.check({ token, thumbprint, request, base: this.#options.addresses.base });
  }
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64");
}

function dueAt({ expiresAt = Infinity, checkedAt, again }: Entry): number {
  return Math.min(expiresAt, again === undefined ? Infinity : checkedAt + again.afterMs);
}

function isSameAccess(one: Access, other: Access): boolean {
  return isDeepStrictEqual(
    [one.issuer.settings.issuer, one.identity, one.coverage],
    [other.issuer.settings.issuer, other.identity, other.coverage],
  );
}

function insufficientScope({ scope }: Resource): HubError {
  return new HubError("InsufficientScope", `The token was not issued for the scope ${scope}`, {
    hint: "Ask the identity provider for a token with it, or map one of its scopes: auth.issuers[].scopes in hub.json",
  });
}
