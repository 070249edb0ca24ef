// The call log on the disk. A call is written to a journal before it is forwarded and before it is answered, together with
// others that come at the same time; a thread enters the journal into the SQLite file behind it. Where writing
// fails calls go on: some wait in memory, and writing is tried again until it works.

import { readdirSync } from "node:fs";
import type { CallStatsQuery, ServerStats } from "../calls/call-stats.ts";
import type { CallEnd, CallLog, CallPage, CallQuery, CallStart, OpenCall } from "../calls/log.ts";
import { toStoredEnd, toStoredOpening } from "../calls/stored-call.ts";
import type { Keeping, StoredEnd, StoredOpening } from "../calls/stored-call.ts";
import { HubError } from "../errors.ts";
import { DEFAULT_RETENTION, type Retention } from "./retention.ts";
import { CallThread } from "./call-thread.ts";
import { Entering } from "./entering.ts";
import { Gathering } from "./gathering.ts";
import { BlockWriter, findBlock, readBlock } from "./journal-block.ts";
import { JournalRoutes } from "./journal-routes.ts";
import { Journal } from "./journal.ts";
import { newWriter } from "./journal-writer.ts";
import { LoopLoad } from "./loop-load.ts";
import { OpenRecord, OpenRecords } from "./open-records.ts";
import { WaitingRecords } from "./waiting-records.ts";

const RETRY_MS = 500;
/** Then they begin anew: in the journal they have 32 bits. */
const IDS = 2 ** 32;
/** A journal is read from its beginning after a kill, so it does not grow for ever. Looked at when it is entered. */
const MAX_JOURNAL_BYTES = 8 << 20;
/** Written and not entered yet: beyond it the database has been out of order for long. */
const MAX_BEHIND_BYTES = 256 << 20;

export interface CallLogOptions extends Keeping {
  readonly retention?: Partial<Retention>;
  /** Told what people should know: a damaged file, the beginning and the end of a failure. */
  readonly onWarning?: (message: string) => void;
  readonly maxBehindBytes?: number;
  /** How long calls may wait for the thread to be started, and how long it stays with nothing to do. */
  readonly wakeAfterMs?: number;
  readonly restAfterMs?: number;
  /** Whether this thread had much to do since it was asked last. */
  readonly isBusy?: () => boolean;
}

