// HTTP to one address over connections that are kept: what wire/http-connection.ts is to the hub, on bare sockets. With the
// library behind that one a bridge took 10 MB more when idle, 20 MB more under load, and a fifth more time for a call.

import { connect as connectTcp, type Socket } from "node:net";
import { HubError, toHubError } from "../errors.ts";
import { followRedirect, MAX_REDIRECTS, tooManyRedirects } from "../wire/http-failure.ts";
import { proxyAuthorization } from "../wire/proxy.ts";
import { openTunnel, refusedByProxy } from "../wire/tunnel.ts";
import { KeptSocket, type KeptSocketOptions, type Receiver } from "./kept-socket.ts";
import type { Headers } from "./response-reader.ts";

export interface Request {
  readonly method: "POST" | "GET" | "DELETE";
  /** Header lines, see toFields. */
  readonly fields: string;
  readonly body?: Buffer | undefined;
}

/** A request on its way. */
export interface Sent {
  /** The error is what its receiver is told. */
  abort(error: HubError): void;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** More than this many wait for the next call in vain. */
const MAX_IDLE = 64;

export class Sockets {
  readonly #url: URL;
  /** Over TLS a proxy is asked for a tunnel; without, it is handed the requests as they are. */
  readonly #tunnelProxy: URL | undefined;
  readonly #forwardProxy: URL | undefined;
  readonly #all = new Set<KeptSocket>();
  readonly #idle: KeptSocket[] = [];
  #paused = false;
  #closed = false;

  constructor(url: URL, proxy?: URL) {
    this.#url = url;
    const isSecure = url.protocol === "https:";
    this.#tunnelProxy = isSecure ? proxy : undefined;
    this.#forwardProxy = isSecure ? undefined : proxy;
  }

  dispatch(request: Request, receiver: Receiver): Sent {
    const take: Take = (ready, failed) => this.#take(ready, failed);
    return new Dispatch({ request, receiver, url: this.#url, forwardProxy: this.#forwardProxy, take });
  }

  /** Nothing is read until resume: whoever takes the answers cannot keep up. */
  pause(): void {
    this.#paused = true;
    for (const socket of this.#all) socket.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const socket of this.#all) socket.resume();
  }

  /** Ends all connections, and tells nobody. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#all) socket.destroy();
  }

  #take(...[ready, failed]: Parameters<Take>): void {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop()) {
      if (socket.isUsable) return ready(socket);
      socket.destroy();
    }
    if (this.#tunnelProxy === undefined) return ready(this.#keep(connectTo(this.#forwardProxy ?? this.#url)));
    const { hostname: host, port } = this.#url;
    openTunnel({ proxy: this.#tunnelProxy, host, port: Number(port) || 443, timeoutMs: CONNECT_TIMEOUT_MS }).then(
      (tunnel) => {
        if (this.#closed) tunnel.destroy();
        else ready(this.#keep(secure(this.#url, tunnel)));
      },
      (thrown: unknown) => {
        if (!this.#closed) failed(toHubError(thrown));
      },
    );
  }

  #keep(connection: Connection): KeptSocket {
    const kept = new KeptSocket({
      ...connection,
      proxy: this.#forwardProxy,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      onFree: (free) => {
        if (this.#idle.length < MAX_IDLE) this.#idle.push(free);
        else free.destroy();
      },
      onClose: (closed) => {
        this.#all.delete(closed);
        const at = this.#idle.indexOf(closed);
        if (at >= 0) this.#idle.splice(at, 1);
      },
    });
    this.#all.add(kept);
    if (this.#paused) kept.pause();
    return kept;
  }
}

/** Asks for a connection, which may have to be made first. Tells neither if all are closed meanwhile. */
type Take = (ready: (socket: KeptSocket) => void, failed: (error: HubError) => void) => void;

interface DispatchOptions {
  readonly request: Request;
  readonly receiver: Receiver;
  readonly url: URL;
  readonly forwardProxy: URL | undefined;
  readonly take: Take;
}

/** One request, over as many connections as redirects within the origin need. */
class Dispatch implements Receiver, Sent {
  readonly #options: DispatchOptions;
  #socket: KeptSocket | "opening" | "failed" = "opening";
  #redirects = 0;
  #redirected: URL | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#send(options.url);
  }

  abort(error: HubError): void {
    if (this.#socket instanceof KeptSocket) return this.#socket.abort(this, error);
    this.#fail(error);
  }

  onHead(status: number, headers: Headers): void {
    const { forwardProxy } = this.#options;
    if (status === 407 && forwardProxy !== undefined) return this.abort(refusedByProxy(status, forwardProxy));
    if (status < 300 || status > 399) return this.#options.receiver.onHead(status, headers);
    const to = followRedirect(status, headers["location"], this.#redirected ?? this.#options.url);
    if (to instanceof HubError) this.abort(to);
    else if (this.#redirects++ >= MAX_REDIRECTS) this.abort(tooManyRedirects());
    else this.#redirected = to;
  }

  onBody(chunk: Buffer): void {
    if (this.#redirected === undefined) this.#options.receiver.onBody(chunk);
  }

  onEnd(): void {
    const to = this.#redirected;
    this.#redirected = undefined;
    if (to === undefined) this.#options.receiver.onEnd();
    else this.#send(to);
  }

  onError(error: HubError): void {
    this.#options.receiver.onError(error);
  }

  #send(to: URL): void {
    this.#socket = "opening";
    this.#options.take(
      (socket) => {
        // Aborted meanwhile.
        if (this.#socket === "failed") return socket.destroy();
        this.#socket = socket;
        socket.send(this.#headFor(to), this.#options.request.body, this);
      },
      (error) => this.#fail(error),
    );
  }

  /** Before there was a connection to tell of it. */
  #fail(error: HubError): void {
    if (this.#socket !== "opening") return;
    this.#socket = "failed";
    // Not at once, as with a connection: whoever aborts is not called back meanwhile.
    queueMicrotask(() => this.#options.receiver.onError(error));
  }

  #headFor({ origin, pathname, search, host }: URL): string {
    const { request, forwardProxy } = this.#options;
    const { method, fields } = request;
    if (forwardProxy === undefined) return `${method} ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${fields}`;
    const authorization = proxyAuthorization(forwardProxy);
    const own = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
    return `${method} ${origin}${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${own}${fields}`;
  }
}

type Connection = Pick<KeptSocketOptions, "socket" | "readyEvent">;

function connectTo(url: URL): Connection {
  if (url.protocol === "https:") return secure(url);
  return { socket: connectTcp(Number(url.port) || 80, bareHost(url)), readyEvent: "connect" };
}

/** TLS over a connection of its own, or over the tunnel. */
function secure(url: URL, tunnel?: Socket): Connection {
  const host = bareHost(url);
  const name = isName(host) ? { servername: host } : {};
  // What goes wrong with it is told by what is spoken over it.
  tunnel?.on("error", () => undefined);
  // Loaded when it is needed: most hubs are on this machine, and every start would wait for it.
  const tls = process.getBuiltinModule("node:tls");
  const socket = tls.connect({
    host,
    port: Number(url.port) || 443,
    ...name,
    ...(tunnel === undefined ? {} : { socket: tunnel }),
    ALPNProtocols: ["http/1.1"],
  });
  return { socket, readyEvent: "secureConnect" };
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** TLS names hosts, and no addresses. */
function isName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && !host.includes(":");
}
