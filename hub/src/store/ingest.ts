// Enters what stands in the journals into the database: that of this process again and again, those of processes that were
// killed once, with their unfinished calls as of unknown outcome. How far each was entered is part of the same commit, so a
// kill at any moment enters nothing twice and loses nothing.

import { closeSync, openSync, readdirSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../atomic.ts";
import { UNKNOWN_OUTCOME } from "../calls/log.ts";
import type { Route, StoredEnd, StoredOpening, StoredParts } from "../calls/stored-call.ts";
import { InFlight } from "../wire/in-flight.ts";
import type { CallStore } from "./call-store.ts";
import { findBlock, MAX_BLOCK_BYTES, readBlock, type Block, type BlockReader } from "./journal-block.ts";
import { isAlive, overName, parseJournalName, type JournalFile } from "./journal-writer.ts";

/** Calls of one transaction; a few more, since a block is entered whole. */
const MAX_BATCH = 4000;
const READ_BYTES = 2 * MAX_BLOCK_BYTES;
/** A journal of which nothing is wanted any more: it is removed next. */
const FINISHED = Number.MAX_SAFE_INTEGER;
const UNKNOWN: StoredEnd = {
  result: null,
  outcome: "failed",
  durationUs: 0,
  errorCode: UNKNOWN_OUTCOME,
  truncated: false,
};

/** What has been read of one writer's files, in their order. */
interface Reading {
  /** Calls that have begun and not ended yet. */
  readonly begun: InFlight<number, Begun>;
  /** By the numbers that the writer gave them. */
  readonly routes: Map<number, Route>;
  /** By file: how far it has been read, and how far entered. */
  readonly read: Map<string, { at: number; done: number }>;
}

/** One object for each call, from its beginning on: there are many. */
interface Begun extends StoredParts {
  /** Its parameters are a view of the bytes that are being read, as long as those are there: most calls end in them, too. */
  opening: StoredOpening;
  /** Unknown for as long as the call goes on. */
  end: StoredEnd;
}

type FileState = "growing" | "full" | "last";

/** What is known of the file that they stand in. */
interface Blocks {
  readonly name: string;
  readonly state: FileState;
  readonly isOrderly: boolean;
}

export interface IngestOptions {
  readonly folder: string;
  /** The writer of this process, whose last file goes on growing. */
  readonly own: string;
  readonly store: CallStore;
  readonly onWarning: (message: string) => void;
}

export class Ingest {
  readonly #options: IngestOptions;
  readonly #readings = new Map<string, Reading>();
  /** Used again and again: the memory of another one each time would have to be given by the kernel, page by page. */
  readonly #bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  #generation = 0;
  /** What should have been whole could not be read: somebody has touched it, so all of it is checked from then on. */
  #isWary = false;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  /** Enters all that is there of this process. `isLast`: it writes no more. Rejects where the database cannot be written. */
  enterOwn({ isLast = false } = {}): Promise<void> {
    const { own } = this.#options;
    return this.#enter(own, this.#filesByWriter().get(own) ?? [], { isOver: isLast });
  }

  /** Enters what those have left who are no more. */
  async enterLeft(): Promise<void> {
    for (const [writer, files] of this.#filesByWriter()) {
      const isOver = files.every((file) => file.isOver) || (writer !== this.#options.own && !isAlive(writer));
      if (isOver) await this.#enter(writer, files, { isOver });
    }
  }

  /** Leaves to others what this process has written and could not enter. */
  leaveOwn(): void {
    const { own, folder } = this.#options;
    for (const file of this.#filesByWriter().get(own) ?? [])
      renameSync(join(folder, file.file), join(folder, overName(file)));
  }

  async #enter(writer: string, files: readonly JournalFile[], { isOver }: { isOver: boolean }): Promise<void> {
    const { store } = this.#options;
    await store.ready();
    if (this.#generation !== store.generation) this.#readings.clear();
    this.#generation = store.generation;
    const reading = this.#readings.get(writer) ?? newReading();
    this.#readings.set(writer, reading);
    try {
      for (const file of files) {
        const isNewest = file === files.at(-1);
        await this.#enterFile(file, reading, isNewest ? (isOver ? "last" : "growing") : "full");
      }
    } catch (error) {
      // What was read has not been entered: from the beginning, next time.
      this.#readings.delete(writer);
      throw error;
    }
    if (isOver) this.#readings.delete(writer);
  }

  /** `full`: calls that are still open go on in the next file. `last`: they go on nowhere. */
  async #enterFile(file: JournalFile, reading: Reading, state: FileState): Promise<void> {
    const { store } = this.#options;
    const { name } = file;
    const place = reading.read.get(name) ?? { at: 0, done: store.doneOf(name) };
    reading.read.set(name, place);
    const calls: StoredParts[] = [];
    const reader = joining(reading, calls);
    // Of our own one each block was written by this process, which lives.
    const isOrderly = file.writer === this.#options.own && !this.#isWary;
    const enter = async (to: number) => {
      await store.write(calls, { journal: name, from: place.done, to });
      place.done = to;
      calls.length = 0;
    };
    if (place.done !== FINISHED) {
      for (const bytes of pieces(join(this.#options.folder, file.file), () => place.at, this.#bytes)) {
        const from = place.at;
        for (const block of this.#blocks(bytes, { name, state, isOrderly })) {
          this.#readBlock(bytes, block, reader);
          place.at = from + block.next;
          if (place.at <= place.done) calls.length = 0;
          else if (calls.length >= MAX_BATCH) await enter(place.at);
        }
        if (place.at === from) break;
        if (calls.length > 0) await enter(place.at);
        keep(reading, bytes);
      }
      if (state === "last") calls.push(...reading.begun.values());
      if (state !== "growing") await enter(FINISHED);
    }
    if (state === "growing") return;
    // The next file says all of them anew.
    reading.routes.clear();
    this.#remove(file, reading);
  }

  /** Those that are whole. */
  *#blocks(bytes: Buffer, { name, state, isOrderly }: Blocks): Generator<Block> {
    for (let at = 0; ;) {
      const found = findBlock(bytes, at, { isOrderly });
      if (found.state !== "block") {
        // At the end of a file that grows, the rest is on its way; of one that does not, it was cut off by a kill.
        if (found.state === "damaged" && state !== "growing") this.#warnOf(name);
        return;
      }
      yield found;
      at = found.next;
    }
  }

  #readBlock(bytes: Buffer, block: Block, reader: BlockReader): void {
    try {
      readBlock(bytes, block, reader);
    } catch (error) {
      this.#isWary = true;
      throw error;
    }
  }

  #remove({ file, name }: JournalFile, reading: Reading): void {
    const { store, folder } = this.#options;
    store.sync();
    rmSync(join(folder, file), { force: true });
    store.forget(name);
    reading.read.delete(name);
  }

  #filesByWriter(): Map<string, JournalFile[]> {
    const files = listed(this.#options.folder).flatMap((name) => parseJournalName(name) ?? []);
    const byWriter = new Map<string, JournalFile[]>();
    for (const file of files.toSorted((a, b) => a.number - b.number)) {
      byWriter.set(file.writer, [...(byWriter.get(file.writer) ?? []), file]);
    }
    return byWriter;
  }

  #warnOf(name: string): void {
    this.#options.onWarning(`A part of ${name} is damaged: the calls in it are not in the call log`);
  }
}

