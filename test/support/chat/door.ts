// Stands between a source and a server in the tests, and can be shut.

import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A TCP relay to a port. When it is cut, what goes through it ends at once. */
export class Door {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async open(target: number): Promise<Door> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Door(server, target);
  }

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
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

  get through(): number {
    return this.#sockets.size;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
