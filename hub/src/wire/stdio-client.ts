// MCP over a child's stdin and stdout, the client's side. Starting and ending the process is the caller's.

import type { Readable, Writable } from "node:stream";
import { HubError } from "../errors.ts";
import { LineWriter } from "./line-writer.ts";
import { LineReader } from "./lines.ts";
import type { Channel } from "./peer.ts";

/** Beyond what a pipe holds, for a server that is busy; one that has stopped reading must not fill the hub's memory. */
const MAX_UNREAD_BYTES = 32 << 20;

export interface StdioChannelOptions {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly maxLineBytes: number;
  readonly onMessage: (line: Buffer) => void;
  /** A line past the bound: the connection cannot go on. */
  readonly onOverflow: () => void;
  /** For how long nothing is to be read; asked after each message. */
  readonly pauseMs?: () => number | undefined;
}

export class StdioChannel implements Channel {
  readonly #lines: LineWriter;

  constructor({ stdin, stdout, maxLineBytes, onMessage, onOverflow, pauseMs }: StdioChannelOptions) {
    this.#lines = new LineWriter(stdin);
    let waitMs: number | undefined;
    const isFull = () => (waitMs = pauseMs?.()) !== undefined;
    const lines = new LineReader({ maxBytes: maxLineBytes, onLine: onMessage, onOverflow, isFull });
    const goOn = () => {
      if (lines.resume()) stdout.resume();
      else wait();
    };
    const wait = () => {
      if (waitMs === undefined || waitMs === 0) setImmediate(goOn);
      else setTimeout(goOn, waitMs);
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
      const message = "The server does not read what it is sent";
      throw new HubError("Overloaded", message, { detail: `${this.#lines.unwrittenBytes} bytes wait` });
    }
    this.#lines.write(bytes);
  }
}
