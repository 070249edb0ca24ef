// The journal: NDJSON files to which calls are appended before they are forwarded and before they are answered. A write survives
// a kill of the process at once, and a power loss after about a second. ingest.ts moves the lines into the database.

import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, fdatasync, fstatSync, ftruncateSync } from "node:fs";
import { mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { isAlive } from "@plugboard/shared/process-identity";
import { isObject } from "../../lib/json/json.ts";
import type { Captured, RawHead, StoredEnd, StoredStart } from "../call-record.ts";

const SYNC_MS = 1000;
const NAME = /^((?:\d+)-(?:\d+)-[0-9a-f]+)\.(\d+)\.(ndjson|journal)(\.closed|\.over)?$/;
const CLOSED = ".closed";
/** The payload is the last member. In front of it this text cannot occur: a quote inside of a JSON string is escaped. */
const PAYLOAD = ',"payload":';

/** The start or the end of a call, as read: a damaged file may contain anything. */
export interface JournalLine {
  readonly isFinish: boolean;
  /** The id of the call in this journal. */
  readonly id: number;
  readonly head: RawHead;
  readonly payload: string | null;
}

export function openLine(id: number, { head, payload }: Captured<StoredStart>): string {
  return toLine("open", id, head, payload);
}

export function finishLine(id: number, { head, payload }: Captured<StoredEnd>): string {
  return toLine("finish", id, head, payload);
}

export function isFinishLine(line: string): boolean {
  return line.startsWith('{"finish"');
}

/** The payload is valid JSON on one line already, so it is not parsed. */
function toLine(kind: "open" | "finish", id: number, head: object, payload: Buffer | undefined): string {
  const members = JSON.stringify(head).slice(1, -1);
  const rest = payload === undefined ? "" : PAYLOAD + payload.toString();
  return `{"${kind}":${id},${members}${rest}}\n`;
}

/** @param line without the newline. Returns undefined if it is damaged. */
export function parseLine(line: string): JournalLine | undefined {
  const split = line.indexOf(PAYLOAD);
  const payload = split === -1 ? null : line.slice(split + PAYLOAD.length, -1);
  try {
    const head: unknown = JSON.parse(split === -1 ? line : `${line.slice(0, split)}}`);
    if (!isObject(head)) return undefined;
    const isFinish = "finish" in head;
    const id = head[isFinish ? "finish" : "open"];
    return typeof id === "number" ? { isFinish, id, head, payload } : undefined;
  } catch {
    return undefined;
  }
}

export class Journal {
  readonly #folder: string;
  readonly #writer: string;
  readonly #onMissing: () => void;
  #fd: number | undefined;
  #number = 0;
  #size = 0;
  #syncTimer: NodeJS.Timeout | undefined;

  /** `onMissing`: another process removed the file. */
  constructor(folder: string, writer: string, onMissing: () => void) {
    this.#folder = folder;
    this.#writer = writer;
    this.#onMissing = onMissing;
  }

  /** Bytes in the current file. */
  get size(): number {
    return this.#size;
  }

  /** Writes all lines, or throws and writes nothing. Returns the number of bytes. */
  write(lines: string): number {
    const fd = (this.#fd ??= this.#open());
    const bytes = Buffer.from(lines);
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
    } catch (error) {
      ftruncateSync(fd, this.#size);
      throw errorCode(error) === "ENOSPC" ? new Error("the disk is full", { cause: error }) : error;
    }
    this.#size += bytes.length;
    this.#syncTimer ??= setTimeout(() => this.#sync(), SYNC_MS).unref();
    return bytes.length;
  }

  /** Continues in a new file that starts with `lines`. Throws and keeps the old file if the new one cannot be written. */
  rotate(lines: string): void {
    const old = { fd: this.#fd, size: this.#size };
    this.#fd = undefined;
    try {
      this.write(lines);
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
    const fd = openSync(join(this.#folder, `${this.#writer}.${++this.#number}.ndjson`), "ax", 0o600);
    this.#size = 0;
    return fd;
  }

  #sync(): void {
    this.#syncTimer = undefined;
    const fd = this.#fd;
    if (fd === undefined) return;
    if (fstatSync(fd).nlink === 0) return this.#onMissing();
    // Off the event loop. A failure shows at the next write.
    fdatasync(fd, () => {});
  }
}

export interface JournalFile {
  /** Its name in the folder. */
  readonly file: string;
  /** Its name before it was closed. */
  readonly name: string;
  readonly writer: string;
  /** Grows with each file of one writer. */
  readonly number: number;
  /** The writer has closed it, though its process may be alive. */
  readonly isClosed: boolean;
  /** In the binary format of an earlier version, which is not read any more. */
  readonly isOldFormat: boolean;
}

export function parseJournalName(file: string): JournalFile | undefined {
  const [, writer, number, format, suffix = ""] = NAME.exec(file) ?? [];
  if (writer === undefined) return undefined;
  return {
    file,
    name: file.slice(0, file.length - suffix.length),
    writer,
    number: Number(number),
    isClosed: suffix !== "",
    isOldFormat: format === "journal",
  };
}

export function closedName({ name }: JournalFile): string {
  return name + CLOSED;
}

/** Beside the database. */
export function journalFolder(database: string): string {
  return `${database.replace(/\.db$/, "")}.journals`;
}

/** Identifies one log of one process. Process ids are reused, in containers at every start, so it contains the start time. */
export function newWriter(): string {
  return `${process.pid}-${startOf(process.pid)?.ticks ?? 0}-${randomBytes(4).toString("hex")}`;
}

export function isWriterAlive(writer: string): boolean {
  const [pid = 0, ticks] = writer.split("-").map(Number);
  if (!isAlive(pid)) return false;
  const started = startOf(pid);
  // Without /proc only the process id can be compared.
  return started === undefined || (started.ticks === ticks && !started.isZombie);
}

/** When a process started, in clock ticks since the boot. */
function startOf(pid: number): { readonly ticks: number; readonly isZombie: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The fields after the command name, which may contain spaces and brackets; the start time is field 22.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { ticks: Number(fields[19]), isZombie: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}