/** Gives calls that go on parameters of their own: the bytes that were read are used again. */
function keep({ begun }: Reading, bytes: Buffer): void {
  for (const call of begun.values()) {
    const { params } = call.opening;
    // Not by `slice`, which makes no copy of a Buffer.
    if (params?.buffer === bytes.buffer) call.opening = { ...call.opening, params: new Uint8Array(params) };
  }
}

function newReading(): Reading {
  return { begun: new InFlight(), routes: new Map(), read: new Map() };
}

/** Puts together the beginnings and the ends of calls. */
function joining({ begun, routes }: Reading, calls: StoredParts[]): BlockReader {
  return {
    onRoute: (number, route) => void routes.set(number, route),
    onBegin: (id, number, opening) => {
      const route = routes.get(number);
      if (route !== undefined) begun.set(id, { route, opening, end: UNKNOWN });
    },
    onEnd: (id, end) => {
      const call = begun.get(id);
      if (call === undefined) return;
      begun.delete(id);
      call.end = end;
      calls.push(call);
    },
  };
}

/** The rest of a file from a place that moves on, in pieces that hold at least one block; each is gone with the next. */
function* pieces(path: string, from: () => number, into: Buffer): Generator<Buffer> {
  const fd = openSync(path, "r");
  try {
    for (;;) {
      const length = readSync(fd, into, 0, into.length, from());
      if (length === 0) return;
      yield into.subarray(0, length);
    }
  } finally {
    closeSync(fd);
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