/** @example const log = new SqliteCallLog(join(paths.data, "calls.db"), { redactor }); */
export class SqliteCallLog implements CallLog {
  readonly #path: string;
  readonly #folder: string;
  readonly #keeping: Keeping;
  readonly #warn: (message: string) => void;
  readonly #maxBehindBytes: number;
  readonly #journal: Journal;
  readonly #thread: CallThread;
  /** The beginnings of calls that are under way: a new journal starts with them. */
  readonly #open = new OpenRecords();
  readonly #routes = new JournalRoutes();
  readonly #waiting = new WaitingRecords();
  /**
   * What this turn of the event loop has to record. Made and written in one go at its end: a file costs by the write, and code
   * that is run for many calls in a row costs half of what it does when it is come back to for each.
   */
  #begun: OpenRecord[] = [];
  #ended: OpenRecord[] = [];
  readonly #block = new BlockWriter();
  readonly #gathering: Gathering;
  readonly #entering: Entering;
  #lastId = 0;
  #lost = 0;
  #isClosed = false;
  /** Why the journal, or the database behind it, cannot be written. */
  #degraded: { journal: string | undefined; database: string | undefined } = {
    journal: undefined,
    database: undefined,
  };
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(path: string, options: CallLogOptions) {
    const { retention, onWarning = () => {}, maxBehindBytes, wakeAfterMs, restAfterMs, isBusy, ...keeping } = options;
    const load = new LoopLoad();
    const writer = newWriter();
    this.#path = path;
    this.#folder = journalsOf(path);
    this.#keeping = keeping;
    this.#warn = onWarning;
    this.#maxBehindBytes = maxBehindBytes ?? MAX_BEHIND_BYTES;
    this.#journal = new Journal(this.#folder, writer, () => this.#startNewJournal());
    this.#thread = new CallThread(
      { path, folder: this.#folder, writer, retention: { ...DEFAULT_RETENTION, ...retention } },
      {
        onEntered: (upTo) => this.#entering.entered(upTo),
        onDegraded: (why) => (this.#degraded = { ...this.#degraded, database: why }),
        onWarning,
      },
      restAfterMs,
    );
    this.#gathering = new Gathering({
      waiting: () => this.#begun.length + this.#ended.length,
      write: () => {
        this.#writeTurn();
        this.#entering.soon();
      },
    });
    this.#entering = new Entering({
      isRunning: () => this.#thread.isRunning,
      isBusy: isBusy ?? (() => load.isBusy()),
      enter: () => this.#enter(),
      wakeAfterMs,
    });
  }

  get degraded(): string | undefined {
    return this.#degraded.journal ?? this.#degraded.database;
  }

  get lost(): number {
    return this.#lost;
  }

  begin(call: CallStart): OpenCall {
    this.#lastId = (this.#lastId + 1) % IDS;
    const record = new OpenRecord(this.#lastId, call, this.#finish);
    // Without its beginning the end says nothing.
    if (this.#isRefusing) return record;
    this.#open.add(record);
    this.#begun.push(record);
    record.begun = this.#gathering.add({ isAlone: this.#open.size <= 1 });
    return record;
  }

  async query(query: CallQuery): Promise<CallPage> {
    this.#enterNow();
    return this.#thread.query(query);
  }

  async stats(query: CallStatsQuery): Promise<ServerStats[]> {
    this.#enterNow();
    return this.#thread.stats(query);
  }

  async prune(now = Date.now()): Promise<number> {
    this.#enterNow();
    return this.#thread.prune(now);
  }

  recover(): void {
    if (hasFiles(this.#folder)) this.#thread.tell({ type: "left" });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#entering.stop();
    clearTimeout(this.#retryTimer);
    this.#writeTurn();
    this.#writeWaiting();
    this.#isClosed = true;
    this.#lost += this.#waiting.calls;
    this.#journal.close();
    if (this.#entering.written > 0 || this.#thread.isRunning) await this.#thread.close();
  }

  readonly #finish = (record: OpenRecord, end: CallEnd): Promise<void> | undefined => {
    if (!this.#open.remove(record) || this.#isRefusing) return this.#lose();
    record.end = end;
    this.#ended.push(record);
    return this.#gathering.add({ isAlone: this.#open.size <= 1 });
  };

  #writeBegin(block: BlockWriter, { id, call }: OpenRecord, opening: StoredOpening): void {
    let number = this.#routes.find(call);
    if (number === undefined) {
      const added = this.#routes.add(call);
      number = added.number;
      block.route(number, added.route);
    }
    block.begin(id, number, opening);
  }

  /** After closing it is a call that outlasted the hub's patience: its answer must not fail for that. */
  get #isRefusing(): boolean {
    return this.#isClosed || this.#entering.behind > this.#maxBehindBytes;
  }

  /** All that waits, whosever turn it is. */
  #writeTurn(): void {
    const begun = this.#begun;
    const ended = this.#ended;
    this.#gathering.written(begun.length + ended.length);
    this.#begun = [];
    this.#ended = [];
    for (const record of begun) {
      record.opening = this.#openingOf(record.call);
      this.#writeBegin(this.#block, record, record.opening);
      if (this.#block.isFull) this.#writeBlock();
    }
    for (const { id, call, end } of ended) {
      if (end !== undefined) this.#block.end(id, this.#endOf(call.server, end));
      if (this.#block.isFull) this.#writeBlock();
    }
    if (!this.#block.isEmpty) this.#writeBlock();
  }

  #writeBlock(): void {
    const block = this.#block.take();
    // In order: an end must not come before its beginning.
    if (!this.#waiting.isEmpty) return this.#keep(block);
    try {
      this.#write(block);
    } catch (error) {
      this.#degrade(error);
      this.#keep(block);
    }
  }

  /** Each record by itself, with its route: which of them there will be room for is not known yet. */
  #keep(block: Buffer): void {
    const found = findBlock(block, 0);
    if (found.state !== "block") return;
    const alone = new BlockWriter();
    readBlock(block, found, {
      onRoute: () => undefined,
      onBegin: (id, number, start) => {
        const route = this.#routes.get(number);
        if (route !== undefined) alone.route(number, route);
        alone.begin(id, number, start);
        if (!this.#waiting.keep({ bytes: Buffer.from(alone.take()), isEnd: false })) this.#open.removeId(id);
      },
      onEnd: (id, end) => {
        alone.end(id, end);
        if (!this.#waiting.keep({ bytes: Buffer.from(alone.take()), isEnd: true })) this.#lose();
      },
    });
  }

  #lose(): undefined {
    this.#lost++;
  }

  #write(bytes: Buffer): void {
    this.#journal.write(bytes);
    this.#entering.wrote(bytes.length);
  }

  /** Whoever asks next finds every call. */
  #enterNow(): void {
    if (this.#isClosed) throw new HubError("DatabaseError", "The call log is closed");
    this.#writeTurn();
    this.#entering.now();
  }

  #enter(): void {
    if (this.#journal.size > MAX_JOURNAL_BYTES) this.#startNewJournal();
    this.#thread.tell({ type: "more", written: this.#entering.written });
  }

  #startNewJournal(): void {
    // It refers to what the old one says.
    this.#writeTurn();
    try {
      this.#journal.rotate(this.#openBlocks());
    } catch (error) {
      // The old one goes on, where it is still there.
      this.#degrade(error);
    }
  }

  *#openBlocks(): Generator<Buffer> {
    this.#routes.forget();
    const block = new BlockWriter();
    for (const record of this.#open) {
      if (record.opening === undefined) continue;
      this.#writeBegin(block, record, record.opening);
      if (block.isFull) yield block.take();
    }
    if (!block.isEmpty) yield block.take();
  }

  #degrade(error: unknown): void {
    const why = `The call log ${this.#path} cannot be written: ${messageOf(error)}`;
    if (this.#degraded.journal === undefined) {
      this.#warn(`${why}. Calls go on, and are recorded later or not at all`);
    }
    this.#degraded = { ...this.#degraded, journal: why };
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#writeWaiting(), RETRY_MS).unref();
  }

  #writeWaiting(): void {
    if (this.#degraded.journal === undefined) return;
    try {
      this.#waiting.drain(({ bytes }) => this.#write(bytes));
    } catch (error) {
      return this.#degrade(error);
    }
    this.#degraded = { ...this.#degraded, journal: undefined };
    this.#entering.soon();
    this.#warn(`The call log is written again; ${this.#lost} calls were not recorded since the start`);
  }

  /** Whatever a server sends, its answer must not fail because we cannot record it. */
  #openingOf(call: CallStart): StoredOpening {
    try {
      return toStoredOpening(call, this.#keeping);
    } catch (error) {
      this.#warnOfContents(call.server, error);
      return toStoredOpening({ ...call, params: undefined }, this.#keeping);
    }
  }

  #endOf(server: string, end: CallEnd): StoredEnd {
    try {
      return toStoredEnd(end, server, this.#keeping);
    } catch (error) {
      this.#warnOfContents(server, error);
      return toStoredEnd({ ...end, result: undefined }, server, this.#keeping);
    }
  }

  #warnOfContents(server: string, error: unknown): void {
    this.#warn(`The contents of a call to ${server} are not kept: ${messageOf(error)}`);
  }
}

/** Beside the database. */
export function journalsOf(path: string): string {
  return `${path.replace(/\.db$/, "")}.journals`;
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false; // none was ever written
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
