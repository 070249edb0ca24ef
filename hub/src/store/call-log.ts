// The call log in a SQLite file. Decides when rows are committed (once per turn of the event loop) and what happens where
// that fails: calls go on, some rows wait in memory, and writing is tried again until it works.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallEntry, CallLog, CallPage, CallQuery } from "../calls/log.ts";
import type { Redactor } from "../calls/redact.ts";
import { sizeBytes, toStoredCall, type StoredCall } from "../calls/stored-call.ts";
import { HubError } from "../errors.ts";
import { CallPruner, DEFAULT_RETENTION, type Retention } from "./call-pruner.ts";
import { CallReader } from "./call-reader.ts";
import { CALL_LOG_FORM } from "./call-schema.ts";
import { CallWriter } from "./call-writer.ts";
import { isBusy, isDamage, type Database } from "./driver.ts";
import { setAside } from "./set-aside.ts";
import { openDatabase } from "./sqlite.ts";
import { WalSync } from "./wal-sync.ts";

/** How long a call waits for a lock that somebody else holds; not on the event loop. */
const BUSY_MS = 200;
const BUSY_PAUSE_MS = 5;
const RETRY_MS = 500;
const PRUNE_EVERY_MS = 600_000;
/** Rows of one transaction, when there are many: a few milliseconds. */
const MAX_BATCH = 500;
/** What waits in memory while the file cannot be written. */
const MAX_WAITING_ROWS = 10_000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export interface CallLogOptions {
  readonly redactor: Redactor;
  readonly retention?: Partial<Retention>;
  /** Told what people should know: a damaged file, the beginning and the end of a failure. */
  readonly onWarning?: (message: string) => void;
}

/** The file, while it is open. */
interface OpenFile {
  readonly db: Database;
  readonly writer: CallWriter;
  readonly reader: CallReader;
  readonly pruner: CallPruner;
  readonly sync: WalSync;
}

type Health =
  | { readonly state: "writing" }
  | { readonly state: "degraded"; readonly why: string }
  | { readonly state: "closed" };

/** @example const log = await SqliteCallLog.open(join(paths.data, "calls.db"), { redactor }); */
export class SqliteCallLog implements CallLog {
  readonly #path: string;
  readonly #redactor: Redactor;
  readonly #retention: Retention;
  readonly #warn: (message: string) => void;
  readonly #pruneTimer: NodeJS.Timeout;
  #file: OpenFile | undefined;
  #health: Health = { state: "writing" };
  /** Calls that are not in the file yet, oldest first. */
  #waiting: StoredCall[] = [];
  #waitingBytes = 0;
  /** Settles when what is waiting now has been committed, or given up on. */
  #turn: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #recovery: Promise<void> | undefined;
  #pruning: Promise<number> | undefined;
  #bytesSincePrune = 0;
  #lost = 0;

  private constructor(path: string, { redactor, retention, onWarning }: CallLogOptions) {
    this.#path = path;
    this.#redactor = redactor;
    this.#retention = { ...DEFAULT_RETENTION, ...retention };
    this.#warn = onWarning ?? (() => undefined);
    this.#pruneTimer = setInterval(() => this.#pruneSoon(), PRUNE_EVERY_MS).unref();
  }

  /** Never fails: a log that cannot be opened is degraded, and tries again. */
  static async open(path: string, options: CallLogOptions): Promise<SqliteCallLog> {
    const log = new SqliteCallLog(path, options);
    try {
      await log.#open();
      log.#pruneSoon();
    } catch (error) {
      log.#degrade(error);
    }
    return log;
  }

  get degraded(): string | undefined {
    return this.#health.state === "degraded" ? this.#health.why : undefined;
  }

  get lost(): number {
    return this.#lost;
  }

