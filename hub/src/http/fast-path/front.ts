// Puts the fast path in front of a Node server: it gets every new connection first, and hands over those that it cannot serve.

import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { HeadCache } from "./request-head.ts";
import { FastConnection, type FastConnectionOptions, type FastPathTimeouts } from "./fast-connection.ts";

export interface FrontOptions {
  readonly timeoutsMs: FastPathTimeouts;
  /** Lines for every response, each with its end. */
  readonly headers: string;
}

export class FastPathFront {
  readonly #connections = new Set<FastConnection>();

  constructor(
    server: Server | TlsServer,
    onRequest: FastConnectionOptions["onRequest"],
    { timeoutsMs, headers }: FrontOptions,
  ) {
    const common = new CommonHeaders(timeoutsMs.idle, headers);
    const heads = new HeadCache();
    // Node's documentation allows to emit "connection" with any socket; its own listeners are what that event would call.
    const event = "setSecureContext" in server ? "secureConnection" : "connection";
    const nodeListeners = server.listeners(event);
    server.removeAllListeners(event);
    server.on(event, (socket: Socket) => {
      const connection: FastConnection = new FastConnection(socket, {
        onRequest,
        timeoutsMs,
        heads,
        commonHeaders: (isLast) => common.lines(isLast),
        handOver: () => nodeListeners.forEach((listener) => void Reflect.apply(listener, server, [socket])),
        onClose: () => this.#connections.delete(connection),
      });
      this.#connections.add(connection);
    });
  }

  drain(): void {
    for (const connection of this.#connections) connection.drain();
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}

/** The header lines of every response. Formats the date once a second. */
class CommonHeaders {
  readonly #keepAlive: string;
  readonly #close: string;
  #second = 0;
  #date = "";

  constructor(idleMs: number, more: string) {
    this.#close = `${more}connection: close\r\n`;
    this.#keepAlive = `${more}connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1000)}\r\n`;
  }

  lines(isLast: boolean): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = `date: ${new Date(second * 1000).toUTCString()}\r\n`;
    }
    return `${this.#date}${isLast ? this.#close : this.#keepAlive}`;
  }
}
