// The call log's tables in PostgreSQL, for the thread that ingests the journal of a hub. While the database is away, the calls wait in the
// journal.

import { COLUMNS, type CallHead, type StoredCall } from "../../call-log/call-record.ts";
import {
  AlreadyIngested,
  type CallStore,
  type CallStoreOptions,
  type JournalMark,
} from "../../call-log/journal/call-store.ts";
import type { CallCount, CallLogUsage, CallNeighbours, CallPage, CallQuery } from "../../call-log/port.ts";
import type { CallSummaryPage, Retention } from "../../call-log/port.ts";
import type { CallSeries, SeriesQuery } from "../../call-log/series.ts";
import type { CallStatsQuery, ServerStats } from "../../call-log/stats.ts";
import { toHubError } from "../../errors.ts";
import { numberOrNothing } from "../../identity/columns.ts";
import { Database } from "../database.ts";
import type { DatabaseAddress } from "../url.ts";
import { bytesOf, dropAbove, dropBefore, makePartitions } from "./partitions.ts";
import { countCalls, findNeighbours, queryCalls, readSeries, readStats, summarizeCalls } from "./pg-call-queries.ts";

const CONNECTIONS = 3;
/** They may read many calls. */
const QUERY_MS = 15_000;
const DAY_MS = 86_400_000;
const PRUNE_EVERY_MS = 600_000;

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of COLUMNS are those of a head
const KEYS = Object.keys(COLUMNS) as (keyof CallHead)[];
const TYPES: Partial<Record<keyof CallHead, string>> = { at: "bigint", durationUs: "bigint", truncated: "boolean" };
const NAMES = [...KEYS.map((key) => COLUMNS[key].name), "params", "result"].join(", ");
const ARRAYS = [...KEYS.map((key) => TYPES[key] ?? "text"), "text", "text"]
  .map((type, index) => `$${index + 5}::${type}[]`)
  .join(", ");
/**
 * All calls with the position in the journal, or nothing if another thread has entered them. The lock on the last id is held until the
 * commit: ids become visible in their order, so a reader that asks for larger ids misses none.
 */
const INSERT = `with mark as (
    update plugboard.call_journal set done = $3 where name = $1 and done = $2 returning 1),
  numbers as (
    update plugboard.call_sequence set last = last + $4 where exists (select 1 from mark) returning last - $4 as before)
  insert into plugboard.call (id, ${NAMES})
  select numbers.before + calls.n, ${NAMES} from numbers, unnest(${ARRAYS}) with ordinality as calls (${NAMES}, n)`;

export class PgCallStore implements CallStore {
  readonly generation = 1;
  /** Apart, so that a query never delays the calls that are entered. */
  readonly #db: Database;
  readonly #queries: Database;
  readonly #options: CallStoreOptions;
  readonly #pruneTimer: NodeJS.Timeout;
  #retention: Retention;
  /** The day up to which partitions were made. */
  #day: number | undefined;
  #degraded: string | undefined;

  constructor(address: DatabaseAddress, options: CallStoreOptions) {
    this.#db = new Database(address, { connections: 1 });
    this.#queries = new Database(address, { connections: CONNECTIONS, queryMs: QUERY_MS });
    this.#options = options;
    this.#retention = options.retention;
    // A failure shows at the next write, which reports it.
    this.#pruneTimer = setInterval(() => void this.prune(Date.now()).catch(() => undefined), PRUNE_EVERY_MS);
  }

