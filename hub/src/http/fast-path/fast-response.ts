// The response to a request that was read without Node's parser: one write. A response that becomes a stream is Node's own.

import { IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { HttpResponse, ResponseHeaders } from "../../protocol/serve/http-response.ts";
import { SMALL_BYTES } from "../node-response.ts";

/** The connection, as its response sees it. */
export interface ResponseConnection {
  /** The connection closes after this response. */
  readonly isLast: boolean;
  /** The `Date` and `Keep-Alive` header lines. */
  readonly commonHeaders: string;
  onSent(): void;
}

const NOTHING = Buffer.alloc(0);

export class FastResponse implements HttpResponse {
  readonly #socket: Socket;
  readonly #connection: ResponseConnection;
  #stream: ServerResponse | undefined;
  #onClose: (() => void)[] | undefined;
  #isSent = false;

  constructor(socket: Socket, connection: ResponseConnection) {
    this.#socket = socket;
    this.#connection = connection;
  }

  get isOver(): boolean {
    return this.#socket.destroyed || (this.#stream?.writableEnded ?? this.#isSent);
  }

  send(status: number, headers?: ResponseHeaders, body: Buffer = NOTHING, prefix = "", suffix = ""): void {
    if (this.#isSent || this.#stream !== undefined) return;
    this.#isSent = true;
    let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    for (const name in headers) lines += `${name}: ${headers[name] ?? ""}\r\n`;
    const length = prefix.length + body.length + suffix.length;
    lines += `content-length: ${length}\r\n${this.#connection.commonHeaders}\r\n${prefix}`;
    // As latin1: the bytes are UTF-8 already, and are neither decoded nor encoded this way.
    if (body.length < SMALL_BYTES) this.#socket.write(`${lines}${body.toString("latin1")}${suffix}`, "latin1");
    else this.#sendParts(lines, body, suffix);
    this.#connection.onSent();
  }

  /** Does not copy the body: a copy of a megabyte takes longer than sending it. */
  #sendParts(lines: string, body: Buffer, suffix: string): void {
    this.#socket.cork();
    this.#socket.write(lines, "latin1");
    this.#socket.write(body);
    if (suffix !== "") this.#socket.write(suffix, "latin1");
    this.#socket.uncork();
  }

  /** Builds the response that Node would have built for this request. */
  stream(): ServerResponse {
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
      this.#connection.onSent();
    });
    for (const listener of this.#onClose ?? []) stream.once("close", listener);
    this.#onClose = undefined;
    this.#stream = stream;
    return stream;
  }

  onceClosed(callback: () => void): void {
    if (this.#stream !== undefined) this.#stream.once("close", callback);
    else (this.#onClose ??= []).push(callback);
  }

  /** Called when the connection closes. Node calls the listeners of a stream. */
  connectionClosed(): void {
    if (this.#isSent) return;
    for (const listener of this.#onClose?.splice(0) ?? []) listener();
  }
}
