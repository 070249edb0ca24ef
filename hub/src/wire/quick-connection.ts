// A connection whose requests are read without Node's parser and answered without its response, as long as they are ordinary
// POSTs: half of what a small call costs is Node's HTTP. At the first byte of anything else the connection is Node's, with all
// that has not been answered yet, and stays so. What may be asked at all is decided by whoever gets the request.

import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { QuickHeads } from "./quick-head.ts";
import { QuickResponse, type QuickConnectionEnd } from "./quick-response.ts";

export interface QuickRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface QuickOptions {
  /** Answers it, now or later; or says that it is not one for here, before it has done anything. */
  readonly onRequest: (request: QuickRequest, response: QuickResponse) => boolean;
  /** Gives the connection to Node. What was read and not answered is in front of it again. */
  readonly handOver: () => void;
  readonly onClose: () => void;
  /** Of all connections. */
  readonly heads: QuickHeads;
  /** The `Date` line, and others that all answers have. */
  readonly commonHead: (isLast: boolean) => string;
  readonly waitMs: QuickPatience;
}

export interface QuickPatience {
  /** For the first byte of a new connection. */
  readonly headers: number;
  /** Between two requests. */
  readonly idle: number;
  /** For a client to read more of its answer. */
  readonly unread: number;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");
/** Larger ones are Node's. */
const MAX_HEAD_BYTES = 8 << 10;
const MAX_BODY_BYTES = 64 << 10;
/** A body that does not follow its head at once is Node's, which knows how long to wait for it. */
const MAX_PIECES = 3;
const BODY_MS = 500;
/** What a client may send ahead while it waits for an answer. */
const MAX_AHEAD_BYTES = 64 << 10;
const CUT_OFF = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
const TIMED_OUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

type State =
  | { readonly is: "new" }
  | { readonly is: "idle" }
  /** The head is there, the body is not yet. */
  | { readonly is: "reading"; readonly pieces: Buffer[] }
  | { readonly is: "answering"; readonly response: QuickResponse }
  /** Node's, or closed. */
  | { readonly is: "over" };

const IDLE: State = { is: "idle" };
const OVER: State = { is: "over" };

export class QuickConnection implements QuickConnectionEnd {
  readonly #socket: Socket;
  readonly #options: QuickOptions;
  #state: State = { is: "new" };
  /** Sent before the answer was there. */
  #ahead: Buffer[] = [];
  #aheadBytes = 0;
  #isDraining = false;

  constructor(socket: Socket, options: QuickOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setTimeout(options.waitMs.headers);
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onClose);
    socket.on("timeout", this.#onTimeout);
    // The end of the connection follows, and that is all there is to know.
    socket.on("error", ignore);
  }

  get isLast(): boolean {
    return this.#isDraining;
  }

  get commonHead(): string {
    return this.#options.commonHead(this.#isDraining);
  }

  /** Ends when what is being answered is answered. */
  drain(): void {
    this.#isDraining = true;
    if (this.#state.is === "idle" && this.#aheadBytes === 0) this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Told by the response. What comes next is looked at when whoever answered is done. */
  answered(): void {
    if (this.#state.is !== "answering") return;
    this.#state = IDLE;
    if (this.#isDraining) this.#socket.end();
    else if (this.#socket.writableLength > 0) this.#waitForReader();
    else if (this.#aheadBytes > 0) process.nextTick(this.#goOn);
  }

  readonly #onData = (chunk: Buffer): void => {
    const state = this.#state;
    switch (state.is) {
      case "new":
        this.#socket.setTimeout(this.#options.waitMs.idle);
        return this.#read(chunk, undefined);
      case "idle":
        // In order: what came before it has not been looked at.
        return this.#aheadBytes > 0 ? this.#keep(chunk) : this.#read(chunk, undefined);
      case "reading":
        state.pieces.push(chunk);
        return this.#read(Buffer.concat(state.pieces), state.pieces);
      case "answering":
        return this.#keep(chunk);
      case "over":
    }
  };

  /** `bytes` are all that there are of a request; `pieces` in how many they came, if not at once. */
  #read(bytes: Buffer, pieces: Buffer[] | undefined): void {
    const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf(BLANK_LINE);
    const head = end < 0 ? undefined : this.#options.heads.read(bytes.toString("latin1", 0, end));
    if (head === undefined || head.bodyBytes > MAX_BODY_BYTES) return this.#giveUp(bytes);
    const from = end + BLANK_LINE.length;
    const missing = from + head.bodyBytes - bytes.length;
    if (missing > 0) return this.#wait(bytes, pieces);
    // More than one request at once.
    if (missing < 0) return this.#giveUp(bytes);
    if (pieces !== undefined) this.#socket.setTimeout(this.#options.waitMs.idle);
    const response = new QuickResponse(this.#socket, this);
    const { url, headers } = head;
    this.#state = { is: "answering", response };
    const isTaken = this.#options.onRequest({ method: "POST", url, headers, body: bytes.subarray(from) }, response);
    if (!isTaken) this.#giveUp(bytes);
  }

  #wait(bytes: Buffer, pieces: Buffer[] = [bytes]): void {
    if (pieces.length > MAX_PIECES) return this.#giveUp(bytes);
    this.#state = { is: "reading", pieces };
    this.#socket.setTimeout(BODY_MS);
  }

  #keep(chunk: Buffer): void {
    this.#ahead.push(chunk);
    this.#aheadBytes += chunk.length;
    if (this.#aheadBytes > MAX_AHEAD_BYTES) this.#socket.pause();
  }

  readonly #goOn = (): void => {
    if (this.#state.is !== "idle" || this.#aheadBytes === 0) return;
    const bytes = Buffer.concat(this.#ahead);
    this.#ahead = [];
    this.#aheadBytes = 0;
    this.#socket.resume();
    this.#read(bytes, undefined);
  };

  /** A client that sends and does not read gets no more. */
  #waitForReader(): void {
    const { unread, idle } = this.#options.waitMs;
    this.#socket.setTimeout(unread);
    this.#socket.pause();
    this.#socket.once("drain", () => {
      if (this.#state.is === "over") return;
      this.#socket.setTimeout(idle);
      this.#socket.resume();
      this.#goOn();
    });
  }

  /** The rest is Node's. */
  #giveUp(bytes: Buffer): void {
    const socket = this.#socket;
    this.#leave();
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(bytes);
    this.#options.handOver();
    socket.resume();
  }

  #leave(): void {
    const socket = this.#socket;
    this.#state = OVER;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("close", this.#onClose);
    socket.off("timeout", this.#onTimeout);
    socket.off("error", ignore);
    this.#options.onClose();
  }

  /** Nothing more comes, and Node's own connections end then, too. */
  readonly #onEnd = (): void => {
    if (this.#state.is === "reading") this.#socket.end(CUT_OFF);
    else this.#socket.end();
  };

  readonly #onClose = (): void => {
    const state = this.#state;
    this.#state = OVER;
    this.#options.onClose();
    if (state.is === "answering") state.response.closed();
  };

  readonly #onTimeout = (): void => {
    const { bytesRead } = this.#socket;
    switch (this.#state.is) {
      case "new":
      case "idle":
        // When the whole hub stood still, timers come before what was sent meanwhile: that is read first.
        setImmediate(() => {
          if (this.#socket.bytesRead === bytesRead) this.#endSilent();
        });
        return;
      case "reading":
        return this.#giveUp(Buffer.concat(this.#state.pieces));
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
