// One connection to the endpoint, which carries one exchange after the other. Which connection is taken, and where
// redirects lead, is for sockets.ts.

import type { Socket } from "node:net";
import { HubError } from "../errors.ts";
import type { Outgoing } from "../wire/http-connection.ts";
import { broken, type Headers } from "../wire/http-failure.ts";
import { ResponseReader } from "./response-reader.ts";

/** What became of an exchange. */
export interface Carried {
  onHead(status: number, headers: Headers): void;
  onBody(chunk: Buffer): void;
  onEnd(): void;
  /** In place of onEnd. `unreachable`: there was no connection that it could have gone through. */
  onError(error: HubError, options: { readonly unreachable: boolean }): void;
}

export interface KeptSocketOptions {
  readonly socket: Socket;
  /** Told by the socket when it can carry bytes: TLS has to shake hands first. */
  readonly readyEvent: "connect" | "secureConnect";
  readonly connectTimeoutMs: number;
  /** It can carry another exchange. */
  onFree(socket: KeptSocket): void;
  onClose(socket: KeptSocket): void;
}

/** Where a server says nothing about it. Node's own servers close a connection that was idle for 5 s. */
const IDLE_MS = 4000;
/** A request that crosses the server's closing on its way would be lost. */
const MARGIN_MS = 1000;
/** Larger bodies are written as they are. */
const COPIED_BYTES = 64 << 10;

export class KeptSocket {
  readonly #options: KeptSocketOptions;
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  readonly #impatient: NodeJS.Timeout;
  #carried: Carried | undefined;
  #status = 0;
  #connected = false;
  #failure: Error | undefined;
  #idleMs = IDLE_MS;
  #idleUntil = 0;

  constructor(options: KeptSocketOptions) {
    const { socket, readyEvent, connectTimeoutMs } = options;
    this.#options = options;
    this.#socket = socket.setNoDelay();
    this.#reader = new ResponseReader({
      onHead: (status, headers) => this.#head(status, headers),
      onBody: (chunk) => this.#carried?.onBody(chunk),
      onEnd: (reusable) => this.#end(reusable),
    });
    this.#impatient = setTimeout(() => this.#fail(timedOut()), connectTimeoutMs);
    socket.once(readyEvent, () => {
      this.#connected = true;
      clearTimeout(this.#impatient);
    });
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.once("close", () => this.#closed());
  }

  /** Whether the server still keeps it, as far as one can know. */
  get isUsable(): boolean {
    return !this.#socket.destroyed && this.#socket.writable && performance.now() < this.#idleUntil;
  }

  send({ method, url, headers, body }: Outgoing, carried: Carried): void {
    this.#carried = carried;
    this.#status = 0;
    let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
    for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
    if (body === undefined) return void this.#socket.write(`${head}\r\n`, "latin1");
    head += `content-length: ${body.length}\r\n\r\n`;
    if (body.length > COPIED_BYTES) {
      this.#socket.cork();
      this.#socket.write(head, "latin1");
      this.#socket.write(body);
      return this.#socket.uncork();
    }
    // One write: two of them would cost more than the copy.
    const whole = Buffer.allocUnsafe(head.length + body.length);
    whole.write(head, 0, "latin1");
    body.copy(whole, head.length);
    this.#socket.write(whole);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends the exchange and the connection with it; the error is what the receiver is told. */
  abort(error: HubError): void {
    this.#fail(error);
  }

  destroy(): void {
    this.#carried = undefined;
    this.#fail(undefined);
  }

  #read(chunk: Buffer): void {
    // Nobody asked: whatever it is, it is no answer.
    if (this.#carried === undefined) return this.#fail(undefined);
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#fail(error instanceof Error ? error : undefined);
    }
  }

  #head(status: number, headers: Headers): void {
    this.#status = status;
    const told = /\btimeout=(\d{1,6})\b/.exec(String(headers["keep-alive"] ?? ""))?.[1];
    this.#idleMs = told === undefined ? IDLE_MS : Number(told) * 1000 - MARGIN_MS;
    this.#carried?.onHead(status, headers);
  }

  #end(reusable: boolean): void {
    const carried = this.#carried;
    this.#carried = undefined;
    if (reusable) {
      this.#idleUntil = performance.now() + this.#idleMs;
      // First: what the end leads to may take it at once.
      this.#options.onFree(this);
    } else {
      this.#socket.destroy();
    }
    carried?.onEnd();
  }

  #fail(error: Error | undefined): void {
    this.#failure ??= error;
    this.#socket.destroy();
  }

  #closed(): void {
    clearTimeout(this.#impatient);
    this.#options.onClose(this);
    if (this.#carried === undefined || this.#reader.close()) return;
    const carried = this.#carried;
    this.#carried = undefined;
    const error = this.#failure ?? new ConnectionClosed();
    const unreachable = !this.#connected && !(error instanceof HubError);
    carried.onError(unreachable ? unsent(error) : broken(error, this.#status), { unreachable });
  }
}

class ConnectionClosed extends Error {
  readonly code = "ECONNRESET";
}

function unsent(error: Error): HubError {
  const detail = "code" in error && typeof error.code === "string" ? error.code : error.message;
  return new HubError("ConnectionFailed", "The server cannot be reached", { detail, delivery: "unsent", cause: error });
}

function timedOut(): Error {
  return Object.assign(new Error("The connection was not made in time"), { code: "ETIMEDOUT" });
}
