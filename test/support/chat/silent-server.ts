// A server that accepts connections and stays silent, and a closed port.

import { createServer, type Server, type Socket } from "node:net";
import { freePort, listen, portOf } from "../sockets.ts";

export class SilentServer {
  readonly port: number;
  readonly closedPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #onConnection: (() => void)[] = [];

  static async start(): Promise<SilentServer> {
    const server = createServer();
    await listen(server);
    return new SilentServer(server, await freePort());
  }

  private constructor(server: Server, closedPort: number) {
    this.#server = server;
    this.port = portOf(server);
    this.closedPort = closedPort;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => this.#sockets.delete(socket));
      for (const notify of this.#onConnection.splice(0)) notify();
    });
  }

  connection(): Promise<void> {
    if (this.#sockets.size > 0) return Promise.resolve();
    return new Promise((resolve) => this.#onConnection.push(resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