  /** Also where nothing can be written: queries then say why. */
  async ready(): Promise<void> {
    const now = Date.now();
    const day = Math.floor(now / DAY_MS);
    if (this.#day === day) return;
    await this.#observe(makePartitions(this.#db, now));
    this.#day = day;
  }

  async doneOf(journal: string): Promise<number> {
    const select = "select done from plugboard.call_journal where name = $1";
    const [row] = await this.#observe(this.#db.rows(select, journal));
    return numberOrNothing(row?.["done"]) ?? 0;
  }

  async forgetJournal(journal: string): Promise<void> {
    await this.#observe(this.#db.run("delete from plugboard.call_journal where name = $1", journal));
  }

  async insert(calls: readonly StoredCall[], { journal, from, to }: JournalMark): Promise<void> {
    if (from === 0) {
      const begin = "insert into plugboard.call_journal (name, done) values ($1, 0) on conflict do nothing";
      await this.#observe(this.#db.run(begin, journal));
    }
    const count = await this.#observe(
      calls.length === 0
        ? this.#db.run("update plugboard.call_journal set done = $3 where name = $1 and done = $2", journal, from, to)
        : this.#db.run(INSERT, journal, from, to, calls.length, ...toArrays(calls)),
    );
    if (count === 0) throw new AlreadyIngested(`Another process ingests ${journal}`);
  }

  /** A commit is. */
  sync(): void {}

  query(query: CallQuery): Promise<CallPage> {
    return queryCalls(this.#queries, query);
  }

  summaries(query: CallQuery): Promise<CallSummaryPage> {
    return summarizeCalls(this.#queries, query);
  }

  count(query: CallQuery): Promise<CallCount> {
    return countCalls(this.#queries, query);
  }

  neighbours(id: number): Promise<CallNeighbours | undefined> {
    return findNeighbours(this.#queries, id);
  }

  series(query: SeriesQuery): Promise<CallSeries> {
    return readSeries(this.#queries, query);
  }

  stats(query: CallStatsQuery): Promise<ServerStats[]> {
    return readStats(this.#queries, query);
  }

  async usage(): Promise<CallLogUsage> {
    const [row] = await this.#queries.rows("select min(at) as oldest from plugboard.call");
    return { bytes: await bytesOf(this.#queries), oldestAt: numberOrNothing(row?.["oldest"]) };
  }

  retain(retention: Retention): void {
    this.#retention = retention;
  }

  /** Days are dropped whole: those that are too old, then the oldest while there is too much. */
  async prune(now: number): Promise<number> {
    const { maxAgeMs, maxBytes } = this.#retention;
    return (await dropBefore(this.#queries, now - maxAgeMs)) + (await dropAbove(this.#queries, maxBytes, now));
  }

  async deleteBefore(at: number): Promise<number> {
    const dropped = await dropBefore(this.#queries, at);
    return dropped + (await this.#queries.run("delete from plugboard.call where at < $1", at));
  }

  /** PostgreSQL watches over its files itself. */
  async scrub(): Promise<void> {}

  async close(): Promise<void> {
    clearInterval(this.#pruneTimer);
    await Promise.all([this.#db.close(), this.#queries.close()]);
  }

  /** Reports once that calls cannot be entered, and that they can be again. */
  async #observe<T>(work: Promise<T>): Promise<T> {
    const { onDegraded, onWarning } = this.#options;
    try {
      const result = await work;
      if (this.#degraded !== undefined) {
        this.#degraded = undefined;
        onDegraded(undefined);
        onWarning("The call log can be written again");
      }
      return result;
    } catch (thrown) {
      const { message, detail } = toHubError(thrown);
      const reason = `The call log cannot be written: ${message}${detail === undefined ? "" : `: ${detail}`}`;
      if (this.#degraded === undefined) onWarning(`${reason}. Calls continue, and are added to it later`);
      if (this.#degraded !== reason) onDegraded(reason);
      this.#degraded = reason;
      throw thrown;
    }
  }
}

/** The calls by column. */
function toArrays(calls: readonly StoredCall[]): (string | number | boolean | null)[][] {
  const heads = KEYS.map((key) => calls.map((call) => toValue(call[key])));
  return [...heads, calls.map(({ params }) => toValue(params)), calls.map(({ result }) => toValue(result))];
}

/** A damaged journal may contain a NUL, which PostgreSQL does not store. */
function toValue<T extends string | number | boolean | null>(value: T): T | string {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
