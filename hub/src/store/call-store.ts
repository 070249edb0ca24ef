// The database of the call log, and what happens where it cannot be used: it is tried again until it works, opened anew
// where it was removed, replaced where it is damaged. Runs in a thread of its own (call-worker.ts), so that it may block.

import { setTimeout as sleep } from "node:timers/promises";
import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallPage, CallQuery } from "../calls/log.ts";
import type { StoredParts } from "../calls/stored-call.ts";
import { HubError } from "../errors.ts";
import { CallFile } from "./call-file.ts";
import type { Retention } from "./retention.ts";
import { EnteredElsewhere, type JournalMark } from "./call-writer.ts";
import { isBusy, isDamage } from "./driver.ts";
import { setAside } from "./set-aside.ts";

/** How long a lock that somebody else holds is nothing to speak of. */
const BUSY_MS = 1000;
const BUSY_PAUSE_MS = 10;
const PRUNE_EVERY_MS = 600_000;

export interface CallStoreOptions {
  readonly retention: Retention;
  /** Told what people should know: a damaged file, the beginning and the end of a failure. */
  readonly onWarning: (message: string) => void;
  /** Why it cannot be written; undefined when it can be again. */
  readonly onDegraded: (why: string | undefined) => void;
}

export class CallStore {
  readonly #path: string;
  readonly #options: CallStoreOptions;
  readonly #pruneTimer: NodeJS.Timeout;
  #file: CallFile | undefined;
  #opening: Promise<void> | undefined;
  #degraded: string | undefined;
  /** The last one; the next waits for it. */
  #pruning: Promise<unknown> = Promise.resolve();
  /** The last one that nobody asked for, with what follows from its failure. */
  #tidying: Promise<unknown> = Promise.resolve();
  #bytesSincePrune = 0;
  #generation = 0;
  #isClosed = false;

  constructor(path: string, options: CallStoreOptions) {
    this.#path = path;
    this.#options = options;
    this.#pruneTimer = setInterval(() => this.#pruneSoon(), PRUNE_EVERY_MS);
  }

  /** Another one with each file that is opened: what is known of the last one's contents is void. */
  get generation(): number {
    return this.#generation;
  }

  /** Makes sure that there is a file to write to; rejects where that cannot be. */
  ready(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    if (this.#file !== undefined && !this.#file.isThere()) await this.#closeFile();
    if (this.#file !== undefined) return;
    if (this.#isClosed) throw new HubError("DatabaseError", `The call log ${this.#path} is closed`);
    const { retention, onWarning } = this.#options;
    try {
      this.#file = await CallFile.open(this.#path, { retention, onWarning });
    } catch (error) {
      this.#degrade(error);
      throw error;
    }
    this.#generation++;
    this.#recovered();
    this.#pruneSoon();
  }

  /** How far a journal has been entered. */
  doneOf(journal: string): number {
    return this.#requireFile().doneOf(journal);
  }

  /** All of them and the mark, or none and an error. */
  async write(calls: readonly StoredParts[], mark: JournalMark): Promise<void> {
    const file = this.#requireFile();
    let bytes: number;
    try {
      bytes = await whenFree(() => file.write(calls, mark));
    } catch (error) {
      if (!(error instanceof EnteredElsewhere)) await this.#failed(error);
      throw error;
    }
    this.#recovered();
    this.#bytesSincePrune += bytes;
    // Often enough that the file never grows far beyond its limit.
    if (this.#bytesSincePrune > this.#options.retention.maxBytes / 64) this.#pruneSoon();
  }

  /** After it the machine may lose its power. */
  sync(): void {
    this.#file?.sync();
  }

  forget(journal: string): void {
    this.#requireFile().forget(journal);
  }

  query(query: CallQuery): Promise<CallPage> {
    return this.#read((file) => file.query(query));
  }

  stats(query: CallStatsQuery): Promise<ServerStats[]> {
    return this.#read((file) => file.stats(query));
  }

  async prune(now: number): Promise<number> {
    const file = this.#requireFile();
    const pruning = this.#pruning.then(() => file.prune(now));
    // A failure is for whoever asked, not for the next one.
    this.#pruning = pruning.catch(() => undefined);
    try {
      return await pruning;
    } catch (error) {
      throw await this.#unreadable(error);
    }
  }

  async #read<T>(read: (file: CallFile) => Promise<T>): Promise<T> {
    const file = this.#requireFile();
    try {
      return await whenFree(() => read(file));
    } catch (error) {
      throw await this.#unreadable(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pruneTimer);
    await this.#closeFile();
    // A failure of it may have opened another one meanwhile.
    await this.#tidying;
    await this.#closeFile();
  }

  async #failed(failure: unknown): Promise<void> {
    this.#degrade(failure);
    if (!isDamage(failure) || this.#isClosed) return;
    await this.#closeFile();
    this.#options.onWarning(await setAside(this.#path, "damaged"));
    try {
      await this.ready();
    } catch {
      // told by it, and tried again
    }
  }

  #recovered(): void {
    if (this.#degraded === undefined) return;
    this.#degraded = undefined;
    this.#options.onDegraded(undefined);
    this.#options.onWarning("The call log is written again");
  }

  #degrade(error: unknown): void {
    const why = `The call log ${this.#path} cannot be written: ${messageOf(error)}`;
    if (this.#degraded === undefined) {
      this.#options.onWarning(`${why}. Calls go on, and are entered into it when it can be`);
    }
    if (this.#degraded !== why) this.#options.onDegraded(why);
    this.#degraded = why;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
    await this.#pruning;
  }

  #requireFile(): CallFile {
    if (this.#file !== undefined) return this.#file;
    throw new HubError("DatabaseError", this.#degraded ?? `The call log ${this.#path} is not open`);
  }

  #pruneSoon(): void {
    this.#bytesSincePrune = 0;
    // A failure of it comes back with the next write, which is reported.
    if (this.#file !== undefined) this.#tidying = this.prune(Date.now()).catch(() => undefined);
  }

  /** What went wrong while reading, or while pruning. */
  async #unreadable(error: unknown): Promise<HubError> {
    if (error instanceof HubError) return error;
    if (isDamage(error) && this.#file !== undefined) await this.#failed(error);
    const message = `The call log ${this.#path} cannot be read`;
    return new HubError("DatabaseError", message, { detail: messageOf(error) });
  }
}

async function whenFree<T>(act: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(BUSY_PAUSE_MS);
  }
}

function messageOf(error: unknown): string {
  if (error instanceof HubError) return error.detail ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
