// The answer to a request that was read without Node's parser. All of it in one write; where it turns out to be a stream, Node's
// own response takes over.

import { IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** Below it a body costs less as a text, which goes out in one piece with the head. */
export const SMALL_BYTES = 16 << 10;

export interface QuickConnectionEnd {
  /** Whether the connection ends with the answer that is sent now. */
  readonly isLast: boolean;
  /** The `Date` and `Keep-Alive` of every answer, as lines. */
  readonly commonHead: string;
  /** The answer is sent. */
  answered(): void;
}

export class QuickResponse {
  readonly #socket: Socket;
  readonly #connection: QuickConnectionEnd;
  #stream: ServerResponse | undefined;
  #onClose: (() => void)[] | undefined;
  #isSent = false;

  constructor(socket: Socket, connection: QuickConnectionEnd) {
    this.#socket = socket;
    this.#connection = connection;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  get writableEnded(): boolean {
    return this.#stream?.writableEnded ?? this.#isSent;
  }

  /** The whole answer: `head` and `tail` are of the body too, in ASCII. */
  send(
    status: number,
    headers: Readonly<Record<string, string>> | undefined,
    head: string,
    body: Buffer,
    tail: string,
  ): void {
    if (this.writableEnded || this.#stream !== undefined) return;
    this.#isSent = true;
    let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    for (const name in headers) lines += `${name}: ${headers[name] ?? ""}\r\n`;
    lines += `content-length: ${head.length + body.length + tail.length}\r\n${this.#connection.commonHead}\r\n${head}`;
    // Bytes as a text of one byte a letter: those that are UTF-8 already need not be read for that.
    if (body.length < SMALL_BYTES) this.#socket.write(`${lines}${body.toString("latin1")}${tail}`, "latin1");
    else this.#sendParts(lines, body, tail);
    this.#connection.answered();
  }

  /** As it is: a copy of a megabyte takes longer than sending it. */
  #sendParts(lines: string, body: Buffer, tail: string): void {
    this.#socket.cork();
    this.#socket.write(lines, "latin1");
    this.#socket.write(body);
    if (tail !== "") this.#socket.write(tail, "latin1");
    this.#socket.uncork();
  }

  /** From now on it is a stream: what Node itself would have made for this request. */
  toStream(): ServerResponse {
    if (this.#stream !== undefined) return this.#stream;
    const request = new IncomingMessage(this.#socket);
    request.method = "POST";
    request.httpVersionMajor = 1;
    request.httpVersionMinor = 1;
    const stream = new ServerResponse(request);
    stream.shouldKeepAlive = !this.#connection.isLast;
    stream.assignSocket(this.#socket);
    stream.once("finish", () => {
      stream.detachSocket(this.#socket);
      stream.emit("close");
      this.#connection.answered();
    });
    for (const listener of this.#onClose ?? []) stream.once("close", listener);
    this.#onClose = undefined;
    this.#stream = stream;
    return stream;
  }

  /** Called when the client has gone before its answer; of a stream also at its end. */
  onceClosed(listener: () => void): void {
    if (this.#stream !== undefined) this.#stream.once("close", listener);
    else (this.#onClose ??= []).push(listener);
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#isSent) return;
    // Those of a stream are told by Node.
    for (const listener of this.#onClose?.splice(0) ?? []) listener();
  }
}
