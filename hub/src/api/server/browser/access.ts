// Access of browsers that are signed in to the web interface, in place of the management token. Loaded with the first request
// of a browser.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ManagementToken } from "../../../auth/management-token.ts";
import { UiKeys } from "../../../auth/ui-keys.ts";
import { UiSessions, type UiCredentials, type UiSession } from "../../../auth/ui-sessions.ts";
import { HubError } from "../../../errors.ts";
import { cookiesOf } from "./cookie.ts";
import { PAGE_KEY_HEADER, requireOwnPage } from "./own-page.ts";

export interface BrowserAccessOptions {
  /** Wrong halves and keys count as wrong tokens. */
  readonly token: ManagementToken;
  /** The file of the sessions, once the hub listens. Undefined: they last as long as the process. */
  readonly sessionsPath: () => string | undefined;
  /** The wall clock, in milliseconds. */
  readonly now?: (() => number) | undefined;
  readonly onWarning: (message: string) => void;
}

export interface SignIn {
  readonly key: string;
  readonly source: string;
  readonly userAgent: string;
  /** Cookies of this browser from before. */
  readonly cookies: readonly string[];
}

export class BrowserAccess {
  readonly #options: BrowserAccessOptions;
  readonly #keys: UiKeys;
  readonly #admitted = new WeakMap<ServerResponse, UiSession>();
  #sessions: Promise<UiSessions> | undefined;

  constructor(options: BrowserAccessOptions) {
    this.#options = options;
    this.#keys = new UiKeys(options.now === undefined ? {} : { now: options.now });
  }

  /** Throws unless the request comes from a page of the hub that is signed in. */
  async admit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requireOwnPage(request);
    const sessions = await this.sessions();
    const pageKey = request.headers[PAGE_KEY_HEADER];
    const cookies = cookiesOf(request.headers);
    if (typeof pageKey !== "string" || cookies.length === 0) throw signedOut("This browser is not signed in");
    const session = cookies.map((cookie) => sessions.find({ cookie, pageKey })).find((found) => found !== undefined);
    if (session === undefined) throw this.#failed(request, "The session of this browser has ended");
    this.#admitted.set(response, session);
    sessions.follow(session, response);
  }

  /** The session by which a request was admitted; undefined: by the management token. */
  sessionOf(response: ServerResponse): UiSession | undefined {
    return this.#admitted.get(response);
  }

  makeKey(): ReturnType<UiKeys["make"]> {
    return this.#keys.make();
  }

  /** Exchanges a one-time key for a session. The browser's session from before ends: its cookie is replaced. */
  async signIn({
    key,
    source,
    userAgent,
    cookies,
  }: SignIn): Promise<{ session: UiSession; credentials: UiCredentials }> {
    if (!this.#keys.take(key))
      throw this.#options.token.failed(source, signedOut("This link was used before, or is older than ten minutes"));
    const sessions = await this.sessions();
    sessions.endByCookie(cookies);
    const created = sessions.create(userAgent);
    await sessions.saved();
    return created;
  }

  /** Read once. */
  sessions(): Promise<UiSessions> {
    const { token, sessionsPath, now, onWarning } = this.#options;
    return (this.#sessions ??= UiSessions.open({
      path: sessionsPath(),
      owner: token.fingerprint,
      onWarning,
      ...(now === undefined ? {} : { now }),
    }));
  }

  /** Resolves when the sessions are on disk. */
  async saved(): Promise<void> {
    await (await this.#sessions)?.saved();
  }

  #failed({ socket }: IncomingMessage, message: string): HubError {
    return this.#options.token.failed(socket.remoteAddress ?? "", signedOut(message));
  }
}

function signedOut(message: string): HubError {
  return new HubError("Unauthenticated", message, { hint: "Run `plugboard open`, which makes a new link" });
}
