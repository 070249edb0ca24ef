// The one seam to SQLite: Node's own where it has one (from 22.13 on), else the package that copies its interface. Only
// what the store needs of it is named here.

import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export type SqlValue = null | number | bigint | string;
/** As read from a file, which may be damaged: anything can stand in any column. */
export type SqlRow = Readonly<Record<string, unknown>>;

interface RawStatement {
  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

interface RawDatabase {
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  close(): void;
}

interface Driver {
  readonly DatabaseSync: new (path: string) => RawDatabase;
}

/** The path of a database that is in no file. */
export const MEMORY = ":memory:";

/** Opens or makes a file, as SQLite does by itself; see database.ts for what the store needs. */
export async function connect(path: string): Promise<Database> {
  const builtin = loadBuiltin();
  const { DatabaseSync } = builtin ?? (await import("@photostructure/sqlite"));
  // In memory there is no file that anybody could wait for.
  return new Database(new DatabaseSync(path), { finalizes: builtin !== undefined || path === MEMORY });
}

export class Database {
  readonly #raw: RawDatabase;
  /** Whether closing it ends its statements, too. */
  readonly #finalizes: boolean;
  readonly #statements = new Map<string, Statement>();

  constructor(raw: RawDatabase, { finalizes }: { finalizes: boolean }) {
    this.#raw = raw;
    this.#finalizes = finalizes;
  }

  exec(sql: string): void {
    this.#raw.exec(sql);
  }

  /** Prepared once for each text, so keep values out of it. */
  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = new Statement(this.#raw.prepare(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.prepare(sql).run(...values).changes);
  }

  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.prepare(sql).get(...values);
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.prepare(sql).all(...values);
  }

  /** All of what `work` writes, or nothing. Waits for other processes at its beginning, not in its middle. */
  transact<T>(work: () => T): T {
    this.#raw.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#raw.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Resolves when the file is let go of: only then may another one take its name. */
  async close(): Promise<void> {
    for (const statement of this.#statements.values()) statement.release();
    this.#statements.clear();
    this.#raw.close();
    if (!this.#finalizes) await collectGarbage();
  }

  #rollBack(): void {
    try {
      this.#raw.exec("ROLLBACK");
    } catch {
      // Some failures have rolled back already; the failure itself is what matters.
    }
  }
}

class Statement {
  #raw: RawStatement | undefined;

  constructor(raw: RawStatement) {
    this.#raw = raw;
  }

  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint } {
    return this.#require().run(...values.map(toBindable));
  }

  get(...values: SqlValue[]): SqlRow | undefined {
    return this.#require().get(...values.map(toBindable));
  }

  all(...values: SqlValue[]): SqlRow[] {
    return this.#require().all(...values.map(toBindable));
  }

  release(): void {
    this.#raw = undefined;
  }

  #require(): RawStatement {
    if (this.#raw === undefined) throw new Error("The database is closed");
    return this.#raw;
  }
}

/** The package ends a text at its first NUL. Nobody means one, so it is shown as what could not be read. */
function toBindable(value: SqlValue): SqlValue {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}

/**
 * The package leaves a closed database open as long as one of its statements has not been collected. It would then remove
 * the write-ahead log by its name, when that may be a new database's already.
 */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") Reflect.apply(collect, undefined, []);
  // What was collected is let go of a turn later.
  await nextTurn();
  await nextTurn();
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** Somebody else holds the lock: worth another try. The package gives some failures no code, only SQLite's own text. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error && typeof error.errcode === "number") {
    return (error.errcode & 0xff) === SQLITE_BUSY || (error.errcode & 0xff) === SQLITE_LOCKED;
  }
  return error.message.startsWith("database is locked") || error.message.startsWith("database table is locked");
}

function loadBuiltin(): Driver | undefined {
  const emitWarning = process.emitWarning.bind(process);
  // Loading it prints that it is experimental, on every start of every command.
  process.emitWarning = () => undefined;
  try {
    const module = process.getBuiltinModule?.("node:sqlite");
    return isDriver(module) ? module : undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isDriver(module: unknown): module is Driver {
  return typeof module === "object" && module !== null && "DatabaseSync" in module;
}
