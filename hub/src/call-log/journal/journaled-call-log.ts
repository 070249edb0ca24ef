// The call log on disk. Calls are appended to a journal, with one write for all calls of an event-loop turn; a worker thread
// ingests the journal into a database. If the journal cannot be written, calls continue, and a bounded number of lines waits in memory.

import { readdirSync } from "node:fs";
import { HubError } from "../../errors.ts";
import { captureEnd, captureStart, type CaptureOptions } from "../call-record.ts";
import type { CallCount, CallEnd, CallLog, CallNeighbours, CallPage, CallQuery, CallStart } from "../port.ts";
import type { CallLogUsage, CallSummaryPage, OpenCall, Retention } from "../port.ts";
import type { CallSeries, SeriesQuery } from "../series.ts";
import type { CallStatsQuery, ServerStats } from "../stats.ts";
import { finishLine, isFinishLine, Journal, newWriter, openLine } from "./journal.ts";
import { WorkerClient, type WorkerName } from "./worker-client.ts";

const RETRY_MS = 500;
/** Bounds of the lines that wait while the journal cannot be written. */
const MAX_WAITING_LINES = 20_000;
const MAX_WAITING_SIZE = 16 << 20;
/** A journal is read from its start after a kill, so its size is limited. */
const MAX_JOURNAL_BYTES = 8 << 20;
/** Written but not ingested: beyond it the database has been unusable for long, and calls are not recorded. */
const MAX_BEHIND_BYTES = 256 << 20;
/** Ingestion in batches takes less CPU than call by call. */
const INGEST_EVERY_MS = 250;
/** A worker that is not running is started for this many bytes, or after this time. */
const WAKE_BYTES = 64 << 10;
const WAKE_AFTER_MS = 10_000;
/** After the start of the hub, and never for commands that open the log for a moment. */
const SCRUB_AFTER_MS = 60_000;
const SCRUB_EVERY_MS = 24 * 3_600_000;

export interface CallLogOptions extends CaptureOptions {
  readonly retention?: Partial<Retention>;
  /** Receives warnings for users: a damaged file, the start and the end of a failure. */
  readonly onWarning?: (message: string) => void;
  readonly maxBehindBytes?: number;
  readonly wakeAfterMs?: number;
  /** How long an idle worker thread keeps running. */
  readonly idleMs?: number;
  readonly scrubAfterMs?: number;
  readonly scrubEveryMs?: number;
}

/** Where the calls of the journal go. */
export interface JournalTarget {
  /** For messages. */
  readonly name: string;
  readonly worker: WorkerName;
  /** For the worker thread: plain data. */
  readonly address: unknown;
  /** Of the journals. */
  readonly folder: string;
  /** Whether there may be calls. */
  readonly exists: () => boolean;
  readonly defaults: Retention;
  /** How long the end of a call waits until it is in the database, at most. Undefined: only for the journal. */
  readonly waitMs: number | undefined;
}

/** An end of a call that waits until it is in the database. */
interface Waiting {
  /** Bytes of all journals, with it. */
  readonly position: number;
  readonly resolve: () => void;
}

export class JournaledCallLog implements CallLog {
  readonly #target: JournalTarget;
  readonly #options: CallLogOptions;
  readonly #capture: CaptureOptions;
  readonly #journal: Journal;
  readonly #worker: WorkerClient;
  #retention: Retention;
  /** The journal lines of calls that are under way, by id: a new journal starts with them. */
  readonly #open = new Map<number, string>();
  /** Lines that are not written yet. */
  #lines: string[] = [];
  /** Their length in characters. */
  #waitingSize = 0;
  /** Settled when #lines are written. */
  #flushing: Promise<void> | undefined;
  #lastBatch = 0;
  #lastId = 0;
  #lost = 0;
  /** Bytes of all journals: written, and ingested by the worker. */
  #written = 0;
  #ingested = 0;
  /** In the order of their positions. */
  #waiting: Waiting[] = [];
  #isIngesting = false;
  #isClosed = false;
  #journalProblem: string | undefined;
  #databaseProblem: string | undefined;
  #ingestTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #scrubTimer: NodeJS.Timeout | undefined;

