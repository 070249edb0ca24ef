// Access of browsers that are signed in to the web interface, in place of the management token. Loaded with the first request
// of a browser.

import type { IncomingMessage, ServerResponse } from "node:http";
import { ownerGrant, type Grant } from "../../../auth/grant.ts";
import type { ManagementToken } from "../../../auth/management-token.ts";
import type { SsoSignIns } from "../../../auth/sso/sign-ins.ts";
import { UiKeys } from "../../../auth/ui-keys.ts";
import { UiSessions, type SessionPerson, type UiCredentials, type UiSession } from "../../../auth/ui-sessions.ts";
import type { Users } from "../../../auth/users.ts";
import { HubError } from "../../../errors.ts";
import { cookiesOf, SIGN_IN } from "./cookie.ts";
import { PAGE_KEY_HEADER, requireOwnPage } from "./own-page.ts";
import { addressOf } from "../../../http/client-address.ts";

export interface BrowserAccessOptions {
  /** Wrong halves and keys count as wrong tokens. */
  readonly token: ManagementToken;
  readonly users: Pick<Users, "find" | "grant">;
  /** Sign-in by identity providers; undefined: there are none. */
  readonly sso: SsoSignIns | undefined;
  /** The origin under which people reach the hub, if it is not just this machine: the one that identity providers know. */
  readonly publicUrl?: string | undefined;
  /** Whether a request comes by an address where everyone has the role user, and no one is the owner. Default: none does. */
  readonly isLimited?: (request: IncomingMessage) => boolean;
  /** The file of the sessions, once the hub listens. Undefined: they last as long as the process. */
  readonly sessionsPath: () => string | undefined;
  /** The wall clock, in milliseconds. */
  readonly now?: (() => number) | undefined;
  readonly onWarning: (message: string) => void;
}

export interface SignIn {
  readonly key: string;
  readonly request: IncomingMessage;
}

export interface NewSession {
  readonly session: UiSession;
  readonly credentials: UiCredentials;
  /** A path of the hub, where the browser wanted to go. */
  readonly returnTo: string | undefined;
}

/** What a browser may do at most. */
const UI = { kind: "session", groups: "*", readOnly: false, client: "ui", clientName: "ui" } as const;

export class BrowserAccess {
  readonly #options: BrowserAccessOptions;
  readonly #keys: UiKeys;
  readonly #admitted = new WeakMap<ServerResponse, UiSession>();
  readonly #limited = new WeakMap<Grant, Grant>();
  #sessions: Promise<UiSessions> | undefined;

  constructor(options: BrowserAccessOptions) {
    this.#options = options;
    this.#keys = new UiKeys(options.now === undefined ? {} : { now: options.now });
  }

  get sso(): SsoSignIns | undefined {
    return this.#options.sso;
  }

  get publicUrl(): string | undefined {
    return this.#options.publicUrl;
  }

  /** Throws unless the request comes from a page of the hub that is signed in. */
  async admit(request: IncomingMessage, response: ServerResponse): Promise<Grant> {
    requireOwnPage(request);
    const sessions = await this.sessions();
    const pageKey = request.headers[PAGE_KEY_HEADER];
    const cookies = cookiesOf(request.headers);
    if (typeof pageKey !== "string" || cookies.length === 0) throw signedOut("This browser is not signed in");
    const found = cookies.map((cookie) => sessions.find({ cookie, pageKey })).find((each) => each !== undefined);
    const session = found && this.#limit(found, request);
    if (session === undefined) throw this.#failed(request, "The session of this browser has ended");
    this.#admitted.set(response, session);
    sessions.follow(session, response);
    return session.grant;
  }

  /** The session by which a request was admitted; undefined: by a token. */
  sessionOf(response: ServerResponse): UiSession | undefined {
    return this.#admitted.get(response);
  }

  makeKey(): ReturnType<UiKeys["make"]> {
    return this.#keys.make();
  }

  /** Exchanges a one-time key for a session. The browser's session from before ends: its cookie is replaced. */
  async signIn({ key, request }: SignIn): Promise<NewSession> {
    const sessions = await this.sessions();
    const userAgent = request.headers["user-agent"] ?? "";
    const person = this.#options.sso?.take(key, cookiesOf(request.headers, SIGN_IN));
    if (person === undefined && (this.#isLimited(request) || !this.#keys.take(key)))
      throw this.#failed(request, "This link was used before, or is older than ten minutes");
    sessions.endByCookie(cookiesOf(request.headers));
    const created = person === undefined ? sessions.create(userAgent) : sessions.create(userAgent, toSession(person));
    await sessions.saved();
    const session = this.#limit(created.session, request) ?? created.session;
    return { ...created, session, returnTo: person?.returnTo };
  }

  /** Read once. */
  sessions(): Promise<UiSessions> {
    const { token, sessionsPath, now, onWarning } = this.#options;
    return (this.#sessions ??= UiSessions.open({
      path: sessionsPath(),
      owner: token.fingerprint,
      grantOf: (id, person) => this.#grantOf(id, person),
      onWarning,
      ...(now === undefined ? {} : { now }),
    }));
  }

  /** Resolves when the sessions are on disk. */
  async saved(): Promise<void> {
    await (await this.#sessions)?.saved();
  }

  /** As it counts at the address of the request; undefined: not at all. */
  #limit(session: UiSession, request: IncomingMessage): UiSession | undefined {
    if (!this.#isLimited(request)) return session;
    if (session.person === undefined) return undefined;
    const grant = this.#limited.get(session.grant) ?? session.grant.limitedTo("user");
    this.#limited.set(session.grant, grant);
    return { ...session, grant };
  }

  #isLimited(request: IncomingMessage): boolean {
    return this.#options.isLimited?.(request) === true;
  }

  #grantOf(id: string, person: SessionPerson | undefined): Grant | undefined {
    if (person === undefined) return ownerGrant({ ...UI, id });
    const user = this.#options.users.find(person.user);
    // With another role, a session has to begin anew.
    if (user === undefined || user.disabled || user.role !== person.role) return undefined;
    return this.#options.users.grant(user, { ...UI, id });
  }

  #failed(request: IncomingMessage, message: string): HubError {
    return this.#options.token.failed(addressOf(request), signedOut(message));
  }
}

function toSession({ user, provider, sessionId, idToken }: NonNullable<ReturnType<SsoSignIns["take"]>>) {
  const { id, role, issuer, subject } = user;
  return { person: { user: id, role, provider, issuer, subject, providerSession: sessionId }, idToken };
}

function signedOut(message: string): HubError {
  return new HubError("Unauthenticated", message, { hint: "Run `plugboard open`, which makes a new link" });
}
