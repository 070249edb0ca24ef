// Port: the database of the call log, as the thread that ingests journals uses it. Implemented by sqlite/store.ts and, for several hubs,
// in database/.

import type { StoredCall } from "../call-record.ts";
import type { CallCount, CallLogUsage, CallNeighbours, CallPage, CallQuery, CallSummaryPage } from "../port.ts";
import type { Retention } from "../port.ts";
import type { CallSeries, SeriesQuery } from "../series.ts";
import type { CallStatsQuery, ServerStats } from "../stats.ts";

/** The first `to` bytes of a journal are ingested, after `from` were before. */
export interface JournalMark {
  readonly journal: string;
  readonly from: number;
  readonly to: number;
}

/** Another process has ingested the same part of a journal. */
export class AlreadyIngested extends Error {}

export interface CallStoreOptions {
  readonly retention: Retention;
  /** Receives warnings for users: a damaged file, the start and the end of a failure. */
  readonly onWarning: (message: string) => void;
  /** Why the database cannot be written; undefined when it can be again. */
  readonly onDegraded: (reason: string | undefined) => void;
}

export interface CallStore {
  /** Changes with each database that is opened. */
  readonly generation: number;
  /** Makes sure that a database is open; rejects if that is impossible. */
  ready(): Promise<void>;
  /** The number of bytes of a journal that are ingested. */
  doneOf(journal: string): number | Promise<number>;
  forgetJournal(journal: string): void | Promise<void>;
  /** Inserts all calls and the mark, or nothing and rejects. */
  insert(calls: readonly StoredCall[], mark: JournalMark): Promise<void>;
  /** Makes the last insert survive a power loss. */
  sync(): void;
  query(query: CallQuery): Promise<CallPage>;
  summaries(query: CallQuery): Promise<CallSummaryPage>;
  count(query: CallQuery): Promise<CallCount>;
  neighbours(id: number): Promise<CallNeighbours | undefined>;
  series(query: SeriesQuery): Promise<CallSeries>;
  deleteBefore(at: number): Promise<number>;
  stats(query: CallStatsQuery): Promise<ServerStats[]>;
  usage(): Promise<CallLogUsage>;
  /** The next prune applies it. */
  retain(retention: Retention): void;
  prune(now: number): Promise<number>;
  /** Verifies all rows and warns about damage. */
  scrub(): Promise<void>;
  close(): Promise<void>;
}
