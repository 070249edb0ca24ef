// The connections of a server that are read without Node's parser: which they are, and how they end.

import type { Server } from "node:http";
import type { Socket } from "node:net";
import { QuickHeads } from "./quick-head.ts";
import { QuickConnection, type QuickOptions, type QuickPatience } from "./quick-connection.ts";

export class QuickFront {
  readonly #connections = new Set<QuickConnection>();

  /** Takes every new connection of the server; those that are not for it get to the server as if nothing had been. */
  constructor(server: Server, onRequest: QuickOptions["onRequest"], waitMs: QuickPatience) {
    const common = new CommonHead(waitMs.idle);
    const heads = new QuickHeads();
    // What Node itself does with a connection. Its documents have it that others may give it theirs.
    const own = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      const connection: QuickConnection = new QuickConnection(socket, {
        onRequest,
        waitMs,
        heads,
        commonHead: (isLast) => common.lines(isLast),
        handOver: () => own.forEach((take) => void Reflect.apply(take, server, [socket])),
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

/** What every answer says, made once a second: the date. */
class CommonHead {
  readonly #keepAlive: string;
  #second = 0;
  #date = "";

  constructor(idleMs: number) {
    this.#keepAlive = `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1000)}\r\n`;
  }

  lines(isLast: boolean): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = `date: ${new Date(second * 1000).toUTCString()}\r\n`;
    }
    return `${this.#date}${isLast ? "connection: close\r\n" : this.#keepAlive}`;
  }
}
