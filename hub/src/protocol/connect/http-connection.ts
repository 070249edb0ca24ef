// HTTP to one server, for the transports on top of it. Follows redirects within the origin and translates errors. Bodies are left
// to the transports.

import type { LookupFunction } from "node:net";
import { buildConnector, Pool, type Dispatcher } from "undici";
import { HubError, toHubError } from "../../errors.ts";
import { toConnectionError, followRedirect, isUnreachable, MAX_REDIRECTS, tooManyRedirects } from "./http-failure.ts";
import { proxyAuthorization } from "./proxy.ts";
import type { RemoteRoute } from "./remote-route.ts";
import { openTunnel, refusedByProxy, unreachableProxy } from "./tunnel.ts";

export interface OutgoingHttpRequest {
  readonly method: "POST" | "GET" | "DELETE";
  /** With the query. */
  readonly path: string;
  /** Alternating names and values: the form that undici converts fastest. */
  readonly headers: string[];
  readonly body?: Buffer | undefined;
}

const MAX_IDLE_MS = 90_000;

/** Aborts the request; the receiver gets the error. */
export type Abort = (error: HubError) => void;

export interface ResponseReceiver {
  /** The request is being sent; called again for a redirect. */
  onStart?(abort: Abort): void;
  onResponse(status: number, headers: ResponseHeaders, abort: Abort): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** In place of onEnd. */
  onError(error: HubError, options: { readonly unreachable: boolean }): void;
}

export interface ConnectionOptions {
  readonly connectTimeoutMs: number;
  /** Replaces the system's DNS lookup. Called for every new connection. */
  readonly lookup?: LookupFunction;
  readonly route?: RemoteRoute;
  /** How long to stop reading; called after each chunk of a body. */
  readonly pauseMs?: () => number | undefined;
  /** An idle connection is closed after this long, even if the server allows more. Default: 90 s. */
  readonly maxIdleMs?: number;
}

export class HttpConnection {
  readonly #origin: string;
  readonly #pool: Pool;
  readonly pauseMs: ConnectionOptions["pauseMs"];

  /** The proxy that plain HTTP requests are sent to. HTTPS goes through a tunnel instead. */
  readonly forward: URL | undefined;

