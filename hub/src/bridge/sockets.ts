// HTTP to one origin over connections that are kept: the part of wire/http-connection.ts that the bridge needs, on bare
// sockets. The library behind that one takes 20 MB and most of the time of an exchange, and a bridge does little else.

import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { HubError } from "../errors.ts";
import type { Outgoing, Receiver } from "../wire/http-connection.ts";
import { followRedirect, type Headers } from "../wire/http-failure.ts";
import { KeptSocket, type Carried } from "./kept-socket.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;
/** More than this many wait for the next call in vain. */
const MAX_IDLE = 64;

export class Sockets {
  readonly #origin: URL;
  readonly #all = new Set<KeptSocket>();
  readonly #idle: KeptSocket[] = [];
  #paused = false;

  constructor(origin: URL) {
    this.#origin = origin;
  }

  dispatch(outgoing: Outgoing, receiver: Receiver, redirects = 0): void {
    const socket = this.#take();
    const abort = (error: HubError) => socket.abort(error);
    let redirected: URL | undefined;
    const carried: Carried = {
      onHead: (status: number, headers: Headers) => {
        if (status < 300 || status > 399) return receiver.onResponse(status, headers, abort);
        const to = followRedirect(status, headers, outgoing.url);
        if (to instanceof HubError) abort(to);
        else if (redirects >= MAX_REDIRECTS) abort(tooManyRedirects());
        else redirected = to;
      },
      onBody: (chunk) => {
        if (redirected === undefined) receiver.onData(chunk);
      },
      onEnd: () => {
        if (redirected === undefined) receiver.onEnd();
        else this.dispatch({ ...outgoing, url: redirected }, receiver, redirects + 1);
      },
      onError: (error, options) => receiver.onError(error, options),
    };
    socket.send(outgoing, carried);
    receiver.onStart?.(abort);
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
      ...connectTo(this.#origin),
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

function connectTo({ hostname, port, protocol }: URL): {
  readonly socket: Socket;
  readonly readyEvent: "connect" | "secureConnect";
} {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol !== "https:") return { socket: connectTcp(Number(port) || 80, host), readyEvent: "connect" };
  const name = isName(host) ? { servername: host } : {};
  const socket = connectTls({ host, port: Number(port) || 443, ...name, ALPNProtocols: ["http/1.1"] });
  return { socket, readyEvent: "secureConnect" };
}

/** TLS names hosts, and no addresses. */
function isName(host: string): boolean {
  return !/^[\d.]+$/.test(host) && !host.includes(":");
}

function tooManyRedirects(): HubError {
  const message = `The server redirects more than ${MAX_REDIRECTS} times`;
  return new HubError("ConnectionFailed", message, { delivery: "rejected" });
}
