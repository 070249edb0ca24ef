// A connection whose requests are read and answered without Node's HTTP server, as long as they are ordinary POSTs. At the first
// byte of anything else Node gets the connection, with all unanswered bytes, and keeps it. README.md has the reasons.

import type { Socket } from "node:net";
import type { WholeRequest } from "../../protocol/serve/http-request.ts";
import type { HttpResponse } from "../../protocol/serve/http-response.ts";
import { plainAddress } from "../client-address.ts";
import { FastResponse, type ResponseConnection } from "./fast-response.ts";
import type { HeadCache } from "./request-head.ts";

export interface FastConnectionOptions {
  /** Answers the request, now or later. False: not handled, and without any effect. `peer`: the other end of the connection. */
  readonly onRequest: (request: WholeRequest, response: HttpResponse, peer: string) => boolean;
  /** Gives the connection to Node. Unanswered bytes are back in the socket. */
  readonly handOver: () => void;
  readonly onClose: () => void;
  /** Shared by all connections. */
  readonly heads: HeadCache;
  /** Header lines of every response. */
  readonly commonHeaders: (isLast: boolean) => string;
  readonly timeoutsMs: FastPathTimeouts;
}

export interface FastPathTimeouts {
  /** Until the first byte of a new connection. */
  readonly headers: number;
  /** Between two requests. */
  readonly idle: number;
  /** Until a client reads more of its response. */
  readonly unread: number;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");
/** Larger requests are handed over. */
const MAX_HEAD_BYTES = 8 << 10;
const MAX_BODY_BYTES = 64 << 10;
/** A body that arrives in more pieces, or later, is handed over: Node has the timeouts for slow requests. */
const MAX_PIECES = 3;
const BODY_MS = 500;
/** Pipelined bytes that are buffered before reading stops. */
const MAX_AHEAD_BYTES = 64 << 10;
const CUT_OFF = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
const TIMED_OUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

type State =
  | { readonly is: "new" }
  | { readonly is: "idle" }
  /** Waits for the rest of a body. */
  | { readonly is: "reading"; readonly pieces: Buffer[] }
  | { readonly is: "answering"; readonly response: FastResponse }
  /** Handed over, or closed. */
  | { readonly is: "over" };

const IDLE: State = { is: "idle" };
const OVER: State = { is: "over" };

export class FastConnection implements ResponseConnection {
  readonly #socket: Socket;
  readonly #options: FastConnectionOptions;
  readonly #peer: string;
  #state: State = { is: "new" };
  /** Bytes that came while a request was being answered. */
  #ahead: Buffer[] = [];
  #aheadBytes = 0;
  #isDraining = false;

  constructor(socket: Socket, options: FastConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#peer = plainAddress(socket.remoteAddress ?? "");
    socket.setTimeout(options.timeoutsMs.headers);
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onClose);
    socket.on("timeout", this.#onTimeout);
    // A close event follows each error.
    socket.on("error", ignore);
  }

  get isLast(): boolean {
    return this.#isDraining;
  }

  get commonHeaders(): string {
    return this.#options.commonHeaders(this.#isDraining);
  }

