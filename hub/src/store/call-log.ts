// The call log in a SQLite file. Decides when calls are committed (once per turn of the event loop) and what happens where
// that fails: calls go on, some wait in memory, and writing is tried again until it works.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallEntry, CallLog, CallPage, CallQuery } from "../calls/log.ts";
import { toStoredCall, type Keeping, type StoredCall } from "../calls/stored-call.ts";
import { HubError } from "../errors.ts";
import { CallFile } from "./call-file.ts";
import { DEFAULT_RETENTION, type Retention } from "./call-pruner.ts";
import { isBusy, isDamage, sqliteCode } from "./driver.ts";
import { setAside } from "./set-aside.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** How long a call waits for a lock that somebody else holds; not on the event loop. */
const BUSY_MS = 200;
const BUSY_PAUSE_MS = 5;
const RETRY_MS = 500;
const PRUNE_EVERY_MS = 600_000;
/** Calls of one transaction, when there are many: a few milliseconds. */
const MAX_BATCH = 500;

export interface CallLogOptions extends Keeping {
  readonly retention?: Partial<Retention>;
  /** Told what people should know: a damaged file, the beginning and the end of a failure. */
  readonly onWarning?: (message: string) => void;
}

/** What helps: waiting, opening the file anew where it was removed, or another one where it is damaged. */
type Remedy = "wait" | "reopen" | "replace";

type Health =
  | { readonly state: "writing" }
  | { readonly state: "degraded"; readonly why: string; readonly remedy: Remedy }
  | { readonly state: "closed" };

/** @example const log = await SqliteCallLog.open(join(paths.data, "calls.db"), { redactor }); */
export class SqliteCallLog implements CallLog {
  readonly #path: string;
  readonly #keeping: Keeping;
  readonly #retention: Retention;
  readonly #warn: (message: string) => void;
  readonly #pruneTimer: NodeJS.Timeout;
  readonly #waiting = new WaitingCalls();
  #file: CallFile | undefined;
  #health: Health = { state: "writing" };
  /** Settles when what is waiting now has been committed, or given up on. */
  #turn: Promise<void> | undefined;
  #recovery: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** The last one; the next waits for it. */
  #pruning: Promise<unknown> = Promise.resolve();
  #bytesSincePrune = 0;
  #lost = 0;

