// The one seam to SQLite: Node's own where it has one (from 22.13 on), else the package that copies its interface. Only
// what the hub needs of it is named here.

import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export type SqlValue = null | number | string | Uint8Array;
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

/** Opens or makes a file, as SQLite does by itself; see sqlite.ts for what a database of the hub needs. */
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

  /** Resolves when the file is let go of: only then may another one take its name. */
  async close(): Promise<void> {
    for (const statement of this.#statements.values()) statement.release();
    this.#statements.clear();
    this.#raw.close();
    if (!this.#finalizes) await collectGarbage();
  }
}

class Statement {
  #raw: RawStatement | undefined;

  constructor(raw: RawStatement) {
    this.#raw = raw;
  }

  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint } {
    return this.#require().run(...values);
  }

  get(...values: SqlValue[]): SqlRow | undefined {
    return this.#require().get(...values);
  }

  all(...values: SqlValue[]): SqlRow[] {
    return this.#require().all(...values);
  }

  release(): void {
    this.#raw = undefined;
  }

  #require(): RawStatement {
    if (this.#raw === undefined) throw new Error("The database is closed");
    return this.#raw;
  }
}

export type { Statement };

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

/** What SQLite calls a failure: the lower byte of its result code. */
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

/** The package gives some failures no code, only SQLite's own text; these are the texts that decide something. */
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

/** The result code of a failed statement; undefined where the error is not SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
  if (!("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  return TEXTS.find(([text]) => error.message.startsWith(text))?.[1] ?? SQLITE.error;
}

/** Somebody else holds the lock: worth another try. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.busy || code === SQLITE.locked;
}

/** The file holds what no SQLite wrote. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.corrupt || code === SQLITE.notADatabase;
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
