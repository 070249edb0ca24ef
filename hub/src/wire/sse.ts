// Server-sent events, both ways: a bounded parser on bytes, and the writer's side.

import { Pieces } from "./pieces.ts";

export interface SseEvent {
  readonly event: string;
  readonly data: Buffer;
  readonly id?: string;
}

export interface SseParserOptions {
  readonly maxBytes: number;
  onEvent(event: SseEvent): void;
  onRetry?(ms: number): void;
  /** A line or an event grew past the bound, or has more lines than any honest one; what follows is ignored. */
  onOverflow(): void;
}

const COLON = 0x3a;
const SPACE = 0x20;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
const BETWEEN_LINES = Buffer.from("\n");
const [D, A, T] = Buffer.from("dat");
/** Pretty-printed JSON has many. Each costs time of its own, so their bytes alone are no bound. */
const MAX_LINES = 1_000_000;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");
/** A line that ends within this is found sooner here than by the native search, which costs something to call. */
const NEAR_BYTES = 32;

/**
 * Feeds on chunks, gives whole events. Lines are read where they lie: an event may have a million of them, and a buffer for
 * each would hold up everybody else.
 */
export class SseParser {
  readonly #options: SseParserOptions;
  /** Of the line that has not ended yet. */
  readonly #unfinished = new Pieces();
  readonly #data = new Pieces();
  #dataLines = 0;
  #event = "";
  #id: string | undefined;
  #lastEventId: string | undefined;
  #begun = false;
  #afterReturn = false;
  #overflown = false;

  constructor(options: SseParserOptions) {
    this.#options = options;
  }

  /** Of the last whole event, one without data included: where a lost stream is taken up again. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  push(given: Buffer): void {
    if (given.length === 0) return;
    const chunk = this.#withNewlines(given);
    let from = 0;
    while (!this.#overflown) {
      const newline = newlineIn(chunk, from);
      const to = newline < 0 ? chunk.length : newline;
      if (this.#unfinished.size + to - from > this.#options.maxBytes) return this.#overflow();
      if (newline < 0) return this.#unfinished.add(chunk, from, to);
      this.#finish(chunk, from, to);
      from = newline + 1;
    }
  }

  /** A line ends with a newline, a return, or both. From here on it is always the newline. */
  #withNewlines(chunk: Buffer): Buffer {
    const from = this.#afterReturn && chunk[0] === NEWLINE ? 1 : 0;
    this.#afterReturn = chunk[chunk.length - 1] === RETURN;
    if (!chunk.includes(RETURN)) return chunk.subarray(from);
    const lines = Buffer.allocUnsafe(chunk.length);
    let size = 0;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE && chunk[at - 1] === RETURN) continue;
      lines[size++] = byte === RETURN ? NEWLINE : byte;
    }
    return lines.subarray(0, size);
  }

  /** A line ends with this part of the chunk. */
  #finish(chunk: Buffer, from: number, to: number): void {
    if (this.#unfinished.size === 0) return this.#line(chunk, from, to);
    this.#unfinished.add(chunk, from, to);
    const line = this.#unfinished.take();
    this.#line(line, 0, line.length);
  }

  #line(bytes: Buffer, start: number, to: number): void {
    let from = start;
    if (!this.#begun) {
      this.#begun = true;
      if (BYTE_ORDER_MARK.every((byte, at) => bytes[from + at] === byte)) from += BYTE_ORDER_MARK.length;
    }
    if (from === to) return this.#dispatch();
    if (bytes[from] === COLON) return; // a comment, used as keep-alive
    // Nearly every line is one of these.
    if (isData(bytes, from, to)) return this.#addData(bytes, valueStart(bytes, from + 4, to), to);
    this.#field(bytes.subarray(from, to));
  }

  #field(line: Buffer): void {
    const colon = line.indexOf(COLON);
    const end = colon < 0 ? line.length : colon;
    const value = line.subarray(valueStart(line, end, line.length));
    const field = line.toString("latin1", 0, end);
    if (field === "event") this.#event = value.toString();
    else if (field === "id" && !value.includes(0)) this.#id = value.toString();
    else if (field === "retry" && /^\d{1,9}$/.test(value.toString("latin1"))) {
      this.#options.onRetry?.(Number(value.toString("latin1")));
    }
  }

  #addData(bytes: Buffer, from: number, to: number): void {
    // It counts too: an event of empty lines is not without size.
    if (this.#dataLines++ > 0) this.#data.add(BETWEEN_LINES);
    this.#data.add(bytes, from, to);
    if (this.#data.size > this.#options.maxBytes || this.#dataLines > MAX_LINES) this.#overflow();
  }

  #overflow(): void {
    if (this.#overflown) return;
    this.#overflown = true;
    this.#unfinished.clear();
    this.#data.clear();
    this.#options.onOverflow();
  }

  #dispatch(): void {
    const data = this.#data.take();
    const event = this.#event === "" ? "message" : this.#event;
    this.#dataLines = 0;
    this.#event = "";
    this.#lastEventId = this.#id;
    // The specification would give an empty one; to MCP an event without data says nothing.
    if (data.length === 0) return;
    this.#options.onEvent({ event, data, ...(this.#id === undefined ? {} : { id: this.#id }) });
  }
}

function newlineIn(chunk: Buffer, from: number): number {
  const near = Math.min(from + NEAR_BYTES, chunk.length);
  for (let at = from; at < near; at++) if (chunk[at] === NEWLINE) return at;
  return chunk.indexOf(NEWLINE, near);
}

/** The line's field is `data`. */
function isData(bytes: Buffer, from: number, to: number): boolean {
  return (
    bytes[from] === D &&
    bytes[from + 1] === A &&
    bytes[from + 2] === T &&
    bytes[from + 3] === A &&
    (to === from + 4 || (to > from + 4 && bytes[from + 4] === COLON))
  );
}

/** Of the field that ends here: after the colon, and one space, where they are. */
function valueStart(bytes: Buffer, fieldEnd: number, to: number): number {
  if (fieldEnd === to) return to;
  return fieldEnd + 1 < to && bytes[fieldEnd + 1] === SPACE ? fieldEnd + 2 : fieldEnd + 1;
}

/** One event that carries a message. The message stands on one line (see onOneLine), an id is our own. */
export function sseEvent(message: Buffer, id?: string): Buffer {
  return Buffer.concat([DATA, message, id === undefined ? BLANK : Buffer.from(`\nid: ${id}\n\n`)]);
}

/** An event of another kind than a message: its text stands on one line. */
export function namedSseEvent(event: string, text: string): string {
  return `event: ${event}\ndata: ${text}\n\n`;
}

/** Gives the client an id before there is anything to say, and tells when to come back. */
export function primingSseEvent(id: string, retryMs: number): string {
  return `data: \nid: ${id}\nretry: ${retryMs}\n\n`;
}

export const SSE_KEEP_ALIVE = ": keep-alive\n\n";

const DATA = Buffer.from("data: ");
const BLANK = Buffer.from("\n\n");
