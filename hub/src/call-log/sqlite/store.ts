// The database of the call log, with recovery: a locked one is tried again, a removed one is created
// again, a damaged one is set aside. Runs in the worker thread, so it may block.

import { closeSync, fdatasyncSync, openSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, isDamage, type Database } from "@plugboard/shared/sqlite/driver";
import { HubError } from "../../errors.ts";
import { sizeBytes, type StoredCall } from "../call-record.ts";
import type { CallCount, CallLogUsage, CallNeighbours, CallPage, CallQuery, CallSummaryPage } from "../port.ts";
import type { Retention } from "../port.ts";
import type { CallSeries, SeriesQuery } from "../series.ts";
import type { CallStatsQuery, ServerStats } from "../stats.ts";
import { countCalls, findNeighbours, readSeries, readStats } from "./call-search.ts";
import { AlreadyIngested, type CallStore, type CallStoreOptions, type JournalMark } from "../journal/call-store.ts";
import { CallTable, scrub } from "./call-table.ts";
import { openLog } from "./open-log.ts";
import { setAside } from "./quarantine.ts";

/** A lock that is held for less is not reported. */
const BUSY_MS = 1000;
const BUSY_PAUSE_MS = 10;
const PRUNE_EVERY_MS = 600_000;

interface OpenFile {
  readonly db: Database;
  readonly table: CallTable;
  readonly inode: number | undefined;
  /** Checked by work that pauses, after each pause. */
  isClosed: boolean;
}

export class SqliteCallStore implements CallStore {
  readonly #path: string;
  readonly #options: CallStoreOptions;
  readonly #pruneTimer: NodeJS.Timeout;
  #retention: Retention;
  #file: OpenFile | undefined;
  #opening: Promise<void> | undefined;
  #degraded: string | undefined;
  /** The last prune; the next one waits for it. */
  #pruning: Promise<unknown> = Promise.resolve();
  #bytesSincePrune = 0;
  #generation = 0;
  #isClosed = false;

  constructor(path: string, options: CallStoreOptions) {
    this.#path = path;
    this.#options = options;
    this.#retention = options.retention;
    this.#pruneTimer = setInterval(() => this.#pruneInBackground(), PRUNE_EVERY_MS);
  }

  /** Changes with each file that is opened. */
  get generation(): number {
    return this.#generation;
  }

