// The file of the structured log: lines are gathered and written together, at the latest after a second and when the process
// ends. One that has grown large is kept aside, and the one aside before it goes.

import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./atomic.ts";

const GATHER_BYTES = 32 << 10;
const GATHER_MS = 1000;
const MAX_FILE_BYTES = 16 << 20;
/** Lines that a full disk does not take yet; more are dropped. */
const MAX_WAITING_BYTES = 1 << 20;

export interface LogFileOptions {
  readonly maxBytes?: number | undefined;
  /** Told why it cannot be written; once. */
  readonly onError: (code: string) => void;
}

export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #onError: (code: string) => void;
  #lines: string[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  /** None where it could not be opened; that is tried again with the next lines. */
  #fd: number | undefined;
  #size = 0;
  #hasFailed = false;

  constructor(path: string, { maxBytes = MAX_FILE_BYTES, onError }: LogFileOptions) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#onError = onError;
    try {
      this.#fd = this.#open();
    } catch (error) {
      this.#fail(error);
    }
    process.once("exit", () => this.flush());
  }

  #open(): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const fd = openSync(this.#path, "a", 0o600);
    this.#size = fstatSync(fd).size;
    return this.#size > this.#maxBytes ? this.#keepAside(fd) : fd;
  }

  write(line: string): void {
    if (this.#waiting > MAX_WAITING_BYTES) return;
    this.#lines.push(line);
    this.#waiting += line.length;
    if (this.#waiting >= GATHER_BYTES && !this.#hasFailed) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length > 0) this.#writeLines(Buffer.from(this.#lines.join("")));
  }

  /** On the spot: handing so few bytes to a thread would cost more than writing them. */
  #writeLines(bytes: Buffer): void {
    let written = 0;
    try {
      const fd = (this.#fd ??= this.#open());
      while (written < bytes.length) written += writeSync(fd, bytes, written);
      this.#lines = [];
      this.#hasFailed = false;
    } catch (error) {
      // What was not taken is tried again with the next lines.
      this.#lines = [bytes.toString("utf8", written)];
      this.#fail(error);
    }
    this.#waiting = bytes.length - written;
    this.#size += written;
    if (this.#size > this.#maxBytes && this.#fd !== undefined) this.#fd = this.#keepAside(this.#fd);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true; // before it is told: that is a line too
    this.#onError(errorCode(error) ?? "unknown error");
  }

  /** Goes on in a new file; where that cannot be had, in the old one. */
  #keepAside(old: number): number {
    this.#size = 0;
    try {
      renameSync(this.#path, `${this.#path}.1`);
      const fd = openSync(this.#path, "a", 0o600);
      closeSync(old);
      return fd;
    } catch {
      return old;
    }
  }
}
