// MCP over a child's stdin and stdout, the client's side. Starting and ending the process is the caller's.

import type { Readable, Writable } from "node:stream";
import { onOneLine } from "./json.ts";
import { LineReader } from "./lines.ts";
import type { Channel } from "./peer.ts";

export interface StdioChannelOptions {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly maxLineBytes: number;
  readonly onMessage: (line: Buffer) => void;
  /** A line past the bound: the connection cannot go on. */
  readonly onOverflow: () => void;
}

const NEWLINE = Buffer.from("\n");

export class StdioChannel implements Channel {
  readonly #stdin: Writable;
  #queue: Buffer[] = [];

  constructor({ stdin, stdout, maxLineBytes, onMessage, onOverflow }: StdioChannelOptions) {
    this.#stdin = stdin;
    const lines = new LineReader({ maxBytes: maxLineBytes, onLine: onMessage, onOverflow });
    stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    stdout.on("end", () => lines.end());
  }

  /**
   * Messages of one turn of the event loop are written together: a pipe costs by the write. A client's own line breaks
   * must not get this far: what stands between two of them would be a message of its own, unseen by any check.
   */
  send(bytes: Buffer): void {
    this.#queue.push(onOneLine(bytes), NEWLINE);
    if (this.#queue.length === 2) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    if (this.#stdin.writable) this.#stdin.write(Buffer.concat(queue));
  }
}
