// HTTP to one server, for the transports on top of it: redirects within the origin are followed, what breaks is told in the
// hub's words. What bodies mean is theirs.

import type { LookupFunction } from "node:net";
import { buildConnector, Pool, type Dispatcher } from "undici";
import { HubError, toHubError } from "../errors.ts";
import { broken, followRedirect, isUnreachable, MAX_REDIRECTS, tooManyRedirects } from "./http-failure.ts";
import { proxyAuthorization } from "./proxy.ts";
import type { Route } from "./route.ts";
import { openTunnel, refusedByProxy, unreachableProxy } from "./tunnel.ts";

export interface Outgoing {
  readonly method: "POST" | "GET" | "DELETE";
  /** With its query. */
  readonly path: string;
  /** A name, its value, the next name: as the library takes them soonest. */
  readonly headers: string[];
  readonly body?: Buffer | undefined;
}

const MAX_IDLE_MS = 90_000;

/** Ends the exchange from our side; the error is what its receiver is told. */
export type Abort = (error: HubError) => void;

export interface Receiver {
  /** It goes out; again where a redirect is followed. */
  onStart?(abort: Abort): void;
  onResponse(status: number, headers: ResponseHeaders, abort: Abort): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** In place of onEnd. */
  onError(error: HubError, options: { readonly unreachable: boolean }): void;
}

export interface ConnectionOptions {
  readonly connectTimeoutMs: number;
  /** Who knows where a host is; the system unless told. Asked for every new connection. */
  readonly lookup?: LookupFunction;
  readonly route?: Route;
  /** For how long nothing more is to be read; asked after each piece of a body. */
  readonly pauseMs?: () => number | undefined;
  /** After so long an unused connection is closed, whatever the server says; 90 s unless told. */
  readonly maxIdleMs?: number;
}

export class HttpConnection {
  readonly #origin: string;
  readonly #pool: Pool;
  readonly pauseMs: ConnectionOptions["pauseMs"];

  /** Where requests are handed to a proxy as they are, not through a tunnel. */
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
      connect: isSecure && proxy !== undefined ? throughTunnel(proxy, settings) : settings,
      // Deadlines are the request table's, which knows of progress; a stream may stay silent for hours.
      headersTimeout: 0,
      // Idle connections are closed after what the server says, and after this at the latest: S4's limit of a pool.
      keepAliveMaxTimeout: maxIdleMs,
      bodyTimeout: 0,
    });
  }

  dispatch(outgoing: Outgoing, receiver: Receiver, redirects = 0): void {
    const { method, body = null } = outgoing;
    const { path, headers } = this.forward === undefined ? outgoing : forwarded(outgoing, this.#origin, this.forward);
    this.#pool.dispatch({ method, path, headers, body }, new Exchange(this, outgoing, receiver, redirects));
  }

  /** The address of a path here. */
  at(path: string): URL {
    return new URL(this.#origin + path);
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** As a proxy takes a request that it passes on: with the whole address. */
function forwarded({ path, headers }: Outgoing, origin: string, proxy: URL): Pick<Outgoing, "path" | "headers"> {
  const authorization = proxyAuthorization(proxy);
  const own = authorization === undefined ? [] : ["proxy-authorization", authorization];
  return { path: origin + path, headers: ["host", new URL(origin).host, ...own, ...headers] };
}

function throughTunnel(
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
 * One exchange, as undici reports it. An object in place of functions made for each, and in the form that undici 7 itself
 * works with: its newer one is put around this one, and makes an object of all headers every time. It calls this one
 * deprecated: once the newer one is what it works with, this class is all that changes.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #connection: HttpConnection;
  readonly #outgoing: Outgoing;
  readonly #receiver: Receiver;
  readonly #redirects: number;
  #abort: Abort | undefined;
  #resume: (() => void) | undefined;
  #status = 0;
  /** The path that it is sent to once more, when this answer is over. */
  #redirected: string | undefined;

  constructor(connection: HttpConnection, outgoing: Outgoing, receiver: Receiver, redirects: number) {
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
    if (status < 200 || abort === undefined) return true; // the answer is still to come
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
      unreachable && forward !== undefined ? unreachableProxy(error, forward) : broken(error, this.#status);
    this.#receiver.onError(failure, { unreachable });
  }

  #redirect(status: number, location: string | undefined, abort: Abort): void {
    const to = followRedirect(status, location, this.#connection.at(this.#outgoing.path));
    if (to instanceof HubError) abort(to);
    else if (this.#redirects >= MAX_REDIRECTS) abort(tooManyRedirects());
    else this.#redirected = pathOf(to);
  }
}

/** Names and values as they came; what nobody asks for is not read. */
export class ResponseHeaders {
  readonly #raw: readonly Buffer[];

  constructor(raw: readonly Buffer[]) {
    this.#raw = raw;
  }

  /** By its name in small letters. Of several, the first. */
  get(name: string): string | undefined {
    const index = this.#raw.findIndex((bytes, at) => at % 2 === 0 && isNamed(bytes, name));
    return index < 0 ? undefined : this.#raw[index + 1]?.toString();
  }
}

function isNamed(bytes: Buffer, name: string): boolean {
  return bytes.length === name.length && bytes.toString("latin1").toLowerCase() === name;
}

/** What a request to it names: asked for once, since an URL writes it anew each time. */
export function pathOf(url: URL): string {
  return url.pathname + url.search;
}

/** Headers in the form that they are sent in. */
export function headerPairs(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}
