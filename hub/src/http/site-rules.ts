// Which requests the listener accepts by their Host, Origin and Sec-Fetch-Site, and what pages of other origins are told (CORS).
// A page in the user's browser can reach the hub through its own host name that resolves to it (checked by Host) or by a
// cross-origin request (checked by Origin, or by Sec-Fetch-Site for an embedded address, which has no Origin).

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { isLinkedPage } from "./pages/linked-pages.ts";

export interface Site {
  /** The origin under which clients reach the hub. */
  readonly publicUrl?: string | undefined;
  /** Further hosts, with a port or for every port. */
  readonly allowedHosts?: readonly string[];
  /** Further origins, whose pages may use the hub with credentials of their own. */
  readonly allowedOrigins?: readonly string[];
}

export interface SiteRefusal {
  readonly status: 400 | 403;
  readonly message: string;
}

type Request = Pick<IncomingMessage, "headers" | "url" | "method">;

/** Compared as text, since URL parsers accept `evil@localhost` and `127.1` as loopback too. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const PORT = /:\d{1,5}$/;
const ALLOWED_METHODS = "GET, POST, PUT, PATCH, DELETE";
/** Of MCP clients in a browser. */
const ALLOWED_HEADER = /^(?:authorization|content-type|accept|last-event-id|mcp-[a-z0-9-]{1,64})$/;
const EXPOSED_HEADERS = "WWW-Authenticate, Mcp-Session-Id, Retry-After, X-Request-Id";
const PREFLIGHT_S = 600;
const HSTS_S = 31_536_000;

export class SiteRules {
  /** Header that makes browsers use https only; undefined without an https address. */
  readonly strictTransport: string | undefined;
  readonly #scheme: "http" | "https";
  readonly #publicScheme: string;
  readonly #publicOrigin: string | undefined;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /** `scheme`: of the listener itself. */
  constructor(scheme: "http" | "https", { publicUrl, allowedHosts = [], allowedOrigins = [] }: Site = {}) {
    const at = publicUrl === undefined ? undefined : new URL(publicUrl);
    this.#scheme = scheme;
    this.#publicScheme = at?.protocol === "https:" ? "https" : scheme;
    this.#publicOrigin = at?.origin;
    this.#hosts = new Set([...(at === undefined ? [] : [at.hostname]), ...allowedHosts].map(lower));
    this.#origins = new Set(allowedOrigins.map(lower));
    this.strictTransport = at?.protocol === "https:" ? `max-age=${HSTS_S}` : undefined;
  }

  /** Why a request is refused. */
  problem({ headers, url, method }: Request): SiteRefusal | undefined {
    const { host, origin } = headers;
    if (host === undefined || host === "") return { status: 400, message: "One Host header is needed" };
    const isLocal = LOOPBACK.test(host);
    if (!isLocal && !this.#isAllowedHost(lower(host))) return { status: 403, message: "This Host is not allowed" };
    if (isPublicDocument(url)) return undefined;
    if (origin !== undefined) {
      if (this.#origins.has(lower(origin))) return undefined;
      if (!this.#isOwn(lower(origin), lower(host), isLocal))
        return { status: 403, message: "This Origin is not allowed" };
    }
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none" && !isLink(headers, url, method)) {
      return { status: 403, message: "Pages of other sites may not use the hub" };
    }
    return undefined;
  }

  /** Whether the answer is for a page of a listed origin, so that it needs the headers of `answerOrigin`. */
  isListedOrigin({ headers: { origin } }: Pick<IncomingMessage, "headers">): boolean {
    return origin !== undefined && this.#origins.size > 0 && this.#origins.has(lower(origin));
  }

  /** For an accepted request: sets the headers of its origin. Returns whether it was a preflight, which is answered. */
  answerOrigin(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.strictTransport !== undefined) response.setHeader("strict-transport-security", this.strictTransport);
    if (this.#origins.size > 0) response.setHeader("vary", "Origin");
    if (!this.isListedOrigin(request)) return false;
    const { method, headers } = request;
    response.setHeader("access-control-allow-origin", headers.origin ?? "");
    response.setHeader("access-control-expose-headers", EXPOSED_HEADERS);
    if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
    const asked = (headers["access-control-request-headers"] ?? "").toLowerCase().split(",");
    const allowed = asked.map((name) => name.trim()).filter((name) => ALLOWED_HEADER.test(name));
    response
      .writeHead(204, {
        "access-control-allow-methods": ALLOWED_METHODS,
        "access-control-allow-headers": allowed.join(", "),
        "access-control-max-age": String(PREFLIGHT_S),
      })
      .end();
    return true;
  }

  #isAllowedHost(host: string): boolean {
    return this.#hosts.has(host) || this.#hosts.has(host.replace(PORT, ""));
  }

  /** A proxy in front of the hub may have taken off the TLS of another name than loopback. */
  #isOwn(origin: string, host: string, isLocal: boolean): boolean {
    if (origin === this.#publicOrigin || origin === `${this.#scheme}://${host}`) return true;
    return !isLocal && origin === `${this.#publicScheme}://${host}`;
  }
}

/** What every page may read: it says nothing about anyone, and has no effect. */
function isPublicDocument(url = ""): boolean {
  return url.startsWith("/.well-known/oauth-protected-resource/");
}

/**
 * A link to one of the hub's pages, as the whole page of a tab. The home page has no effect and shows nothing private;
 * authorization servers send the browser back to the callback, which has no effect without its secret state.
 */
function isLink(headers: IncomingHttpHeaders, url: string | undefined, method: string | undefined): boolean {
  if (headers["sec-fetch-mode"] !== "navigate" || headers["sec-fetch-dest"] !== "document") return false;
  return url === "/" || (method === "GET" && isLinkedPage(url?.split("?", 1)[0] ?? ""));
}

function lower(text: string): string {
  return text.toLowerCase();
}
