// MCP over a child's stdin and stdout, client side. The caller starts and ends the process.

import type { Readable, Writable } from "node:stream";
import { HubError } from "../../errors.ts";
import { LineWriter } from "../../lib/streams/line-writer.ts";
import { LineReader } from "../../lib/streams/lines.ts";
import type { Channel } from "./peer.ts";

/** Buffer for a server that is busy. A server that has stopped reading must not fill the hub's memory. */
const MAX_UNREAD_BYTES = 32 << 20;

export interface StdioChannelOptions {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly maxLineBytes: number;
  readonly onMessage: (line: Buffer) => void;
  /** A line is too long: the connection is unusable. */
  readonly onOverflow: () => void;
  /** How long to stop reading; called after each message. */
  readonly pauseMs?: () => number | undefined;
}

export class StdioChannel implements Channel {
  readonly #lines: LineWriter;

  constructor({ stdin, stdout, maxLineBytes, onMessage, onOverflow, pauseMs }: StdioChannelOptions) {
    this.#lines = new LineWriter(stdin);
    let waitMs: number | undefined;
    const isFull = () => (waitMs = pauseMs?.()) !== undefined;
    const lines = new LineReader({ maxBytes: maxLineBytes, onLine: onMessage, onOverflow, isFull });
    const resume = () => {
      if (lines.resume()) stdout.resume();
      else wait();
    };
    const wait = () => {
      if (waitMs === undefined || waitMs === 0) setImmediate(resume);
      else setTimeout(resume, waitMs);
    };
    stdout.on("data", (chunk: Buffer) => {
      if (lines.push(chunk)) return;
      stdout.pause();
      wait();
    });
    stdout.on("end", () => lines.end());
  }

  send(bytes: Buffer): void {
    if (this.#lines.unwrittenBytes + bytes.length > MAX_UNREAD_BYTES) {
      const message = "The server does not read its input";
      throw new HubError("Overloaded", message, { detail: `${this.#lines.unwrittenBytes} bytes wait` });
    }
    this.#lines.write(bytes);
  }
}
