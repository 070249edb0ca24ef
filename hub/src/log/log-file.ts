// The file of the structured log. Buffers lines for up to a second, and flushes them when the process exits. A file that has grown too
// large is renamed to `.1`, which replaces the previous one.

import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";

const BUFFER_BYTES = 32 << 10;
const FLUSH_MS = 1000;
const MAX_FILE_BYTES = 16 << 20;
/** Lines kept for a retry while the disk is full; more are dropped. */
const MAX_WAITING_BYTES = 1 << 20;

export interface LogFileOptions {
  readonly maxBytes?: number | undefined;
  /** Called once per series of failed writes, with the error code. */
  readonly onError: (code: string) => void;
}

export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #onError: (code: string) => void;
  #lines: string[] = [];
  #bufferedBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Undefined if the file could not be opened; the next flush tries again. */
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
    return this.#size > this.#maxBytes ? this.#rotate(fd) : fd;
  }

  write(line: string): void {
    if (this.#bufferedBytes > MAX_WAITING_BYTES) return;
    this.#lines.push(line);
    this.#bufferedBytes += line.length;
    if (this.#bufferedBytes >= BUFFER_BYTES && !this.#hasFailed) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length > 0) this.#writeLines(Buffer.from(this.#lines.join("")));
  }

  /** Synchronous: for so few bytes a thread would cost more than the write. */
  #writeLines(bytes: Buffer): void {
    let written = 0;
    try {
      const fd = (this.#fd ??= this.#open());
      while (written < bytes.length) written += writeSync(fd, bytes, written);
      this.#lines = [];
      this.#hasFailed = false;
    } catch (error) {
      // The rest is retried with the next lines.
      this.#lines = [bytes.toString("utf8", written)];
      this.#fail(error);
    }
    this.#bufferedBytes = bytes.length - written;
    this.#size += written;
    if (this.#size > this.#maxBytes && this.#fd !== undefined) this.#fd = this.#rotate(this.#fd);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true; // before onError, which logs a line
    this.#onError(errorCode(error) ?? "unknown error");
  }

  /** Continues in a new file, or in the old one if that fails. */
  #rotate(old: number): number {
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
