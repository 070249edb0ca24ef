// The file that a call is written to before anything else happens with it: one plain write, no database. It outlives a kill
// of the process at once, and the machine's power within a second. What is in it is entered into the database by ingest.ts.

import { chmodSync, closeSync, fdatasync, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../atomic.ts";
import { journalName } from "./journal-writer.ts";

/** What a loss of power can cost at most, besides what the disk itself loses. */
const SYNC_MS = 1000;

export class Journal {
  readonly #folder: string;
  readonly #writer: string;
  readonly #onMissing: () => void;
  #fd: number | undefined;
  #number = 0;
  #size = 0;
  #syncTimer: NodeJS.Timeout | undefined;

  /** `onMissing`: somebody has removed the file under our hands. */
  constructor(folder: string, writer: string, onMissing: () => void) {
    this.#folder = folder;
    this.#writer = writer;
    this.#onMissing = onMissing;
  }

  /** Of the file that is written now. */
  get size(): number {
    return this.#size;
  }

  /** All of it, or an error. */
  write(bytes: Buffer): void {
    const fd = (this.#fd ??= this.#open());
    try {
      writeWhole(fd, bytes);
    } catch (error) {
      // A piece of a record would hide all that follow.
      ftruncateSync(fd, this.#size);
      throw errorCode(error) === "ENOSPC" ? new Error("the disk is full", { cause: error }) : error;
    }
    this.#size += bytes.length;
    this.#syncTimer ??= setTimeout(() => this.#sync(), SYNC_MS).unref();
  }

  /** Goes on in a new file; `first` is written to it before the old one is let go of. */
  rotate(first: Iterable<Buffer>): void {
    const old = { fd: this.#fd, size: this.#size };
    this.#fd = undefined;
    try {
      for (const bytes of first) this.write(bytes);
      this.#fd ??= this.#open();
    } catch (error) {
      if (this.#fd !== undefined) closeSync(this.#fd);
      this.#fd = old.fd;
      this.#size = old.size;
      throw error;
    }
    if (old.fd !== undefined) closeSync(old.fd);
  }

  close(): void {
    clearTimeout(this.#syncTimer);
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    if (mkdirSync(this.#folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(this.#folder, 0o700);
    const fd = openSync(join(this.#folder, journalName(this.#writer, ++this.#number)), "ax", 0o600);
    this.#size = 0;
    return fd;
  }

  #sync(): void {
    this.#syncTimer = undefined;
    const fd = this.#fd;
    if (fd === undefined) return;
    if (fstatSync(fd).nlink === 0) return this.#onMissing();
    // Off the event loop. A failure shows at the next write; one that has been closed meanwhile needs none.
    fdatasync(fd, () => {});
  }
}

function writeWhole(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
}