  private constructor(path: string, { retention, onWarning, ...keeping }: CallLogOptions) {
    this.#path = path;
    this.#keeping = keeping;
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
    const call = this.#toCall(entry);
    if (this.#health.state !== "writing") {
      // After closing it is a call that outlasted the hub's patience: its answer must not fail for that.
      if (this.#health.state === "closed" || !this.#waiting.keep(call)) this.#lost++;
      return Promise.resolve();
    }
    this.#waiting.add(call);
    this.#turn ??= new Promise((resolve) => setImmediate(() => this.#endTurn(resolve, performance.now())));
    return this.#turn;
  }

  async query(query: CallQuery): Promise<CallPage> {
    const file = this.#requireFile();
    try {
      return await whenFree(() => file.query(query));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async stats(query: CallStatsQuery): Promise<ServerStats[]> {
    const file = this.#requireFile();
    try {
      return await whenFree(() => file.stats(query));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async prune(now = Date.now()): Promise<number> {
    const file = this.#requireFile();
    const pruning = this.#pruning.then(() => file.prune(now));
    // A failure is for whoever asked, not for the next one.
    this.#pruning = pruning.catch(() => undefined);
    try {
      return await pruning;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async close(): Promise<void> {
    await this.#turn;
    if (this.#health.state === "closed") return;
    if (this.#waiting.length > 0 || this.#recovery !== undefined) await this.#startRecovery();
    this.#health = { state: "closed" };
    this.#lost += this.#waiting.length;
    clearInterval(this.#pruneTimer);
    clearTimeout(this.#retryTimer);
    await this.#closeFile();
    await this.#pruning;
  }

  /** Whatever a server sends, its answer must not fail because we cannot record it. */
  #toCall(entry: CallEntry): StoredCall {
    try {
      return toStoredCall(entry, this.#keeping);
    } catch (error) {
      this.#warn(`The contents of a call to ${entry.server} are not kept: ${messageOf(error)}`);
      return toStoredCall({ ...entry, params: undefined, result: undefined }, this.#keeping);
    }
  }

  /** Commits what came in during one turn of the event loop. */
  #endTurn(resolve: () => void, startedAt: number): void {
    try {
      // Where reading met damage meanwhile, what is waiting is for the next file.
      if (this.#health.state === "writing") this.#commit(this.#waiting.length);
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
    const file = this.#requireFile();
    try {
      file.write(this.#waiting.first(count));
    } catch (error) {
      if (sqliteCode(error) !== undefined) throw error;
      // Not the file is at fault but these calls: they would fail again, and hold up all the others.
      this.#lost += Math.min(count, this.#waiting.length);
      this.#warn(`Calls could not be recorded: ${messageOf(error)}`);
    }
    this.#bytesSincePrune += this.#waiting.remove(count);
    // Often enough that the file never grows far beyond its limit.
    if (this.#bytesSincePrune > this.#retention.maxBytes / 64) this.#pruneSoon();
  }

  #degrade(error: unknown, remedy: Remedy = isDamage(error) ? "replace" : "wait"): void {
    if (this.#health.state === "closed") return;
    const isNew = this.#health.state === "writing";
    const why = `The call log ${this.#path} cannot be written: ${messageOf(error)}`;
    this.#health = { state: "degraded", why, remedy };
    if (isNew) {
      // Those of this turn may have to wait for long now.
      const calls = this.#waiting.first(this.#waiting.length);
      this.#waiting.remove(calls.length);
      for (const call of calls) if (!this.#waiting.keep(call)) this.#lost++;
      this.#warn(`${why}. Calls go on, and are recorded later or not at all`);
    }
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#startRecovery(), remedy === "wait" ? RETRY_MS : 0).unref();
  }

  /** Never rejects: where it fails, it is tried again. */
  #startRecovery(): Promise<void> {
    this.#recovery ??= this.#recover()
      .catch((error: unknown) => this.#degrade(error))
      .finally(() => {
        this.#recovery = undefined;
      });
    return this.#recovery;
  }

  async #recover(): Promise<void> {
    const remedy = this.#health.state === "degraded" ? this.#health.remedy : "wait";
    if (remedy !== "wait") await this.#closeFile();
    if (remedy === "replace") this.#warn(await setAside(this.#path, "damaged"));
    if (this.#file === undefined) await this.#open();
    while (this.#waiting.length > 0) {
      this.#commit(MAX_BATCH);
      await nextTurn();
    }
    if (this.#health.state !== "degraded") return;
    this.#health = { state: "writing" };
    this.#warn(`The call log is written again; ${this.#lost} calls were not recorded since the start`);
  }

  async #open(): Promise<void> {
    const file = await CallFile.open(this.#path, {
      retention: this.#retention,
      onWarning: this.#warn,
      // SQLite would go on writing into what nobody can ever open again.
      onMissing: () => this.#degrade(new Error("its file was removed"), "reopen"),
    });
    if (this.#health.state === "closed") await file.close();
    else this.#file = file;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #requireFile(): CallFile {
    if (this.#file !== undefined) return this.#file;
    throw new HubError("DatabaseError", this.degraded ?? "The call log is closed");
  }

  #pruneSoon(): void {
    this.#bytesSincePrune = 0;
    // A failure of it comes back with the next write, which is reported.
    if (this.#health.state === "writing") void this.prune().catch(() => undefined);
  }

  /** What went wrong while reading, or while pruning. */
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
    await sleep(BUSY_PAUSE_MS);
  }
}

function messageOf(error: unknown): string {
  if (error instanceof HubError) return error.detail ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
