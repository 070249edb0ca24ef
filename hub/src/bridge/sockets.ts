// HTTP to one address over connections that are kept: what wire/http-connection.ts is to the hub, on bare sockets. With the
// library behind that one a bridge took 10 MB more when idle, 20 MB more under load, and a fifth more time for a call.

import { connect as connectTcp, type Socket } from "node:net";
import { HubError } from "../errors.ts";
import { followRedirect, MAX_REDIRECTS, tooManyRedirects } from "../wire/http-failure.ts";
import { KeptSocket, type Receiver } from "./kept-socket.ts";
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
  readonly #all = new Set<KeptSocket>();
  readonly #idle: KeptSocket[] = [];
  #paused = false;

  constructor(url: URL) {
    this.#url = url;
  }

  dispatch(request: Request, receiver: Receiver): Sent {
    return new Dispatch({ request, receiver, url: this.#url, take: () => this.#take() });
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
    for (const socket of this.#all) socket.destroy();
  }

  #take(): KeptSocket {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop()) {
      if (socket.isUsable) return socket;
      socket.destroy();
    }
    return this.#open();
  }

  #open(): KeptSocket {
    const kept = new KeptSocket({
      ...connectTo(this.#url),
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

interface DispatchOptions {
  readonly request: Request;
  readonly receiver: Receiver;
  readonly url: URL;
  readonly take: () => KeptSocket;
}

/** One request, over as many connections as redirects within the origin need. */
class Dispatch implements Receiver, Sent {
  readonly #options: DispatchOptions;
  #socket: KeptSocket;
  #redirects = 0;
  #redirected: URL | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#socket = this.#send(options.url);
  }

  abort(error: HubError): void {
    this.#socket.abort(this, error);
  }

  onHead(status: number, headers: Headers): void {
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
    else this.#socket = this.#send(to);
  }

  onError(error: HubError): void {
    this.#options.receiver.onError(error);
  }

  #send({ pathname, search, host }: URL): KeptSocket {
    const { request, take } = this.#options;
    const socket = take();
    const head = `${request.method} ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${request.fields}`;
    socket.send(head, request.body, this);
    return socket;
  }
}

function connectTo({ hostname, port, protocol }: URL): {
  readonly socket: Socket;
  readonly readyEvent: "connect" | "secureConnect";
} {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol !== "https:") return { socket: connectTcp(Number(port) || 80, host), readyEvent: "connect" };
  const name = isName(host) ? { servername: host } : {};
  // Loaded when it is needed: most hubs are on this machine, and every start would wait for it.
  const tls = process.getBuiltinModule("node:tls");
  const socket = tls.connect({ host, port: Number(port) || 443, ...name, ALPNProtocols: ["http/1.1"] });
  return { socket, readyEvent: "secureConnect" };
}

/** TLS names hosts, and no addresses. */
function isName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && !host.includes(":");
}