  append(entry: CallEntry): Promise<void> {
    if (this.#health.state === "closed") return Promise.reject(new HubError("DatabaseError", "The call log is closed"));
    const call = toStoredCall(entry, this.#redactor);
    if (this.#health.state === "degraded") {
      this.#keep(call);
      return Promise.resolve();
    }
    this.#add(call);
    this.#turn ??= new Promise((resolve) => setImmediate(() => this.#endTurn(resolve, performance.now())));
    return this.#turn;
  }

  async query(query: CallQuery): Promise<CallPage> {
    const { reader } = this.#requireFile();
    try {
      return await whenFree(() => reader.query(query));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async prune(now = Date.now()): Promise<number> {
    const { pruner } = this.#requireFile();
    // One at a time; the second one finds what the first has left.
    await this.#pruning?.catch(() => undefined);
    this.#pruning = pruner.prune(now, () => this.#health.state !== "writing");
    try {
      return await this.#pruning;
    } catch (error) {
      if (isBusy(error)) return 0; // the next round will do it
      throw this.#failed(error);
    } finally {
      this.#pruning = undefined;
    }
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#recovery;
    if (this.#health.state === "closed") return;
    if (this.#waiting.length > 0) await this.#recover();
    this.#lost += this.#waiting.length;
    this.#health = { state: "closed" };
    clearInterval(this.#pruneTimer);
    clearTimeout(this.#retryTimer);
    await this.#pruning?.catch(() => undefined);
    this.#closeFile();
  }

  /** Commits what came in during one turn of the event loop. */
  #endTurn(resolve: () => void, startedAt: number): void {
    try {
      this.#commit(this.#waiting.length);
    } catch (error) {
      if (isBusy(error) && performance.now() - startedAt < BUSY_MS) {
        // What comes in meanwhile waits with it, so that the order stays.
        setTimeout(() => this.#endTurn(resolve, startedAt), BUSY_PAUSE_MS);
        return;
      }
      this.#degrade(error);
    }
    this.#turn = undefined;
    resolve();
  }

  #commit(count: number): void {
    const calls = count === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, count);
    const { writer, sync } = this.#requireFile();
    writer.write(calls);
    sync.touch();
    const bytes = calls.reduce((sum, call) => sum + sizeBytes(call), 0);
    this.#waiting = calls === this.#waiting ? [] : this.#waiting.slice(count);
    this.#waitingBytes -= bytes;
    this.#bytesSincePrune += bytes;
    // Often enough that the file never grows far beyond its limit.
    if (this.#bytesSincePrune > this.#retention.maxBytes / 64) this.#pruneSoon();
  }

  #add(call: StoredCall): void {
    this.#waiting.push(call);
    this.#waitingBytes += sizeBytes(call);
  }

  /** Keeps a call until the file can be written again; not too many of them. */
  #keep(call: StoredCall): void {
    if (this.#waiting.length >= MAX_WAITING_ROWS || this.#waitingBytes + sizeBytes(call) > MAX_WAITING_BYTES) {
      this.#lost++;
      return;
    }
    // A copy: the bytes may be a small part of a large message, which would be kept as a whole.
    const copy = (bytes: Uint8Array | null) => (bytes === null ? null : Uint8Array.from(bytes));
    this.#add({ ...call, params: copy(call.params), result: copy(call.result) });
  }

  #degrade(error: unknown): void {
    const isNew = this.#health.state === "writing";
    const why = `The call log ${this.#path} cannot be written: ${messageOf(error)}`;
    this.#health = { state: "degraded", why };
    if (isNew) {
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      for (const call of waiting) this.#keep(call);
      this.#warn(`${why}. Calls go on without a record`);
    }
    if (isDamage(error)) void this.#startRecovery(() => this.#replaceFile());
    else this.#retryTimer = setTimeout(() => void this.#startRecovery(), RETRY_MS).unref();
  }

  #startRecovery(before?: () => Promise<void>): Promise<void> {
    this.#recovery ??= this.#recover(before).finally(() => {
      this.#recovery = undefined;
    });
    return this.#recovery;
  }

  /** Never rejects: where it fails, it is tried again. */
  async #recover(before?: () => Promise<void>): Promise<void> {
    try {
      await before?.();
      if (this.#file === undefined) await this.#open();
      while (this.#waiting.length > 0) {
        this.#commit(Math.min(this.#waiting.length, MAX_BATCH));
        await nextTurn();
      }
    } catch (error) {
      this.#degrade(error);
      return;
    }
    if (this.#health.state !== "degraded") return;
    this.#health = { state: "writing" };
    this.#warn(`The call log is written again; ${this.#lost} calls were not recorded since the start`);
  }

  async #open(): Promise<void> {
    const { db, warning } = await openDatabase(this.#path, CALL_LOG_FORM);
    if (warning !== undefined) this.#warn(warning);
    this.#file = {
      db,
      writer: new CallWriter(db),
      reader: new CallReader(db),
      pruner: new CallPruner(db, this.#retention),
      sync: new WalSync(this.#path, () => this.#reopen()),
    };
  }

  /** Somebody removed the file: SQLite would go on writing into what nobody can ever open again. */
  #reopen(): void {
    if (this.#health.state !== "writing") return;
    this.#closeFile();
    this.#degrade(new Error("its file was removed"));
  }

  async #replaceFile(): Promise<void> {
    this.#closeFile();
    this.#warn(await setAside(this.#path, "damaged"));
  }

  #closeFile(): void {
    const file = this.#file;
    this.#file = undefined;
    file?.sync.close();
    try {
      file?.db.close();
    } catch {
      // nothing can be done about a file that does not even close
    }
  }

  #requireFile(): OpenFile {
    if (this.#file !== undefined && this.#health.state !== "closed") return this.#file;
    throw new HubError("DatabaseError", this.degraded ?? "The call log is closed");
  }

  #pruneSoon(): void {
    this.#bytesSincePrune = 0;
    if (this.#pruning !== undefined || this.#health.state !== "writing") return;
    // A failure of it comes back with the next write, which is reported.
    void this.prune().catch(() => undefined);
  }

  /** Anything that went wrong while reading. A damaged file is replaced at once: it will not get better. */
  #failed(error: unknown): HubError {
    if (error instanceof HubError) return error;
    if (isDamage(error) && this.#health.state === "writing") this.#degrade(error);
    const message = `The call log ${this.#path} cannot be read`;
    return new HubError("DatabaseError", message, { detail: messageOf(error), cause: error });
  }
}

async function whenFree<T>(read: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + BUSY_MS;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, BUSY_PAUSE_MS);
    });
  }
}

function messageOf(error: unknown): string {
  if (error instanceof HubError) return error.detail ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
