// Ingests the journals into the database: the one of this process repeatedly, those of killed processes once, with their
// unfinished calls as of unknown outcome. The position in a journal is committed together with its calls, so a kill at any
// moment neither loses a call nor ingests it twice.

import { closeSync, openSync, readdirSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { joinCall, readEnd, readStart, type StoredCall, type StoredStart } from "../call-record.ts";
import { UNKNOWN_OUTCOME } from "../port.ts";
import { closedName, isWriterAlive, parseJournalName, parseLine, type JournalFile } from "./journal.ts";
import type { CallStore } from "./call-store.ts";

/** Read and committed at once. A line is at most about 75 KB long. */
const READ_BYTES = 1 << 20;
const NEWLINE = 0x0a;
/** The position of a journal that is ingested completely and can be removed. */
const FINISHED = Number.MAX_SAFE_INTEGER;
const UNKNOWN_END = readEnd({ outcome: "failed", durationUs: 0, errorCode: UNKNOWN_OUTCOME });

interface OpenCall {
  readonly start: StoredStart;
  params: string | null;
}

/** The state of the journal files of one writer. */
interface Reading {
  readonly open: Map<number, OpenCall>;
  /** Bytes that were read, and bytes that are in the database, by file. */
  readonly positions: Map<string, { read: number; done: number }>;
}

/** `full`: calls that are still open continue in the next file. `last`: they continue nowhere. */
type FileState = "growing" | "full" | "last";

export interface IngestOptions {
  readonly folder: string;
  /** The writer of this process, whose last file is growing. */
  readonly own: string;
  readonly store: CallStore;
  readonly onWarning: (message: string) => void;
}

export class Ingest {
  readonly #options: IngestOptions;
  readonly #readings = new Map<string, Reading>();
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #warned = new Set<string>();
  #generation = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  /** Ingests all lines of this process. `isLast`: no more will follow. Rejects if the database cannot be written. */
  ingestOwn({ isLast = false } = {}): Promise<void> {
    const { own } = this.#options;
    return this.#ingest(own, this.#filesByWriter().get(own) ?? [], { isLast });
  }

  /** Ingests the journals of processes that have ended. */
  async ingestOrphans(): Promise<void> {
    for (const [writer, files] of this.#filesByWriter()) {
      const isEnded =
        files.every(({ isClosed }) => isClosed) || (writer !== this.#options.own && !isWriterAlive(writer));
      if (isEnded) await this.#ingest(writer, files, { isLast: true });
    }
  }

  /** Leaves the journal of this process to others. */
  abandonOwn(): void {
    const { own, folder } = this.#options;
    for (const file of this.#filesByWriter().get(own) ?? [])
      renameSync(join(folder, file.file), join(folder, closedName(file)));
  }

  async #ingest(writer: string, files: readonly JournalFile[], { isLast }: { isLast: boolean }): Promise<void> {
    const { store } = this.#options;
    await store.ready();
    // In another database the positions are different ones.
    if (this.#generation !== store.generation) this.#readings.clear();
    this.#generation = store.generation;
    const reading = this.#readings.get(writer) ?? { open: new Map(), positions: new Map() };
    this.#readings.set(writer, reading);
    try {
      for (const file of files) {
        const isNewest = file === files.at(-1);
        await this.#ingestFile(file, reading, isNewest ? (isLast ? "last" : "growing") : "full");
      }
    } catch (error) {
      // The lines were read but not committed: read them again next time.
      this.#readings.delete(writer);
      throw error;
    }
    if (isLast) this.#readings.delete(writer);
  }

  async #ingestFile(file: JournalFile, reading: Reading, state: FileState): Promise<void> {
    const { store, folder } = this.#options;
    const { name } = file;
    const position = reading.positions.get(name) ?? { read: 0, done: await store.doneOf(name) };
    reading.positions.set(name, position);
    const commit = async (calls: readonly StoredCall[], to: number) => {
      await store.insert(calls, { journal: name, from: position.done, to });
      position.done = to;
    };
    if (position.done !== FINISHED) {
      for (;;) {
        // Up to `done` the lines are read again only to know which calls are open.
        const isDone = position.read < position.done;
        const limit = isDone ? Math.min(READ_BYTES, position.done - position.read) : READ_BYTES;
        const bytes = this.#read(join(folder, file.file), position.read, limit);
        const length = bytes.lastIndexOf(NEWLINE) + 1;
        // An incomplete line is being written, or was cut off by a kill.
        if (length === 0) break;
        const calls = this.#joinLines(bytes.toString("utf8", 0, length - 1), reading, name);
        position.read += length;
        if (!isDone && calls.length > 0) await commit(calls, position.read);
      }
      const unfinished = state === "last" ? [...reading.open.values()] : [];
      if (state !== "growing") {
        await commit(
          unfinished.map(({ start, params }) => joinCall(start, UNKNOWN_END, { params, result: null })),
          FINISHED,
        );
      }
    }
    if (state === "growing") return;
    store.sync();
    rmSync(join(folder, file.file), { force: true });
    await store.forgetJournal(name);
    reading.positions.delete(name);
  }

  #read(path: string, from: number, length: number): Buffer {
    const fd = openSync(path, "r");
    try {
      return this.#buffer.subarray(0, readSync(fd, this.#buffer, 0, length, from));
    } finally {
      closeSync(fd);
    }
  }

  /** The calls that finish in these lines. */
  #joinLines(lines: string, { open }: Reading, name: string): StoredCall[] {
    const calls: StoredCall[] = [];
    const opened = new Set<OpenCall>();
    for (const line of lines.split("\n").map(parseLine)) {
      if (line === undefined) {
        this.#warnOnce(`A line of ${name} is damaged: its call is not in the call log`);
      } else if (line.isFinish) {
        const call = open.get(line.id);
        if (call === undefined) continue;
        open.delete(line.id);
        opened.delete(call);
        calls.push(joinCall(call.start, readEnd(line.head), { params: call.params, result: line.payload }));
      } else {
        const call = { start: readStart(line.head), params: line.payload };
        open.set(line.id, call);
        opened.add(call);
      }
    }
    // A part of a string keeps the whole string in memory; calls that stay open get a copy.
    for (const call of opened) if (call.params !== null) call.params = Buffer.from(call.params).toString();
    return calls;
  }

  #filesByWriter(): Map<string, JournalFile[]> {
    const byWriter = new Map<string, JournalFile[]>();
    const files = listFolder(this.#options.folder).flatMap((name) => parseJournalName(name) ?? []);
    for (const file of files.toSorted((a, b) => a.number - b.number)) {
      if (file.isOldFormat) this.#setAside(file);
      else byWriter.set(file.writer, [...(byWriter.get(file.writer) ?? []), file]);
    }
    return byWriter;
  }

  /** A journal in the format of an earlier version, which may still be running. */
  #setAside({ file, writer, isClosed }: JournalFile): void {
    if (!isClosed && isWriterAlive(writer)) return;
    const path = join(this.#options.folder, file);
    renameSync(path, `${path}.old`);
    this.#warnOnce(`The journal ${path} was written by an earlier version: it was renamed to ${file}.old`);
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.onWarning(message);
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
