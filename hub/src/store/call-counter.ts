// Counts the calls of some time, for statistics: a look at the heads of all of them.

import { CallStats, type CallStatsQuery, type ServerStats, type Tally } from "../calls/call-stats.ts";
import type { Database } from "./driver.ts";
import { walkHeads } from "./head-walk.ts";

export class CallCounter {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async count({ server, since = -Number.MAX_VALUE }: CallStatsQuery): Promise<ServerStats[]> {
    const stats = new CallStats();
    const tallies = new Tallies(this.#db, stats, server);
    for await (const pack of walkHeads(this.#db, { since })) {
      for (let index = 0; index < pack.count; index++) {
        if (since > 0 && pack.at(index) < since) continue;
        const counted = tallies.get(pack.route(index));
        counted?.tally.count(pack.durationUs(index), counted.success);
      }
    }
    return stats.servers;
  }
}

/** Where the calls of a route are counted, and as what. */
interface Counted {
  readonly tally: Tally;
  readonly success: boolean;
}

/** By the number of a route; many routes are one tool. Undefined for those of servers that are not asked for. */
class Tallies {
  readonly #db: Database;
  readonly #stats: CallStats;
  readonly #server: string | undefined;
  readonly #known = new Map<number, Counted | undefined>();

  constructor(db: Database, stats: CallStats, server: string | undefined) {
    this.#db = db;
    this.#stats = stats;
    this.#server = server;
  }

  get(route: number): Counted | undefined {
    const known = this.#known.get(route);
    return known !== undefined || this.#known.has(route) ? known : this.#find(route);
  }

  #find(route: number): Counted | undefined {
    const row = this.#db.prepare("SELECT server, tool, success FROM route WHERE id = ?").get(route);
    const server = textOf(row?.["server"]);
    const isWanted = this.#server === undefined || server === this.#server;
    const counted = isWanted
      ? { tally: this.#stats.tallyOf(server, textOf(row?.["tool"])), success: row?.["success"] === 1 }
      : undefined;
    this.#known.set(route, counted);
    return counted;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
