// The pool of connections to PostgreSQL. Every wait has a time limit, so that a database that is away is noticed soon.

import pg from "pg";
import type { HubError } from "../errors.ts";
import type { Row } from "../identity/columns.ts";
import { toDatabaseError } from "./failures.ts";
import { describeAddress, type DatabaseAddress } from "./url.ts";

export const CONNECT_MS = 2000;
const QUERY_MS = 3000;
const IDLE_MS = 30_000;
const DEFAULT_CONNECTIONS = 4;
/** A renewal in another hub may take this long. */
const LOCK_MS = 20_000;
const LOCK_CONNECTIONS = 4;
/** A process that is stopped must not keep the others waiting. */
const STOPPED_MS = 10_000;
const STOPPED_LOCK_MS = 60_000;

type Value = string | number | boolean | null | readonly (string | number | boolean | null)[];

/** Runs statements: outside of a transaction, or within one. */
export interface Sql {
  rows(sql: string, ...values: readonly Value[]): Promise<Row[]>;
  /** The number of rows that were changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
}

export interface DatabaseOptions {
  readonly connections?: number;
  readonly queryMs?: number;
}

/** The kinds of things that replicas tell each other about. */
export type ChangeKind = "approval" | "config" | "identity" | "secret";

export class Database implements Sql {
  readonly name: string;
  readonly #pool: pg.Pool;
  /** For locks, which are held longer than a statement takes. */
  #locks: pg.Pool | undefined;
  readonly #address: DatabaseAddress;
  /** The last change of each kind. */
  readonly #changing = new Map<ChangeKind, Promise<unknown>>();
  #problem: string | undefined;

  constructor(
    address: DatabaseAddress,
    { connections = DEFAULT_CONNECTIONS, queryMs = QUERY_MS }: DatabaseOptions = {},
  ) {
    this.name = describeAddress(address);
    this.#address = address;
    this.#pool = new pg.Pool({ ...toClientConfig(address), max: connections, query_timeout: queryMs });
    // A connection that breaks while nobody uses it. The next query opens another.
    this.#pool.on("error", () => {});
  }

  /** Why the last statement could not be run; undefined if it could. */
  get problem(): string | undefined {
    return this.#problem;
  }

  rows(sql: string, ...values: readonly Value[]): Promise<Row[]> {
    return this.#sqlOf(this.#pool).rows(sql, ...values);
  }

  run(sql: string, ...values: readonly Value[]): Promise<number> {
    return this.#sqlOf(this.#pool).run(sql, ...values);
  }

  /** All of the work, or nothing. */
  async transact<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.#observe(this.#pool.connect());
    try {
      const sql = this.#sqlOf(client);
      await sql.run(`begin; set local idle_in_transaction_session_timeout = ${STOPPED_MS}`);
      const result = await work(sql);
      await sql.run("commit");
      client.release();
      return result;
    } catch (error) {
      // The connection is closed, so the server undoes what was not committed, also if it answers no more.
      client.release(true);
      throw error;
    }
  }

  /**
   * Like `transact`, and tells all replicas that things of this kind have changed. Changes of one kind are made one after the other:
   * the version is locked first.
   */
  async change<T>(kind: ChangeKind, work: (sql: Sql, version: number) => Promise<T>): Promise<T> {
    const change = () =>
      this.transact(async (sql) => {
        const [row] = await sql.rows("update plugboard.version set n = n + 1 where kind = $1 returning n", kind);
        const result = await work(sql, Number(row?.["n"]));
        await sql.run("select pg_notify('plugboard', $1)", kind);
        return result;
      });
    // In the order of the calls, and with one connection for all that wait.
    const next = (this.#changing.get(kind) ?? Promise.resolve()).then(change);
    const settled = next.catch(() => undefined); // rejects for its own caller only
    this.#changing.set(kind, settled);
    return next;
  }

  /** Changes with every change of this kind. */
  async versionOf(kind: ChangeKind): Promise<number> {
    const [row] = await this.rows("select n from plugboard.version where kind = $1", kind);
    return Number(row?.["n"]);
  }

  /**
   * Runs `work` while no other hub or caller is inside for the same name. Statements of `work` use other connections: they are
   * committed one by one. Rejects with Locked after 20 s of waiting.
   */
  async withLock<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#locks ??= lockPool(this.#address);
    const client = await this.#observe(this.#locks.connect());
    let isBroken = true;
    try {
      const sql = this.#sqlOf(client);
      await sql.run(
        `begin; set local lock_timeout = ${LOCK_MS}; set local idle_in_transaction_session_timeout = ${STOPPED_LOCK_MS}`,
      );
      await sql.run("select pg_advisory_xact_lock(hashtextextended($1, 0))", name);
      const result = await work();
      await sql.run("commit");
      isBroken = false;
      return result;
    } finally {
      client.release(isBroken);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#locks?.end()]);
  }

  #sqlOf(client: pg.Pool | pg.PoolClient): Sql {
    const query = (sql: string, values: readonly Value[]) =>
      // Without values, a text may have several statements.
      this.#observe(values.length === 0 ? client.query<Row>(sql) : client.query<Row>(sql, [...values]));
    return {
      rows: async (sql, ...values) => (await query(sql, values)).rows,
      run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
    };
  }

  async #observe<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      this.#problem = undefined;
      return result;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(thrown: unknown): HubError {
    const error = toDatabaseError(thrown, this.name);
    if (error.kind === "DatabaseUnavailable") this.#problem = `${error.message}: ${error.detail}`;
    return error;
  }
}

/** Nothing but the application's name is sent at the start of a connection: PgBouncer refuses what it does not know. */
export function toClientConfig({ host, port, user, password, database, ssl }: DatabaseAddress): pg.ClientConfig & {
  readonly idleTimeoutMillis: number;
} {
  return {
    host,
    port,
    database,
    user,
    password,
    ssl: ssl === false ? false : { ...ssl },
    application_name: "plugboard",
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
  };
}

function lockPool(address: DatabaseAddress): pg.Pool {
  const pool = new pg.Pool({
    ...toClientConfig(address),
    max: LOCK_CONNECTIONS,
    connectionTimeoutMillis: LOCK_MS,
    query_timeout: LOCK_MS + CONNECT_MS,
  });
  pool.on("error", () => {});
  return pool;
}