  constructor(origin: string, options: ConnectionOptions) {
    const { connectTimeoutMs, lookup, pauseMs, route = {}, maxIdleMs = MAX_IDLE_MS } = options;
    this.#origin = origin;
    this.pauseMs = pauseMs;
    const { proxy, tls } = route;
    const isSecure = origin.startsWith("https:");
    const settings = { timeout: connectTimeoutMs, ...(lookup === undefined ? {} : { lookup }), ...tls };
    this.forward = isSecure ? undefined : proxy;
    this.#pool = new Pool(this.forward === undefined ? origin : this.forward.origin, {
      connect: isSecure && proxy !== undefined ? tunnelConnector(proxy, settings) : settings,
      // Pending requests have their own timeouts, which progress restarts; a stream may be silent for hours.
      headersTimeout: 0,
      // Upper bound of the server's own keep-alive hint.
      keepAliveMaxTimeout: maxIdleMs,
      bodyTimeout: 0,
    });
  }

  dispatch(outgoing: OutgoingHttpRequest, receiver: ResponseReceiver, redirects = 0): void {
    const { method, body = null } = outgoing;
    const { path, headers } =
      this.forward === undefined ? outgoing : toProxyRequest(outgoing, this.#origin, this.forward);
    this.#pool.dispatch({ method, path, headers, body }, new DispatchHandler(this, outgoing, receiver, redirects));
  }

  /** The URL of a path on this server. */
  at(path: string): URL {
    return new URL(this.#origin + path);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** The form of a request to a proxy: with the absolute URL. */
function toProxyRequest(
  { path, headers }: OutgoingHttpRequest,
  origin: string,
  proxy: URL,
): Pick<OutgoingHttpRequest, "path" | "headers"> {
  const authorization = proxyAuthorization(proxy);
  const own = authorization === undefined ? [] : ["proxy-authorization", authorization];
  return { path: origin + path, headers: ["host", new URL(origin).host, ...own, ...headers] };
}

function tunnelConnector(
  proxy: URL,
  settings: buildConnector.BuildOptions & { timeout: number },
): buildConnector.connector {
  const secure = buildConnector(settings);
  const connect = async (...[options, callback]: Parameters<buildConnector.connector>): Promise<void> => {
    const { hostname, port } = options;
    try {
      const tunnel = { proxy, host: hostname, port: Number(port) || 443, timeoutMs: settings.timeout };
      secure({ ...options, httpSocket: await openTunnel(tunnel) }, callback);
    } catch (thrown) {
      callback(toHubError(thrown), null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

/**
 * Receives one response from undici 7. Implements its older handler interface, which undici uses internally: it wraps handlers of
 * the newer interface in this one, and builds an object of all headers for every response. The older one is deprecated; only this
 * class has to change when it is removed.
 */
class DispatchHandler implements Dispatcher.DispatchHandler {
  readonly #connection: HttpConnection;
  readonly #outgoing: OutgoingHttpRequest;
  readonly #receiver: ResponseReceiver;
  readonly #redirects: number;
  #abort: Abort | undefined;
  #resume: (() => void) | undefined;
  #status = 0;
  /** The path of a redirect, followed when this response has ended. */
  #redirected: string | undefined;

  constructor(
    connection: HttpConnection,
    outgoing: OutgoingHttpRequest,
    receiver: ResponseReceiver,
    redirects: number,
  ) {
    this.#connection = connection;
    this.#outgoing = outgoing;
    this.#receiver = receiver;
    this.#redirects = redirects;
  }

  onConnect(abort: Abort): void {
    this.#abort = abort;
    this.#receiver.onStart?.(abort);
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    this.#resume = resume;
    const abort = this.#abort;
    if (status < 200 || abort === undefined) return true; // an informational response
    this.#status = status;
    const { forward } = this.#connection;
    if (status === 407 && forward !== undefined) {
      abort(refusedByProxy(status, forward));
      return true;
    }
    const headers = new ResponseHeaders(raw);
    if (status < 300 || status > 399) this.#receiver.onResponse(status, headers, abort);
    else this.#redirect(status, headers.get("location"), abort);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#redirected === undefined) this.#receiver.onData(chunk);
    const waitMs = this.#connection.pauseMs?.() ?? 0;
    if (waitMs === 0) return true;
    setTimeout(() => this.#resume?.(), waitMs);
    return false;
  }

  onComplete(): void {
    if (this.#redirected === undefined) return this.#receiver.onEnd();
    this.#connection.dispatch({ ...this.#outgoing, path: this.#redirected }, this.#receiver, this.#redirects + 1);
  }

  onError(error: Error): void {
    const { forward } = this.#connection;
    const unreachable = isUnreachable(error);
    const failure =
      unreachable && forward !== undefined ? unreachableProxy(error, forward) : toConnectionError(error, this.#status);
    this.#receiver.onError(failure, { unreachable });
  }

  #redirect(status: number, location: string | undefined, abort: Abort): void {
    const to = followRedirect(status, location, this.#connection.at(this.#outgoing.path));
    if (to instanceof HubError) abort(to);
    else if (this.#redirects >= MAX_REDIRECTS) abort(tooManyRedirects());
    else this.#redirected = pathOf(to);
  }
}

/** Raw headers, decoded only when they are read. */
export class ResponseHeaders {
  readonly #raw: readonly Buffer[];

  constructor(raw: readonly Buffer[]) {
    this.#raw = raw;
  }

  /** The first value of a header, by its lower-case name. */
  get(name: string): string | undefined {
    const index = this.#raw.findIndex((bytes, at) => at % 2 === 0 && isNamed(bytes, name));
    return index < 0 ? undefined : this.#raw[index + 1]?.toString();
  }

  /** All values of a header, as one list. */
  all(name: string): string | undefined {
    const values = this.#raw.filter((_, at) => at % 2 === 1 && isNamed(this.#raw[at - 1] ?? NO_NAME, name));
    return values.length === 0 ? undefined : values.map(String).join(", ");
  }
}

const NO_NAME = Buffer.alloc(0);

function isNamed(bytes: Buffer, name: string): boolean {
  return bytes.length === name.length && bytes.toString("latin1").toLowerCase() === name;
}

/** The request target of a URL. Callers cache it: the URL class builds these strings on every access. */
export function pathOf(url: URL): string {
  return url.pathname + url.search;
}

/** Headers in undici's format. */
export function headerPairs(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}
