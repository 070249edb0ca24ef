// The one seam to SQLite: Node's own where it has one (from 22.13 on), else the package that copies its interface. Only
// what the hub needs of it is named here.

export type SqlValue = null | number | string | Uint8Array;
/** As read from a file, which may be damaged: anything can stand in any column. */
export type SqlRow = Readonly<Record<string, unknown>>;

export interface Statement {
  run(...values: SqlValue[]): { readonly lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Driver {
  readonly DatabaseSync: new (path: string) => Database;
}

export async function loadDriver(): Promise<Driver> {
  return loadBuiltin() ?? (await import("@photostructure/sqlite"));
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
  schema: 17,
  mismatch: 20,
  format: 24,
  notADatabase: 26,
} as const;

/** The result code of a failed statement; undefined where the error is not SQLite's. */
export function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;
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
