// The pages of a login at a server: `/connect/{server}` offers it, `/oauth/callback` is where the browser comes back to, and
// `/oauth/done/{login}` shows the result. A login begins with a POST of our own page only. One that began here can be finished only
// by the same browser, which is recognised by a cookie (login-cookie.ts).

import { setTimeout as sleep } from "node:timers/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HubError, toHubError } from "../../errors.ts";
import { identify } from "../request-id.ts";
import {
  OTHER_BROWSER_PAGE,
  offerPage,
  refusalPage,
  resultPage,
  UNKNOWN_PAGE,
  type LoginOffer,
  type LoginResult,
} from "./login-texts.ts";
import { CALLBACK_PATH } from "./linked-pages.ts";
import { bindBrowser, isItsBrowser } from "./login-cookie.ts";
import { sendPage, type PageAnswer } from "./page.ts";

/** The hub's logins, as the pages need them. All methods throw HubErrors. */
export interface PageLogins {
  offer(server: string): Promise<LoginOffer>;
  /** `browser`: the digest of the cookie of the only browser that may finish it. */
  begin(server: string, browser: Buffer): Promise<{ readonly id: string; readonly url: string }>;
  /** The login that waits for a callback with this state, and which browser may finish it. */
  findByState(state: string): { readonly id: string; readonly browser: Buffer | "any" | "none" } | undefined;
  /** Where people log in who have to sign in at the hub before. `link`: whose link it is; undefined: that of the login that all share. */
  elsewhere(server: string, link: string | undefined): string | undefined;
  /** The id of the login that the callback has ended; undefined if none waits for it. */
  callback(url: URL): Promise<string | undefined>;
  result(id: string): LoginResult;
}

const CONNECT = /^\/connect\/([^/]{1,200})\/?$/;
const DONE = /^\/oauth\/done\/([\w-]{1,64})$/;

type UnexpectedHandler = (error: unknown, requestId: string) => void;
type Answer = PageAnswer | { readonly location: string; readonly headers?: Readonly<Record<string, string>> };

export class LoginPages {
  readonly #logins: PageLogins;
  readonly #onUnexpected: UnexpectedHandler;
  /** Logins whose browser was sent to the result and has not loaded it yet. */
  readonly #unshown = new Set<string>();
  #onShown: () => void = () => undefined;

  constructor(logins: PageLogins, onUnexpected: UnexpectedHandler) {
    this.#logins = logins;
    this.#onUnexpected = onUnexpected;
  }

