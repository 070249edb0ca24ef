// A TCP proxy with faults that can be changed while it runs: latency, small packets, resets after a number of bytes, silence,
// refusal, half-close. It does not parse the traffic.

import { once } from "node:events";
import { createServer, connect, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { portOf } from "../support/sockets.ts";

export interface Trouble {
  /** Delay before every chunk. */
  readonly latencyMs?: number;
  /** Splits the bytes into chunks of this size, each in its own packet. */
  readonly sliceBytes?: number;
  /** Resets the connection after this number of bytes in this direction. */
  readonly resetAfterBytes?: number;
  /** Reads everything and forwards nothing. */
  readonly blackHole?: boolean;
  /** Closes this direction after this number of bytes; the other direction stays open. */
  readonly halfCloseAfterBytes?: number;
}

export interface Troubles {
  /** From the client to the server. */
  readonly up?: Trouble;
  /** From the server to the client. */
  readonly down?: Trouble;
}

/** The address to listen on; any free port by default. */
export interface ProxyAddress {
  readonly host?: string;
  readonly port?: number;
}

/** @example const proxy = await FaultProxy.open(upstreamPort); proxy.set({ down: { resetAfterBytes: 10 } }); */
export class FaultProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #troubles: Troubles = {};
  readonly #host: string;
  #port: number;

  private constructor(target: number, { host = "127.0.0.1", port = 0 }: ProxyAddress) {
    this.#target = target;
    this.#host = host;
    this.#port = port;
    // Half-open, so that each direction can end separately.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  static async open(targetPort: number, address: ProxyAddress = {}): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort, address);
    await proxy.accept();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** The same URL, through the proxy. */
  through(url: string): string {
    const address = new URL(url);
    address.port = String(this.#port);
    return address.href;
  }

  /** Takes effect at once, also for open connections. Bytes are counted from the start of each connection. */
  set(troubles: Troubles): void {
    this.#troubles = troubles;
  }

  /** Accepts connections again, on the same port. */
  async accept(): Promise<void> {
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, "listening");
    this.#port = portOf(this.#server);
  }

  /** Refuses new connections and resets open ones. */
  async refuse(): Promise<void> {
    this.resetAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Resets open connections; new ones are accepted. */
  resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const reset = () => [client, server].forEach((socket) => socket.resetAndDestroy());
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.resetAndDestroy());
      socket.on("close", () => this.#sockets.delete(socket));
    }
    this.#carry(client, server, () => this.#troubles.up ?? {}, reset);
    this.#carry(server, client, () => this.#troubles.down ?? {}, reset);
  }

  #carry(from: Socket, to: Socket, trouble: () => Trouble, reset: () => void): void {
    let count = 0;
    let queue = Promise.resolve();
    const inOrder = (work: () => Promise<void>) => {
      queue = queue.then(work).catch(reset);
    };
    from.on("data", (chunk: Buffer) =>
      inOrder(async () => {
        const { resetAfterBytes = Infinity, halfCloseAfterBytes = Infinity, blackHole = false } = trouble();
        const room = Math.min(resetAfterBytes, halfCloseAfterBytes) - count;
        count += chunk.length;
        if (blackHole || to.destroyed) return;
        await send(to, chunk.subarray(0, Math.max(0, room)), trouble());
        if (room > chunk.length) return;
        if (count >= resetAfterBytes) reset();
        else to.end();
      }),
    );
    from.on("end", () =>
      inOrder(async () => {
        if (trouble().blackHole !== true) to.end();
      }),
    );
  }
}

async function send(to: Socket, bytes: Buffer, { latencyMs = 0, sliceBytes = Infinity }: Trouble): Promise<void> {
  for (let at = 0; at < bytes.length; at += Math.min(sliceBytes, bytes.length)) {
    if (latencyMs > 0) await sleep(latencyMs);
    if (to.destroyed || to.writableEnded) return;
    await new Promise<void>((resolve) => to.write(bytes.subarray(at, at + sliceBytes), () => resolve()));
  }
}
