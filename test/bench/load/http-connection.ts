// HTTP/1.1 on a plain socket, one request at a time: the load generator and the lower bound must cost less than the targets.
// Independent of MCP.

import { connect, type Socket } from "node:net";

export interface HttpAnswer {
  readonly status: number;
  /** The unchanged status line and headers. */
  readonly head: string;
  readonly body: Buffer;
}

type OnAnswer = (answer: HttpAnswer) => void;
type OnFailure = (error: Error) => void;

interface Waiting {
  readonly onAnswer: OnAnswer;
  readonly onFailure: OnFailure;
}

interface Head {
  readonly status: number;
  readonly text: string;
  readonly bytes: number;
  /** The length of the body; undefined if it is chunked. */
  readonly length: number | undefined;
}

const HEAD_END = "\r\n\r\n";
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

export class HttpConnection {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #head: Head | undefined;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor({ hostname, port }: URL) {
    this.#socket = connect(Number(port), hostname).setNoDelay();
    this.#socket.on("data", (piece) => this.#take(piece));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new Error("The connection was closed before the answer was complete")));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** The whole request as bytes. */
  send(request: Buffer | string, onAnswer: OnAnswer, onFailure: OnFailure): void {
    this.#waiting = { onAnswer, onFailure };
    this.#socket.write(request);
  }

  ask(request: Buffer | string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => this.send(request, resolve, reject));
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    this.#head ??= this.#readHead();
    const head = this.#head;
    if (head === undefined || !this.#isComplete(head, piece)) return;
    const all = this.#joined();
    const raw = all.subarray(head.bytes);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#head = undefined;
    this.#pieces = [];
    this.#size = 0;
    waiting?.onAnswer({ status: head.status, head: head.text, body: head.length === undefined ? unchunk(raw) : raw });
  }

  #readHead(): Head | undefined {
    const all = this.#joined();
    const end = all.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const text = all.toString("latin1", 0, end);
    const isChunked = /^transfer-encoding: *chunked/im.test(text);
    const length = isChunked ? undefined : Number(headerOf(text, "content-length") ?? 0);
    return { status: Number(text.slice(9, 12)), text, bytes: end + HEAD_END.length, length };
  }

  #isComplete({ bytes, length }: Head, last: Buffer): boolean {
    if (length !== undefined) return this.#size >= bytes + length;
    // JSON and event streams do not contain these bytes, so they mark the end.
    const tail = last.length >= LAST_CHUNK.length ? last : this.#joined();
    return this.#size >= bytes + LAST_CHUNK.length && tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  }

  #joined(): Buffer {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }

  #fail(error: Error): void {
    this.#socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.onFailure(error);
  }
}

/** A header of a response, case-insensitive. */
export function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: *(.*?) *$`, "im").exec(head)?.[1];
}

function unchunk(raw: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < raw.length;) {
    const lineEnd = raw.indexOf("\r\n", at);
    const size = Number.parseInt(raw.toString("latin1", at, lineEnd), 16);
    if (lineEnd < 0 || !(size > 0)) break;
    chunks.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
