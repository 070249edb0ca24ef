// MCP over a child's stdin and stdout, the client's side. Starting and ending the process is the caller's.

import type { Readable, Writable } from "node:stream";
import { LineWriter } from "./line-writer.ts";
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

export class StdioChannel implements Channel {
  readonly #lines: LineWriter;

  constructor({ stdin, stdout, maxLineBytes, onMessage, onOverflow }: StdioChannelOptions) {
    this.#lines = new LineWriter(stdin);
    const lines = new LineReader({ maxBytes: maxLineBytes, onLine: onMessage, onOverflow });
    stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    stdout.on("end", () => lines.end());
  }

  send(bytes: Buffer): void {
    this.#lines.write(bytes);
  }
}
