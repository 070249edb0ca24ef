// A TCP proxy between a source and a server, which can drop connections.

import { connect, createServer, type Server, type Socket } from "node:net";
import { listen, portOf } from "../sockets.ts";

export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async open(target: number): Promise<TcpProxy> {
    const server = createServer();
    await listen(server);
    return new TcpProxy(server, target);
  }

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.port = portOf(server);
    server.on("connection", (near) => {
      const far = connect(target, "127.0.0.1");
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        socket.setNoDelay();
        socket.on("error", () => undefined);
        socket.on("close", () => other.destroy());
        socket.pipe(other);
      }
      this.#sockets.add(near);
      near.on("close", () => this.#sockets.delete(near));
    });
  }

  get connections(): number {
    return this.#sockets.size;
  }

  disconnectAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.disconnectAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
