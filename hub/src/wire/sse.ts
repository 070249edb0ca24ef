// Server-sent events, both ways: a bounded parser on bytes, and the writer's side.

import { LineReader } from "./lines.ts";
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
const DATA_FIELD = Buffer.from("data");
/** Pretty-printed JSON has many. Each costs time of its own, so their bytes alone are no bound. */
const MAX_LINES = 1_000_000;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Feeds on chunks, gives whole events. A blank line ends an event, so lines are read with the empty ones kept. */
export class SseParser {
  readonly #options: SseParserOptions;
  readonly #lines: LineReader;
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
    this.#lines = new LineReader({
      maxBytes: options.maxBytes,
      keepEmpty: true,
      onLine: (line) => this.#line(line),
      onOverflow: () => this.#overflow(),
    });
  }

  /** Of the last whole event, one without data included: where a lost stream is taken up again. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  push(chunk: Buffer): void {
    if (!this.#overflown && chunk.length > 0) this.#lines.push(this.#withNewlines(chunk));
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

  #line(given: Buffer): void {
    if (this.#overflown) return;
    const marked = !this.#begun && given.indexOf(BYTE_ORDER_MARK) === 0;
    const line = marked ? given.subarray(BYTE_ORDER_MARK.length) : given;
    this.#begun = true;
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(COLON);
    if (colon === 0) return; // a comment, used as keep-alive
    const fieldEnd = colon < 0 ? line.length : colon;
    const valueStart = colon < 0 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const value = line.subarray(valueStart);
    // Nearly every line is one of these: no text is made of its name.
    if (fieldEnd === DATA_FIELD.length && line.indexOf(DATA_FIELD) === 0) return this.#addData(value);
    const field = line.toString("latin1", 0, fieldEnd);
    if (field === "event") this.#event = value.toString();
    else if (field === "id" && !value.includes(0)) this.#id = value.toString();
    else if (field === "retry" && /^\d{1,9}$/.test(value.toString("latin1"))) {
      this.#options.onRetry?.(Number(value.toString("latin1")));
    }
  }

  #addData(value: Buffer): void {
    // It counts too: an event of empty lines is not without size.
    if (this.#dataLines++ > 0) this.#data.add(BETWEEN_LINES);
    this.#data.add(value);
    if (this.#data.size > this.#options.maxBytes || this.#dataLines > MAX_LINES) this.#overflow();
  }

  #overflow(): void {
    if (this.#overflown) return;
    this.#overflown = true;
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
