// Takes connections and says nothing; and a port where nobody listens.

import { createServer, type Server, type Socket } from "node:net";

export class SilentServer {
  readonly port: number;
  readonly closedPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #onConnection: (() => void)[] = [];

  static async start(): Promise<SilentServer> {
    const [server, closed] = await Promise.all([listen(), listen()]);
    const closedPort = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    return new SilentServer(server, closedPort);
  }

  private constructor(server: Server, closedPort: number) {
    this.#server = server;
    this.port = portOf(server);
    this.closedPort = closedPort;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => this.#sockets.delete(socket));
      for (const told of this.#onConnection.splice(0)) told();
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

function listen(): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}
