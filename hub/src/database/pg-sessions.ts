// The legacy sessions of all hubs in PostgreSQL, which decides who owns one: a row for each, written when it begins, changes or ends.

import type { FoundSession, Owner, SessionStore, StoredSession } from "../cluster/session-store.ts";
import { text, textOrNothing } from "../identity/columns.ts";
import type { Database } from "./database.ts";
import { isAliveSql } from "./replicas.ts";

/** A session ends after an hour without use, and the row of one in use is refreshed every 10 minutes. */
const MAX_AGE = "75 minutes";

export class PgSessions implements SessionStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async put(sessions: readonly StoredSession[], { replica, instance }: Owner): Promise<void> {
    await this.#db.run(
      `insert into plugboard.session (id, endpoint, record, replica, instance)
        select id, endpoint, record, $4, $5 from unnest($1::text[], $2::text[], $3::text[]) as new (id, endpoint, record)
        on conflict (id) do update set record = excluded.record, used_at = now()
        where session.instance = excluded.instance`,
      sessions.map(({ id }) => id),
      sessions.map(({ endpoint }) => endpoint),
      sessions.map(({ record }) => record),
      replica,
      instance,
    );
  }

  async remove(ids: readonly string[], { instance }: Owner): Promise<void> {
    await this.#db.run("delete from plugboard.session where id = any ($1) and instance = $2", ids, instance);
  }

  async find(id: string): Promise<FoundSession | undefined> {
    const [row] = await this.#db.rows(
      `select endpoint, record, replica, instance, ${isAliveSql("replica")} as alive,
        (select peer from plugboard.replica r where r.name = s.replica) as peer
        from plugboard.session s where id = $1`,
      id,
    );
    if (row === undefined) return undefined;
    return {
      id,
      endpoint: text(row["endpoint"]),
      record: text(row["record"]),
      replica: text(row["replica"]),
      instance: text(row["instance"]),
      isAlive: row["alive"] === true,
      peer: textOrNothing(row["peer"]),
    };
  }

  async adopt(id: string, from: Owner, to: Owner): Promise<boolean> {
    const changed = await this.#db.run(
      `update plugboard.session set replica = $3, instance = $4, used_at = now()
        where id = $1 and instance = $2 and (instance = '' or replica = $3 or not ${isAliveSql("replica")})`,
      id,
      from.instance,
      to.replica,
      to.instance,
    );
    return changed === 1;
  }

  async ownedBy({ instance }: Owner): Promise<string[]> {
    const rows = await this.#db.rows("select id from plugboard.session where instance = $1", instance);
    return rows.map((row) => text(row["id"]));
  }

  async release({ instance }: Owner): Promise<void> {
    await this.#db.run("update plugboard.session set instance = '' where instance = $1", instance);
  }

  async sweep(): Promise<void> {
    await this.#db.run(`delete from plugboard.session where used_at < now() - interval '${MAX_AGE}'`);
  }
}