  /** Makes sure that a database is open; rejects if that is impossible. */
  ready(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    // SQLite would continue to write to a removed file.
    if (this.#file !== undefined && inodeOf(this.#path) !== this.#file.inode) await this.#closeFile();
    if (this.#file !== undefined) return;
    if (this.#isClosed) throw new HubError("DatabaseError", `The call log ${this.#path} is closed`);
    try {
      const { db, warning } = await openLog(this.#path);
      if (warning !== undefined) this.#options.onWarning(warning);
      this.#file = { db, table: new CallTable(db), inode: inodeOf(this.#path), isClosed: false };
    } catch (error) {
      this.#degrade(error);
      throw error;
    }
    this.#generation++;
    this.#recovered();
    this.#pruneInBackground();
  }

  doneOf(journal: string): number {
    return this.#requireFile().table.doneOf(journal);
  }

  forgetJournal(journal: string): void {
    this.#requireFile().table.forgetJournal(journal);
  }

  /** Inserts all calls and the mark, or nothing and rejects. */
  async insert(calls: readonly StoredCall[], mark: JournalMark): Promise<void> {
    const { table } = this.#requireFile();
    try {
      await retryWhileBusy(() => table.insert(calls, mark));
    } catch (error) {
      if (!(error instanceof AlreadyIngested)) await this.#failed(error);
      throw error;
    }
    this.#recovered();
    for (const call of calls) this.#bytesSincePrune += sizeBytes(call);
    // Often enough that the file never grows far beyond its limit.
    if (this.#bytesSincePrune > this.#retention.maxBytes / 64) this.#pruneInBackground();
  }

  /** Makes the last commit survive a power loss. SQLite in its NORMAL mode does so only at a checkpoint. */
  sync(): void {
    const fd = openSync(`${this.#path}-wal`, "r+");
    try {
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  query(query: CallQuery): Promise<CallPage> {
    return this.#read(({ table }) => table.query(query));
  }

  summaries(query: CallQuery): Promise<CallSummaryPage> {
    return this.#read(({ table }) => table.summaries(query));
  }

  count(query: CallQuery): Promise<CallCount> {
    return this.#read(({ db }) => countCalls(db, query));
  }

  neighbours(id: number): Promise<CallNeighbours | undefined> {
    return this.#read(async ({ db }) => findNeighbours(db, id));
  }

  series(query: SeriesQuery): Promise<CallSeries> {
    return this.#read(({ db }) => readSeries(db, query));
  }

  deleteBefore(at: number): Promise<number> {
    return this.#read((file) => file.table.deleteBefore(at, () => file.isClosed));
  }

  stats(query: CallStatsQuery): Promise<ServerStats[]> {
    return this.#read(({ db }) => readStats(db, query));
  }

  usage(): Promise<CallLogUsage> {
    return this.#read(async ({ table }) => table.usage());
  }

  /** The next prune applies it. */
  retain(retention: Retention): void {
    this.#retention = retention;
  }

  /** Verifies all rows and warns about damage. A file that SQLite cannot read is set aside. */
  async scrub(): Promise<void> {
    await this.ready();
    const fault = await this.#read((file) => scrub(file.db, () => file.isClosed));
    if (fault === undefined) return;
    const fix = "It stays in use. To replace it: plugboard stop, then plugboard doctor --fix";
    this.#options.onWarning(`The call log ${this.#path} is damaged: ${fault}. ${fix}`);
  }

  async prune(now: number): Promise<number> {
    const file = this.#requireFile();
    const isStopped = () => file.isClosed;
    const pruning = this.#pruning.then(() => (isStopped() ? 0 : file.table.prune(now, this.#retention, isStopped)));
    this.#pruning = pruning.catch(() => undefined); // reported to the caller of prune()
    try {
      return await pruning;
    } catch (error) {
      throw await this.#unreadable(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pruneTimer);
    await this.#closeFile();
  }

  async #read<T>(read: (file: OpenFile) => Promise<T>): Promise<T> {
    const file = this.#requireFile();
    try {
      return await retryWhileBusy(() => read(file));
    } catch (error) {
      throw await this.#unreadable(error);
    }
  }

  async #failed(error: unknown): Promise<void> {
    this.#degrade(error);
    if (!isDamage(error) || this.#isClosed || this.#file === undefined) return;
    await this.#closeFile();
    this.#options.onWarning(await setAside(this.#path, "damaged"));
    try {
      await this.ready();
    } catch {
      // reported as degraded
    }
  }

  #recovered(): void {
    if (this.#degraded === undefined) return;
    this.#degraded = undefined;
    this.#options.onDegraded(undefined);
    this.#options.onWarning("The call log can be written again");
  }

  #degrade(error: unknown): void {
    const reason = `The call log ${this.#path} cannot be written: ${messageOf(error)}`;
    if (this.#degraded === undefined) {
      this.#options.onWarning(`${reason}. Calls continue, and are added to it later`);
    }
    if (this.#degraded !== reason) this.#options.onDegraded(reason);
    this.#degraded = reason;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    file.isClosed = true;
    try {
      await file.db.close();
    } catch {
      // a damaged file may fail to close
    }
  }

  #requireFile(): OpenFile {
    if (this.#file !== undefined) return this.#file;
    throw new HubError("DatabaseError", this.#degraded ?? `The call log ${this.#path} is not open`);
  }

  #pruneInBackground(): void {
    this.#bytesSincePrune = 0;
    // A failure shows again at the next write, which reports it.
    if (this.#file !== undefined) void this.prune(Date.now()).catch(() => undefined);
  }

  async #unreadable(error: unknown): Promise<HubError> {
    if (error instanceof HubError) return error;
    if (isDamage(error)) await this.#failed(error);
    return new HubError("DatabaseError", `The call log ${this.#path} cannot be read`, { detail: messageOf(error) });
  }
}

async function retryWhileBusy<T>(act: () => T | Promise<T>): Promise<T> {
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

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function messageOf(error: unknown): string {
  if (error instanceof HubError) return error.detail ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
