// Counts the calls of some time, for statistics: a walk over the log like that of call-reader.ts, in which SQLite hands
// over many calls as one text. As rows, a million of them take ten times as long, grouped by SQL or not.

import { setImmediate as nextTurn } from "node:timers/promises";
import { CallStats, type CallStatsQuery, type ServerStats, type Tally } from "../calls/call-stats.ts";
import type { Database } from "./driver.ts";
import { readNumber } from "./sqlite.ts";
import { Stretch, Stretches, type CallFilter } from "./stretches.ts";

/** After this long, others get their turn. */
const MAX_HOLD_MS = 2;
/** Calls of one text: less than a millisecond, most of it the reading of the text. */
const STEP = 2000;
const SPACE = 32;
const ZERO = 48;

const COUNT = `SELECT group_concat((route + 0) || ' ' || (duration_us + 0), ' ') AS calls
  FROM call WHERE id > ? AND id <= ? AND at >= ?`;
const COUNT_SOME = `${COUNT} AND route IN (SELECT value FROM json_each(?))`;

export class CallCounter {
  readonly #db: Database;
  readonly #stretches: Stretches;

  constructor(db: Database) {
    this.#db = db;
    this.#stretches = new Stretches(db);
  }

  async count({ server, since = -Number.MAX_VALUE }: CallStatsQuery): Promise<ServerStats[]> {
    const routes = server === undefined ? undefined : this.#routesOf(server);
    const stats = new CallStats();
    if (routes?.length === 0) return [];
    const tallies = new Tallies(this.#db, stats);
    const wanted = JSON.stringify(routes);
    for await (const { from, to } of this.#steps(since)) {
      const row =
        routes === undefined
          ? this.#db.prepare(COUNT).get(from, to, since)
          : this.#db.prepare(COUNT_SOME).get(from, to, since, wanted);
      const calls = row?.["calls"];
      if (typeof calls === "string") countAll(calls, tallies);
    }
    return stats.servers;
  }

  /** The ids to look at, newest first; the event loop goes on in between. */
  async *#steps(since: number): AsyncGenerator<{ readonly from: number; readonly to: number }> {
    const filter: CallFilter = { sql: "", values: [], since, until: Number.MAX_VALUE, key: "" };
    const last = readNumber(this.#db, "SELECT max(id) FROM call");
    const oldest = readNumber(this.#db, "SELECT min(id) FROM call") - 1;
    let turnAt = performance.now();
    for (let newest = last; newest > oldest;) {
      const stretch = new Stretch(newest, { oldest, last });
      newest = stretch.from;
      if (this.#stretches.hasNone(stretch, filter)) continue;
      for (let to = stretch.to; to > stretch.from; to -= STEP) {
        yield { from: Math.max(stretch.from, to - STEP), to };
        if (performance.now() - turnAt < MAX_HOLD_MS) continue;
        await nextTurn();
        turnAt = performance.now();
      }
    }
  }

  #routesOf(server: string): unknown[] {
    return this.#db
      .prepare("SELECT id FROM route WHERE server = ?")
      .all(server)
      .map(({ id }) => id);
  }
}

/** Where the calls of a route are counted, and as what. */
interface Counted {
  readonly tally: Tally;
  readonly success: boolean;
}

/** By the number of a route; many routes are one tool. */
class Tallies {
  readonly #db: Database;
  readonly #stats: CallStats;
  readonly #known = new Map<number, Counted>();

  constructor(db: Database, stats: CallStats) {
    this.#db = db;
    this.#stats = stats;
  }

  get(route: number): Counted {
    const known = this.#known.get(route);
    if (known !== undefined) return known;
    const row = this.#db.prepare("SELECT server, tool, success FROM route WHERE id = ?").get(route);
    const tally = this.#stats.tallyOf(textOf(row?.["server"]), textOf(row?.["tool"]));
    const counted = { tally, success: row?.["success"] === 1 };
    this.#known.set(route, counted);
    return counted;
  }
}

/**
 * Whole numbers with a space between them, by turns a route and a duration. A damaged file may hold other numbers, whose signs
 * and points are passed over.
 */
function countAll(calls: string, tallies: Tallies): void {
  let route: number | undefined;
  let value = 0;
  for (let at = 0; at <= calls.length; at++) {
    const code = at === calls.length ? SPACE : calls.charCodeAt(at);
    if (code !== SPACE) {
      const digit = code - ZERO;
      if (digit >= 0 && digit <= 9) value = value * 10 + digit;
    } else if (route === undefined) {
      route = value;
      value = 0;
    } else {
      const { tally, success } = tallies.get(route);
      tally.count(value, success);
      route = undefined;
      value = 0;
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
