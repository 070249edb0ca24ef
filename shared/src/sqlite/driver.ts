// The only access to SQLite: node:sqlite (Node 22.13 and newer), or the package with the same interface on Node 20.

import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export type SqlValue = null | number | bigint | string | Uint8Array;
/** As read from a file, which may be damaged: any column may have a value of any type. */
export type SqlRow = Readonly<Record<string, unknown>>;

interface RawStatement {
  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  iterate(...values: SqlValue[]): Iterable<SqlRow>;
}

interface RawDatabase {
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  close(): void;
}

interface Driver {
  readonly DatabaseSync: new (path: string) => RawDatabase;
}

/** The path of a database without a file. */
export const MEMORY = ":memory:";

/** Opens or creates a file with SQLite's defaults; open.ts adds what a database of ours needs. */
export async function connect(path: string): Promise<Database> {
  const builtin = loadBuiltin();
  const { DatabaseSync } = builtin ?? (await import("@photostructure/sqlite"));
  // Without a file nothing has to be released.
  return new Database(new DatabaseSync(path), { finalizes: builtin !== undefined || path === MEMORY });
}

export class Database {
  readonly #raw: RawDatabase;
  /** Whether closing finalizes the statements, too. */
  readonly #finalizes: boolean;
  readonly #statements = new Map<string, Statement>();

  constructor(raw: RawDatabase, { finalizes }: { finalizes: boolean }) {
    this.#raw = raw;
    this.#finalizes = finalizes;
  }

  exec(sql: string): void {
    this.#raw.exec(sql);
  }

  /** Statements are cached by their text, so values belong into parameters. */
  prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = new Statement(this.#raw.prepare(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  /** The number of rows that it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.prepare(sql).run(...values).changes);
  }

  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.prepare(sql).get(...values);
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.prepare(sql).all(...values);
  }

  /** The first column of the first row; 0 if there is none. */
  number(sql: string): number {
    return Number(Object.values(this.get(sql) ?? {})[0] ?? 0);
  }

  /** Atomic. IMMEDIATE waits for other writers at the beginning instead of failing in the middle. */
  transact<T>(work: () => T): T {
    this.prepare("BEGIN IMMEDIATE").run();
    try {
      const result = work();
      this.prepare("COMMIT").run();
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Resolves when the file is released and may be replaced. */
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
      // Some failures have rolled back already. The original error is thrown.
    }
  }
}

class Statement {
  #raw: RawStatement | undefined;

  constructor(raw: RawStatement) {
    this.#raw = raw;
  }

  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint } {
    return this.#require().run(...values.map(toStorable));
  }

  get(...values: SqlValue[]): SqlRow | undefined {
    return this.#require().get(...values.map(toStorable));
  }

  all(...values: SqlValue[]): SqlRow[] {
    return this.#require().all(...values.map(toStorable));
  }

  iterate(...values: SqlValue[]): Iterable<SqlRow> {
    return this.#require().iterate(...values.map(toStorable));
  }

  release(): void {
    this.#raw = undefined;
  }

  #require(): RawStatement {
    if (this.#raw === undefined) throw new Error("The database is closed");
    return this.#raw;
  }
}

/** A text is read back only up to its first NUL, so NUL is replaced by U+FFFD. */
export function toStorable<T>(value: T): T | string {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}

/**
 * The package for Node 20 keeps the files of a closed database open until its statements are garbage-collected, and has no way to
 * finalize them. It would then remove the write-ahead log by name, which may belong to a new database by that time.
 */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") Reflect.apply(collect, undefined, []);
  // Finalizers run in later turns of the event loop.
  await nextTurn();
  await nextTurn();
}

/** Primary result codes: the lower byte of an extended one. */
export const SQLITE = {
  error: 1,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  schema: 17,
  mismatch: 20,
  format: 24,
  notADatabase: 26,
} as const;

/** The package for Node 20 reports some errors without a code, only with SQLite's own text. */
const TEXTS: readonly (readonly [text: string, code: number])[] = [
  ["database is locked", SQLITE.busy],
  ["database table is locked", SQLITE.locked],
  ["attempt to write a readonly database", SQLITE.readonly],
  ["disk I/O error", SQLITE.ioError],
  ["database disk image is malformed", SQLITE.corrupt],
  ["malformed database schema", SQLITE.corrupt],
  ["database or disk is full", SQLITE.full],
  ["unable to open database file", SQLITE.cannotOpen],
  ["file is not a database", SQLITE.notADatabase],
];

/** The result code of a failed statement; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  if (!("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  return TEXTS.find(([text]) => error.message.startsWith(text))?.[1] ?? SQLITE.error;
}

/** Another connection holds the lock: worth a retry. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.busy || code === SQLITE.locked;
}

/** The file has contents that SQLite, or this program, cannot have written. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.corrupt || code === SQLITE.notADatabase || isHugeInteger(error);
}

/** Integers beyond 2^53 cannot be read, and are never written. */
function isHugeInteger(error: unknown): boolean {
  return (
    error instanceof RangeError || (error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE")
  );
}

function loadBuiltin(): Driver | undefined {
  const emitWarning = process.emitWarning.bind(process);
  // Loading node:sqlite prints a warning that it is experimental.
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
