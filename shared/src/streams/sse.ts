// Server-sent events: a bounded parser on bytes, and functions that write events.

import { Chunks } from "./chunks.ts";

export interface SseEvent {
  readonly event: string;
  readonly data: Buffer;
  readonly id?: string;
}

export interface SseParserOptions {
  readonly maxBytes: number;
  onEvent(event: SseEvent): void;
  onRetry?(ms: number): void;
  /** A line or event is too large, or has too many lines. All further input is ignored. */
  onOverflow(): void;
}

const COLON = 0x3a;
const SPACE = 0x20;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
const BETWEEN_LINES = Buffer.from("\n");
const [D, A, T] = Buffer.from("dat");
/** Pretty-printed JSON has many lines. Each costs time, so the size in bytes is not bound enough. */
const MAX_LINES = 1_000_000;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/**
 * Converts chunks to complete events. Does not create a buffer per line: an event may have a million lines, and that would block
 * the event loop.
 */
export class SseParser {
  readonly #options: SseParserOptions;
  /** The incomplete line. */
  readonly #unfinished = new Chunks();
  readonly #data = new Chunks();
  #dataLines = 0;
  #event = "";
  #id: string | undefined;
  #lastEventId: string | undefined;
  #hasBegun = false;
  #afterReturn = false;
  #hasOverflowed = false;

  constructor(options: SseParserOptions) {
    this.#options = options;
  }

  /** The id of the last complete event, with or without data: a lost stream is resumed from here. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  push(given: Buffer): void {
    if (given.length === 0) return;
    const chunk = this.#withNewlines(given);
    let from = 0;
    while (!this.#hasOverflowed) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline < 0 ? chunk.length : newline;
      if (this.#unfinished.size + to - from > this.#options.maxBytes) return this.#overflow();
      if (newline < 0) return this.#unfinished.add(chunk, from, to);
      this.#finish(chunk, from, to);
      from = newline + 1;
    }
  }

  /** Normalizes line ends (CR, LF or CRLF) to LF. */
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

  #finish(chunk: Buffer, from: number, to: number): void {
    if (this.#unfinished.size === 0) return this.#line(chunk, from, to);
    this.#unfinished.add(chunk, from, to);
    const line = this.#unfinished.take();
    this.#line(line, 0, line.length);
  }

  #line(bytes: Buffer, start: number, to: number): void {
    let from = start;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (BYTE_ORDER_MARK.every((byte, at) => bytes[from + at] === byte)) from += BYTE_ORDER_MARK.length;
    }
    if (from === to) return this.#dispatch();
    if (bytes[from] === COLON) return; // a comment, used as keep-alive
    // Fast path: most lines are data.
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
    // The separator counts too: an event of empty lines has a size.
    if (this.#dataLines++ > 0) this.#data.add(BETWEEN_LINES);
    this.#data.add(bytes, from, to);
    if (this.#data.size > this.#options.maxBytes || this.#dataLines > MAX_LINES) this.#overflow();
  }

  #overflow(): void {
    if (this.#hasOverflowed) return;
    this.#hasOverflowed = true;
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
    // MCP ignores events without data.
    if (data.length === 0) return;
    this.#options.onEvent({ event, data, ...(this.#id === undefined ? {} : { id: this.#id }) });
  }
}

/** An event is larger than its reader allows. */
export class SseOverflow extends Error {
  override readonly name = "SseOverflow";
}

/** The events of a body, those of each chunk together. Rejects with SseOverflow. */
export async function* sseEvents(
  body: AsyncIterable<Uint8Array>,
  { maxBytes }: Pick<SseParserOptions, "maxBytes">,
): AsyncGenerator<readonly SseEvent[]> {
  let events: SseEvent[] = [];
  let isTooLarge = false;
  const parser = new SseParser({
    maxBytes,
    onEvent: (event) => events.push(event),
    onOverflow: () => (isTooLarge = true),
  });
  for await (const { buffer, byteOffset, byteLength } of body) {
    parser.push(Buffer.from(buffer, byteOffset, byteLength));
    if (isTooLarge) throw new SseOverflow(`An event is larger than ${maxBytes} bytes`);
    yield events;
    events = [];
  }
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

/** The start of the value: after the colon and one optional space. */
function valueStart(bytes: Buffer, fieldEnd: number, to: number): number {
  if (fieldEnd === to) return to;
  return fieldEnd + 1 < to && bytes[fieldEnd + 1] === SPACE ? fieldEnd + 2 : fieldEnd + 1;
}

/** An event with a message. The message has to be on one line (see onOneLine). */
export function sseEvent(message: Buffer, id?: string): Buffer {
  return Buffer.concat([DATA, message, id === undefined ? BLANK : Buffer.from(`\nid: ${id}\n\n`)]);
}

/** An event with a name. The text has to be on one line. */
export function namedSseEvent(event: string, text: string): string {
  return `event: ${event}\ndata: ${text}\n\n`;
}

/** An event without data that gives the client an id to resume from, and the retry interval. */
export function primingSseEvent(id: string, retryMs: number): string {
  return `data: \nid: ${id}\nretry: ${retryMs}\n\n`;
}

export const SSE_KEEP_ALIVE = ": keep-alive\n\n";

const DATA = Buffer.from("data: ");
const BLANK = Buffer.from("\n\n");
