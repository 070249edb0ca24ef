// The hubs of a cluster. PostgreSQL decides who is alive: a hub holds an advisory lock by its name for as long as its connection
// lives. The rows only describe them.

import { setTimeout as sleep } from "node:timers/promises";
import { HubError } from "../errors.ts";
import { text, textOrNothing } from "../identity/columns.ts";
import { VERSION } from "../version.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";

/** A hub that was killed a moment ago may still hold its name, until PostgreSQL notices. */
const NAME_FREE_MS = 15_000;
const CHECK_MS = 50;

export interface Replica {
  readonly name: string;
  readonly alive: boolean;
  readonly release: string;
  readonly url: string | undefined;
  /** ISO 8601. */
  readonly startedAt: string;
}

export class Replicas {
  readonly #db: Database;
  readonly #changes: Changes;

  constructor(db: Database, changes: Changes) {
    this.#db = db;
    this.#changes = changes;
  }

  /** Resolves when this hub has its name, which no other one may have. Throws Conflict. */
  async join(name: string, waitMs = NAME_FREE_MS): Promise<void> {
    const lock = lockOf(name);
    this.#changes.hold(lock);
    for (const deadline = Date.now() + waitMs; !this.#changes.holds(lock); await sleep(CHECK_MS)) {
      if (Date.now() < deadline) continue;
      throw new HubError("Conflict", `Another hub of this cluster is named ${name}`, {
        hint: "Give each hub a name of its own: cluster.name in hub.json",
      });
    }
  }

  /** Describes this hub to people. */
  async describe(name: string, url: string): Promise<void> {
    await this.#db.run(
      `insert into plugboard.replica (name, release, url) values ($1, $2, $3)
        on conflict (name) do update set release = excluded.release, url = excluded.url, started_at = now()`,
      name,
      VERSION,
      url,
    );
  }

  /** Whether this hub has its name at the moment: it does not while its connection is lost. */
  holds(name: string): boolean {
    return this.#changes.holds(lockOf(name));
  }

  /** Where the other hubs reach this one. */
  async announce(name: string, peer: string): Promise<void> {
    await this.#db.run(
      `insert into plugboard.replica (name, release, peer) values ($1, $2, $3)
        on conflict (name) do update set release = excluded.release, peer = excluded.peer, started_at = now()`,
      name,
      VERSION,
      peer,
    );
  }

  async leave(name: string): Promise<void> {
    await this.#db.run("delete from plugboard.replica where name = $1", name);
  }

  async list(): Promise<Replica[]> {
    const rows = await this.#db.rows(
      `select name, release, url, to_char(started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as started,
        ${isAliveSql("name")} as alive
        from plugboard.replica order by name`,
    );
    return rows.map((row) => ({
      name: text(row["name"]),
      alive: row["alive"] === true,
      release: text(row["release"]),
      url: textOrNothing(row["url"]),
      startedAt: text(row["started"]),
    }));
  }
}

/** An expression of SQL: whether the hub of this name holds its lock. */
export function isAliveSql(column: string): string {
  return `exists (select 1 from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = hashtextextended('${lockOf("")}' || ${column}, 0))`;
}

function lockOf(name: string): string {
  return `plugboard replica ${name}`;
}