  constructor(target: JournalTarget, options: CallLogOptions) {
    const writer = newWriter();
    this.#target = target;
    this.#options = options;
    const { redactor, keep } = options;
    const onPayloadError = (server: string, error: unknown) =>
      this.#warn(`The payload of a call to ${server} is not recorded: ${messageOf(error)}`);
    this.#capture = { redactor, keep, onPayloadError };
    this.#journal = new Journal(target.folder, writer, () => this.#rotateJournal());
    this.#retention = { ...target.defaults, ...options.retention };
    this.#worker = new WorkerClient(
      target.worker,
      { address: target.address, folder: target.folder, writer, retention: this.#retention },
      {
        onIngested: (upTo) => this.#onIngested(upTo),
        onDegraded: (reason) => {
          this.#databaseProblem = reason;
          // Their calls are in the journal, and are ingested when the database is back.
          if (reason !== undefined) this.#release(Infinity);
        },
        onWarning: (message) => this.#warn(message),
      },
      options.idleMs,
    );
    this.#scheduleScrub(options.scrubAfterMs ?? SCRUB_AFTER_MS);
  }

  get degraded(): string | undefined {
    return this.#journalProblem ?? this.#databaseProblem;
  }

  get lost(): number {
    return this.#lost;
  }

  begin(call: CallStart): OpenCall {
    const id = ++this.#lastId;
    const { server } = call;
    const finish = (end: CallEnd) => this.#finish(id, server, end);
    // Without its start the end of a call is useless.
    if (this.#isRefusing) return { finish };
    const line = openLine(id, captureStart(call, this.#capture));
    this.#open.set(id, line);
    if (!this.#hasRoomFor(line)) {
      this.#open.delete(id);
      return { finish };
    }
    return { begun: this.#append(line), finish };
  }

  #finish(id: number, server: string, end: CallEnd): Promise<void> | undefined {
    const isOpen = this.#open.delete(id);
    if (isOpen && !this.#isRefusing) {
      const line = finishLine(id, captureEnd(end, server, this.#capture));
      if (this.#hasRoomFor(line)) return this.#untilStored(this.#append(line));
    }
    this.#lost++;
    return undefined;
  }

  async query(query: CallQuery): Promise<CallPage> {
    this.#ingestNow();
    return this.#worker.request("query", query);
  }

  async summaries(query: CallQuery): Promise<CallSummaryPage> {
    this.#ingestNow();
    return this.#worker.request("summaries", query);
  }

  async count(query: CallQuery): Promise<CallCount> {
    this.#ingestNow();
    return this.#worker.request("count", query);
  }

  async neighbours(id: number): Promise<CallNeighbours | undefined> {
    this.#ingestNow();
    return this.#worker.request("neighbours", id);
  }

  async series(query: SeriesQuery): Promise<CallSeries> {
    this.#ingestNow();
    return this.#worker.request("series", query);
  }

  async deleteBefore(at: number): Promise<number> {
    this.#ingestNow();
    return this.#worker.request("deleteBefore", at);
  }

  async stats(query: CallStatsQuery): Promise<ServerStats[]> {
    this.#ingestNow();
    return this.#worker.request("stats", query);
  }

  async usage(): Promise<CallLogUsage> {
    this.#ingestNow();
    return this.#worker.request("usage", undefined);
  }

  get retention(): Retention {
    return this.#retention;
  }

  retain(retention: Partial<Retention>): void {
    if (this.#isClosed) return;
    this.#retention = { ...this.#target.defaults, ...retention };
    this.#worker.retain(this.#retention);
    // A failure shows at the next write, which reports it.
    if (this.#target.exists()) void this.prune().catch(() => undefined);
  }

  async prune(now = Date.now()): Promise<number> {
    this.#ingestNow();
    return this.#worker.request("prune", now);
  }

  recover(): void {
    if (hasFiles(this.#target.folder)) this.#worker.post({ type: "ingestOrphans" });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    for (const timer of [this.#ingestTimer, this.#retryTimer, this.#scrubTimer]) clearTimeout(timer);
    this.#flush();
    this.#isClosed = true;
    this.#release(Infinity);
    clearTimeout(this.#retryTimer);
    this.#lost += this.#lines.filter(isFinishLine).length;
    this.#journal.close();
    if (this.#written > 0 || this.#worker.isRunning) await this.#worker.close();
  }

  /** True after closing as well: a call that outlives the hub's shutdown must still be answered. */
  get #isRefusing(): boolean {
    const { maxBehindBytes = MAX_BEHIND_BYTES } = this.#options;
    return this.#isClosed || this.#written - this.#ingested > maxBehindBytes;
  }

  #hasRoomFor(line: string): boolean {
    if (this.#journalProblem === undefined) return true;
    return this.#lines.length < MAX_WAITING_LINES && this.#waitingSize + line.length <= MAX_WAITING_SIZE;
  }

  /** Group commit: settled when the line is written, with all others of this turn; undefined if it is written already. */
  #append(line: string): Promise<void> | undefined {
    this.#lines.push(line);
    this.#waitingSize += line.length;
    if (this.#journalProblem !== undefined) return undefined;
    // A single call need not wait for others. The first and the last call of a crowd are alone, too: hence the last batch.
    if (this.#flushing === undefined && this.#open.size <= 1 && this.#lastBatch <= 1) {
      this.#flush();
      return undefined;
    }
    this.#flushing ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#flush();
        resolve();
      });
    });
    return this.#flushing;
  }

  /** Waits until what is written now is in the database, where that is wanted and possible. */
  #untilStored(written: Promise<void> | undefined): Promise<void> | undefined {
    const { waitMs } = this.#target;
    return waitMs === undefined ? written : this.#waitFor(written, waitMs);
  }

  async #waitFor(written: Promise<void> | undefined, waitMs: number): Promise<void> {
    await written;
    const position = this.#written;
    if (this.degraded !== undefined || this.#isClosed || this.#ingested >= position) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs).unref();
      this.#waiting.push({
        position,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
      });
      // All that end while the thread is busy are ingested together.
      if (!this.#isIngesting) this.#ingest();
    });
  }

  #onIngested(upTo: number): void {
    this.#ingested = upTo;
    this.#isIngesting = false;
    this.#databaseProblem = undefined;
    this.#release(upTo);
    if (this.#waiting.length > 0) this.#ingest();
  }

  #release(upTo: number): void {
    const done = this.#waiting.filter(({ position }) => position <= upTo);
    this.#waiting = this.#waiting.filter(({ position }) => position > upTo);
    for (const { resolve } of done) resolve();
  }

  #flush(): void {
    this.#flushing = undefined;
    const count = this.#lines.length;
    if (count === 0 && this.#journalProblem === undefined) return;
    try {
      this.#written += this.#journal.write(this.#lines.join(""));
    } catch (error) {
      return this.#degrade(error);
    }
    this.#lastBatch = count;
    this.#lines = [];
    this.#waitingSize = 0;
    if (this.#journalProblem !== undefined) {
      this.#journalProblem = undefined;
      this.#warn(`The call log can be written again; ${this.#lost} calls were not recorded since the start`);
    }
    this.#scheduleIngest();
  }

  #degrade(error: unknown): void {
    const problem = `The call log ${this.#target.name} cannot be written: ${messageOf(error)}`;
    if (this.#journalProblem === undefined)
      this.#warn(`${problem}. Calls continue, and are recorded later or not at all`);
    this.#journalProblem = problem;
    clearTimeout(this.#retryTimer);
    if (!this.#isClosed) this.#retryTimer = setTimeout(() => this.#flush(), RETRY_MS).unref();
  }

  #scheduleIngest(): void {
    const { isRunning } = this.#worker;
    if (!isRunning && this.#written - this.#ingested > WAKE_BYTES) return this.#ingest();
    const { wakeAfterMs = WAKE_AFTER_MS } = this.#options;
    this.#ingestTimer ??= setTimeout(() => this.#ingest(), isRunning ? INGEST_EVERY_MS : wakeAfterMs).unref();
  }

  /** A query that follows finds every finished call. */
  #ingestNow(): void {
    if (this.#isClosed) throw new HubError("DatabaseError", "The call log is closed");
    this.#flush();
    this.#ingest();
  }

  #ingest(): void {
    clearTimeout(this.#ingestTimer);
    this.#ingestTimer = undefined;
    if (this.#journal.size > MAX_JOURNAL_BYTES) this.#rotateJournal();
    this.#isIngesting = true;
    this.#worker.post({ type: "ingest", written: this.#written });
  }

  #rotateJournal(): void {
    this.#flush();
    try {
      this.#journal.rotate([...this.#open.values()].join(""));
    } catch (error) {
      this.#degrade(error);
    }
  }

  #scheduleScrub(afterMs: number): void {
    this.#scrubTimer = setTimeout(() => {
      // The worker reports any damage.
      if (this.#target.exists()) void this.#worker.request("scrub", undefined).catch(() => undefined);
      this.#scheduleScrub(this.#options.scrubEveryMs ?? SCRUB_EVERY_MS);
    }, afterMs).unref();
  }

  #warn(message: string): void {
    this.#options.onWarning?.(message);
  }
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false; // the folder does not exist
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