  /** Closes after the current response. */
  drain(): void {
    this.#isDraining = true;
    if (this.#state.is === "idle" && this.#aheadBytes === 0) this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  onSent(): void {
    if (this.#state.is !== "answering") return;
    this.#state = IDLE;
    if (this.#isDraining) this.#socket.end();
    // Not `writableLength`: over TLS every write takes a turn of the event loop.
    else if (this.#socket.writableNeedDrain) this.#waitForReader();
    else if (this.#aheadBytes > 0) process.nextTick(this.#readAhead);
  }

  readonly #onData = (chunk: Buffer): void => {
    const state = this.#state;
    switch (state.is) {
      case "new":
        this.#socket.setTimeout(this.#options.timeoutsMs.idle);
        return this.#read(chunk, undefined);
      case "idle":
        // Earlier bytes are still waiting: keep the order.
        return this.#aheadBytes > 0 ? this.#bufferAhead(chunk) : this.#read(chunk, undefined);
      case "reading":
        state.pieces.push(chunk);
        return this.#read(Buffer.concat(state.pieces), state.pieces);
      case "answering":
        return this.#bufferAhead(chunk);
      case "over":
    }
  };

  /** `bytes` is everything received of a request, `pieces` the same in parts if it came in several. */
  #read(bytes: Buffer, pieces: Buffer[] | undefined): void {
    const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf(BLANK_LINE);
    const head = end < 0 ? undefined : this.#options.heads.read(bytes.toString("latin1", 0, end));
    if (head === undefined || head.bodyBytes > MAX_BODY_BYTES) return this.#handOver(bytes);
    const from = end + BLANK_LINE.length;
    const missing = from + head.bodyBytes - bytes.length;
    if (missing > 0) return this.#wait(bytes, pieces);
    // Pipelined requests.
    if (missing < 0) return this.#handOver(bytes);
    if (pieces !== undefined) this.#socket.setTimeout(this.#options.timeoutsMs.idle);
    const response = new FastResponse(this.#socket, this);
    const { url, headers } = head;
    this.#state = { is: "answering", response };
    const request = { method: "POST", url, headers, body: bytes.subarray(from) };
    const isTaken = this.#options.onRequest(request, response, this.#peer);
    if (!isTaken) this.#handOver(bytes);
  }

  #wait(bytes: Buffer, pieces: Buffer[] = [bytes]): void {
    if (pieces.length > MAX_PIECES) return this.#handOver(bytes);
    this.#state = { is: "reading", pieces };
    this.#socket.setTimeout(BODY_MS);
  }

  #bufferAhead(chunk: Buffer): void {
    this.#ahead.push(chunk);
    this.#aheadBytes += chunk.length;
    if (this.#aheadBytes > MAX_AHEAD_BYTES) this.#socket.pause();
  }

  readonly #readAhead = (): void => {
    if (this.#state.is !== "idle" || this.#aheadBytes === 0) return;
    const bytes = Buffer.concat(this.#ahead);
    this.#ahead = [];
    this.#aheadBytes = 0;
    this.#socket.resume();
    this.#read(bytes, undefined);
  };

  /** Reads no further request while the client has not read its responses. */
  #waitForReader(): void {
    const { unread, idle } = this.#options.timeoutsMs;
    this.#socket.setTimeout(unread);
    this.#socket.pause();
    this.#socket.once("drain", () => {
      if (this.#state.is === "over") return;
      this.#socket.setTimeout(idle);
      this.#socket.resume();
      this.#readAhead();
    });
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#detach();
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(bytes);
    this.#options.handOver();
    socket.resume();
  }

  #detach(): void {
    const socket = this.#socket;
    this.#state = OVER;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("close", this.#onClose);
    socket.off("timeout", this.#onTimeout);
    socket.off("error", ignore);
    this.#options.onClose();
  }

  /** The client has closed its side. Ends the connection, as Node does. */
  readonly #onEnd = (): void => {
    if (this.#state.is === "reading") this.#socket.end(CUT_OFF);
    else this.#socket.end();
  };

  readonly #onClose = (): void => {
    const state = this.#state;
    this.#state = OVER;
    this.#options.onClose();
    if (state.is === "answering") state.response.connectionClosed();
  };

  readonly #onTimeout = (): void => {
    const { bytesRead } = this.#socket;
    switch (this.#state.is) {
      case "new":
      case "idle":
        // After a stall of the process, timers fire before pending input is read: look at the input first.
        setImmediate(() => {
          if (this.#socket.bytesRead === bytesRead) this.#endSilent();
        });
        return;
      case "reading":
        return this.#handOver(Buffer.concat(this.#state.pieces));
      case "answering":
      case "over":
    }
  };

  #endSilent(): void {
    if (this.#state.is === "new") this.#socket.end(TIMED_OUT, () => this.#socket.destroy());
    else if (this.#state.is === "idle") this.destroy();
  }
}

function ignore(): void {}
