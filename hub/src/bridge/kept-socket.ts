// One connection to the endpoint, which carries one exchange after the other. Which connection is taken, and where
// redirects lead, is for sockets.ts.

import type { Socket } from "node:net";
import { HubError } from "../errors.ts";
import { broken } from "../wire/http-failure.ts";
import { unreachableProxy } from "../wire/tunnel.ts";
import { ResponseReader, type Headers } from "./response-reader.ts";

/** Who is told what comes back. */
export interface Receiver {
  onHead(status: number, headers: Headers): void;
  onBody(chunk: Buffer): void;
  onEnd(): void;
  /** In place of onEnd. */
  onError(error: HubError): void;
}

export interface KeptSocketOptions {
  readonly socket: Socket;
  /** Told by the socket when it can carry bytes: TLS has to shake hands first. */
  readonly readyEvent: "connect" | "secureConnect";
  /** Whom it leads to, where that is not the server. */
  readonly proxy?: URL | undefined;
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
  #receiver: Receiver | undefined;
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
      // What was aborted is over, whatever else came with the same piece.
      onHead: (status, headers) => {
        if (this.#failure === undefined) this.#head(status, headers);
      },
      onBody: (chunk) => {
        if (this.#failure === undefined) this.#receiver?.onBody(chunk);
      },
      onEnd: (reusable) => {
        if (this.#failure === undefined) this.#end(reusable);
      },
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

  /** The head is the request's first line and all headers but the length of its body. */
  send(head: string, body: Buffer | undefined, receiver: Receiver): void {
    this.#receiver = receiver;
    this.#status = 0;
    if (body === undefined) return void this.#socket.write(`${head}\r\n`, "latin1");
    const whole = `${head}content-length: ${body.length}\r\n\r\n`;
    if (body.length > COPIED_BYTES) {
      this.#socket.cork();
      this.#socket.write(whole, "latin1");
      this.#socket.write(body);
      return this.#socket.uncork();
    }
    // One write: two of them would cost more than the copy.
    const bytes = Buffer.allocUnsafe(whole.length + body.length);
    bytes.write(whole, "latin1");
    body.copy(bytes, whole.length);
    this.#socket.write(bytes);
  }

  /** Ends what it carries for this receiver, and with it the connection; the error is what the receiver is told. */
  abort(receiver: Receiver, error: HubError): void {
    if (this.#receiver === receiver) this.#fail(error);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Tells nobody. */
  destroy(): void {
    this.#receiver = undefined;
    this.#fail(undefined);
  }

  #read(chunk: Buffer): void {
    // Nobody asked: whatever it is, it is no answer.
    if (this.#receiver === undefined) return this.#fail(undefined);
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#fail(error instanceof Error ? error : undefined);
    }
  }

  #head(status: number, headers: Headers): void {
    this.#status = status;
    const keep = headers["keep-alive"];
    const told = keep === undefined ? undefined : /\btimeout=(\d{1,6})\b/.exec(keep)?.[1];
    this.#idleMs = told === undefined ? IDLE_MS : Number(told) * 1000 - MARGIN_MS;
    this.#receiver?.onHead(status, headers);
  }

  #end(reusable: boolean): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    if (reusable) {
      this.#idleUntil = performance.now() + this.#idleMs;
      // First: what the end leads to may take it at once.
      this.#options.onFree(this);
    } else {
      this.#socket.destroy();
    }
    receiver?.onEnd();
  }

  #fail(error: Error | undefined): void {
    this.#failure ??= error;
    this.#socket.destroy();
  }

  #closed(): void {
    clearTimeout(this.#impatient);
    this.#options.onClose(this);
    if (this.#receiver === undefined) return;
    // The end of the connection is that of the answer only where nothing went wrong.
    if (this.#failure === undefined && this.#reader.close()) return;
    const receiver = this.#receiver;
    this.#receiver = undefined;
    const error = this.#failure ?? new ConnectionClosed();
    const isUnsent = !this.#connected && !(error instanceof HubError);
    receiver.onError(isUnsent ? unsent(error, this.#options.proxy) : broken(error, this.#status));
  }
}

class ConnectionClosed extends Error {
  readonly code = "ECONNRESET";
}

function unsent(error: Error, proxy: URL | undefined): HubError {
  if (proxy !== undefined) return unreachableProxy(error, proxy);
  const detail = "code" in error && typeof error.code === "string" ? error.code : error.message;
  return new HubError("ConnectionFailed", "The server cannot be reached", { detail, delivery: "unsent", cause: error });
}

function timedOut(): Error {
  return Object.assign(new Error("The connection was not made in time"), { code: "ETIMEDOUT" });
}