  /** Resolves when every browser that came back has been shown the result, or after `timeoutMs`. */
  async resultsShown(timeoutMs: number): Promise<void> {
    if (this.#unshown.size === 0) return;
    const shown = new Promise<void>((resolve) => (this.#onShown = resolve));
    await Promise.race([shown, sleep(timeoutMs, undefined, { ref: false })]);
  }

  /** All pages, for the hub's own listener. */
  edge(request: IncomingMessage, response: ServerResponse): boolean {
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    if (path === CALLBACK_PATH) return this.#answer(request, response, () => this.#callback(request, query, ""));
    const [, server] = CONNECT.exec(path) ?? [];
    if (server !== undefined) {
      const link = new URLSearchParams(query).get("for") ?? undefined;
      return this.#answer(request, response, () => this.#connect(request, decode(server), link));
    }
    const [, login] = DONE.exec(path) ?? [];
    if (login !== undefined) return this.#answer(request, response, () => this.#done(request, login));
    return false;
  }

  /** The callback alone, for a further address of the hub. `base`: where the other pages are. */
  callbackEdge(base: string): (request: IncomingMessage, response: ServerResponse) => boolean {
    return (request, response) => {
      const [path, query = ""] = (request.url ?? "").split("?", 2);
      return path === CALLBACK_PATH && this.#answer(request, response, () => this.#callback(request, query, base));
    };
  }

  #answer(request: IncomingMessage, response: ServerResponse, run: () => Promise<Answer> | Answer): true {
    const requestId = identify(request, response);
    Promise.resolve()
      .then(run)
      .catch((thrown: unknown): Answer => {
        const error = toHubError(thrown);
        if (error.kind === "Unexpected") this.#onUnexpected(thrown, requestId);
        const page = error.kind === "LoginNotFound" ? UNKNOWN_PAGE : refusalPage(error);
        return { status: error.meaning.http, page };
      })
      .then((answer) => {
        if ("page" in answer) return sendPage(response, answer);
        const { location, headers } = answer;
        response.writeHead(303, { ...REDIRECT_HEADERS, ...headers, location }).end();
      })
      .catch((error: unknown) => {
        this.#onUnexpected(error, requestId);
        response.destroy();
      });
    return true;
  }

  /** Changes nothing without a state that a login waits for. Not for HEAD: a program that looks must not use the state up. */
  async #callback({ method, headers }: IncomingMessage, query: string, base: string): Promise<Answer> {
    if (method !== "GET") return notAllowed("GET");
    const url = new URL(`http://localhost${CALLBACK_PATH}?${query}`);
    const waiting = this.#logins.findByState(url.searchParams.get("state") ?? "");
    if (waiting !== undefined && !isItsBrowser(waiting, headers.cookie)) {
      return { status: 403, page: OTHER_BROWSER_PAGE };
    }
    const login = await this.#logins.callback(url);
    if (login === undefined) return { status: 400, page: UNKNOWN_PAGE };
    this.#unshown.add(login);
    // The code leaves the address bar and the history.
    return { location: `${base}/oauth/done/${login}` };
  }

  async #connect(request: IncomingMessage, server: string, link: string | undefined): Promise<Answer> {
    const { method, headers } = request;
    const location = this.#logins.elsewhere(server, link);
    if (location !== undefined) return method === "POST" ? notAllowed("GET, HEAD") : { location };
    if (method === "POST") return this.#begin(server, headers.origin);
    if (method !== "GET" && method !== "HEAD") return notAllowed("GET, HEAD, POST");
    const offer = await this.#logins.offer(server);
    const elsewhere = withHostOf(offer.redirectUri, headers.host ?? "");
    // The cookie has to come back with the callback, and cookies belong to a host.
    if (elsewhere !== undefined) return { location: `${elsewhere}/connect/${encodeURIComponent(server)}` };
    // With `no-referrer`, a browser would send the form with the Origin `null`.
    const policy = { "referrer-policy": "same-origin" };
    return { status: 200, page: offerPage(offer), headers: policy, isHead: method === "HEAD" };
  }

  /** The listener has compared the Origin with the Host. Browsers send one with every POST. */
  async #begin(server: string, origin: string | undefined): Promise<Answer> {
    if (origin === undefined) throw new HubError("Forbidden", "A login can be begun only on this page");
    const { digest, cookieFor } = bindBrowser();
    const { id, url } = await this.#logins.begin(server, digest);
    return { location: url, headers: { "set-cookie": cookieFor(id) } };
  }

  #done({ method }: IncomingMessage, login: string): Answer {
    if (method !== "GET" && method !== "HEAD") return notAllowed("GET, HEAD");
    const result = this.#logins.result(login);
    this.#unshown.delete(login);
    if (this.#unshown.size === 0) this.#onShown();
    return { status: 200, page: resultPage(result), isHead: method === "HEAD" };
  }
}

const REDIRECT_HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

function notAllowed(allow: string): Answer {
  const error = new HubError("InvalidArgument", `This address takes only ${allow}`);
  return { status: 405, page: refusalPage(error), headers: { allow } };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // no server has this name
  }
}

/** The address of the hub under the host of the redirect URI; undefined if `host` is that host. The port stays: it may be a tunnel's. */
function withHostOf(redirectUri: string, host: string): string | undefined {
  const { hostname } = new URL(redirectUri);
  const own = new URL(`http://${host}`);
  if (own.hostname === hostname) return undefined;
  own.hostname = hostname;
  return own.origin;
}
