// Server-sent events, both ways: a bounded parser on bytes, and the writer's side.

import { LineReader } from "./lines.ts";

export interface SseEvent {
  readonly event: string;
  readonly data: Buffer;
  readonly id?: string;
}

export interface SseParserOptions {
  readonly maxBytes: number;
  onEvent(event: SseEvent): void;
  onRetry?(ms: number): void;
  /** A line or an event grew past the bound; what follows is ignored. */
  onOverflow(): void;
}

const COLON = 0x3a;
const SPACE = 0x20;
const NEWLINE = Buffer.from("\n");

/** Feeds on chunks, gives whole events. A blank line ends an event, so lines are read with the empty ones kept. */
export class SseParser {
  readonly #options: SseParserOptions;
  readonly #lines: LineReader;
  #data: Buffer[] = [];
  #size = 0;
  #event = "message";
  #id: string | undefined;
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

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  #line(line: Buffer): void {
    if (this.#overflown) return;
    if (line.length === 0) return this.#dispatch();
    const colon = line.indexOf(COLON);
    if (colon === 0) return; // a comment, used as keep-alive
    const field = line.toString("latin1", 0, colon < 0 ? line.length : colon);
    const valueStart = colon < 0 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const value = line.subarray(valueStart);
    if (field === "data") this.#addData(value);
    else if (field === "event") this.#event = value.toString();
    else if (field === "id") this.#id = value.toString();
    else if (field === "retry" && /^\d{1,9}$/.test(value.toString("latin1"))) {
      this.#options.onRetry?.(Number(value.toString("latin1")));
    }
  }

  #addData(value: Buffer): void {
    if (this.#data.length > 0) this.#data.push(NEWLINE);
    this.#data.push(value);
    // The newlines count too: an event of empty lines is not without size.
    this.#size += this.#data.length === 1 ? value.length : value.length + 1;
    if (this.#size > this.#options.maxBytes) this.#overflow();
  }

  #overflow(): void {
    if (this.#overflown) return;
    this.#overflown = true;
    this.#data = [];
    this.#options.onOverflow();
  }

  #dispatch(): void {
    const data = this.#data.length === 1 ? this.#data[0] : Buffer.concat(this.#data);
    const event = this.#event;
    this.#data = [];
    this.#size = 0;
    this.#event = "message";
    if (data === undefined || data.length === 0) return;
    this.#options.onEvent({ event, data, ...(this.#id === undefined ? {} : { id: this.#id }) });
  }
}

/** One event that carries a message. The message stands on one line (see onOneLine). */
export function sseEvent(message: Buffer): Buffer {
  return Buffer.concat([DATA, message, BLANK]);
}

export const SSE_KEEP_ALIVE = ": keep-alive\n\n";

const DATA = Buffer.from("data: ");
const BLANK = Buffer.from("\n\n");
