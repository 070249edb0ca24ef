// Counts the calls of some time, for statistics: a look at the heads of all of them.

import { CallStats, type CallStatsQuery, type ServerStats, type Tally } from "../calls/call-stats.ts";
import { toOutcome, type Outcome } from "../calls/outcome.ts";
import type { Database, SqlRow } from "./driver.ts";
import { walkHeads } from "./head-walk.ts";

export class CallCounter {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async count({ server, since = -Number.MAX_VALUE }: CallStatsQuery): Promise<ServerStats[]> {
    const stats = new CallStats();
    const routes = this.#routesOf(server);
    const tallies = new Map<number, Counted | undefined>();
    for await (const pack of walkHeads(this.#db, { since })) {
      for (let index = 0; index < pack.count; index++) {
        if (since > 0 && pack.at(index) < since) continue;
        const route = pack.route(index);
        let counted = tallies.get(route);
        if (counted === undefined && !tallies.has(route)) {
          counted = countedAs(routes.get(route), server, stats);
          tallies.set(route, counted);
        }
        counted?.tally.count(pack.durationUs(index), counted.outcome);
      }
    }
    return stats.servers;
  }

  /** All at once: there are thousands at most, and one by one they took longer than their calls. */
  #routesOf(server: string | undefined): ReadonlyMap<number, SqlRow> {
    const columns = "SELECT id, server, tool, outcome FROM route";
    const rows =
      server === undefined
        ? this.#db.prepare(columns).all()
        : this.#db.prepare(`${columns} WHERE server = ?`).all(server);
    return new Map(rows.map((row) => [Number(row["id"]), row]));
  }
}

/** Where the calls of a route are counted, and as what. */
interface Counted {
  readonly tally: Tally;
  readonly outcome: Outcome;
}

/** Undefined for those of servers that are not asked for. A damaged file may lack the route. */
function countedAs(row: SqlRow | undefined, server: string | undefined, stats: CallStats): Counted | undefined {
  if (row === undefined && server !== undefined) return undefined;
  return {
    tally: stats.tallyOf(textOf(row?.["server"]), textOf(row?.["tool"])),
    outcome: toOutcome(row?.["outcome"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
