// A TCP proxy that spoils what passes through it, and can be switched while it runs: latency, slices, resets after a
// number of bytes, silence, refusal, half-close. It knows nothing of what it carries.

import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Trouble {
  /** Before every piece. */
  readonly latencyMs?: number;
  /** Bytes go on in pieces of this size, each in a packet of its own. */
  readonly sliceBytes?: number;
  /** The connection is reset when so many bytes have come this way. */
  readonly resetAfterBytes?: number;
  /** Everything is taken and nothing goes on. */
  readonly blackHole?: boolean;
  /** This way is closed in good order when so many bytes have come; the other one stays. */
  readonly halfCloseAfterBytes?: number;
}

export interface Troubles {
  /** What the client sends. */
  readonly up?: Trouble;
  /** What the server sends. */
  readonly down?: Trouble;
}

/** Where it listens: on a port of its choice unless told. */
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
    // Half-open, so that one side can end before the other.
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

  /** The same address, through the proxy. */
  through(url: string): string {
    const address = new URL(url);
    address.port = String(this.#port);
    return address.href;
  }

  /** From now on, also for connections that are open. Bytes are counted from the beginning of each connection. */
  set(troubles: Troubles): void {
    this.#troubles = troubles;
  }

  /** Takes connections (again), on the port that it had. */
  async accept(): Promise<void> {
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses new connections and resets those that are open. */
  async refuse(): Promise<void> {
    this.resetAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Resets what is open; new connections are welcome. */
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
