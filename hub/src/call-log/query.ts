// Queries of the call log: the filters, for SQL and for memory alike, the limits of a page, and the form of the cursor.

import { HubError } from "../errors.ts";
import { COLUMNS, type CallHead, type StoredCall } from "./call-record.ts";
import type { CallQuery } from "./port.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const CURSOR = /^c([1-9]\d{0,15})$/;

type FilterName = Exclude<keyof CallQuery, "id" | "limit" | "cursor" | "after" | "text">;

interface Filter<T> {
  /** A condition with one parameter. */
  readonly sql: string;
  readonly value: (wanted: T) => string | number;
  readonly matches: (call: CallHead, wanted: T) => boolean;
}

const equals = (key: keyof CallHead): Filter<string> => ({
  sql: `${COLUMNS[key].name} = ?`,
  value: (wanted) => wanted,
  matches: (call, wanted) => call[key] === wanted,
});

const FILTERS: { readonly [K in FilterName]: Filter<NonNullable<CallQuery[K]>> } = {
  server: equals("server"),
  tool: equals("tool"),
  group: equals("group"),
  client: equals("client"),
  session: equals("session"),
  principal: equals("principal"),
  token: equals("token"),
  workflowId: equals("workflowId"),
  outcome: equals("outcome"),
  success: {
    sql: "(outcome = 'ok') = (? = 1)",
    value: Number,
    matches: (call, wanted) => (call.outcome === "ok") === wanted,
  },
  since: { sql: "at >= ?", value: Math.ceil, matches: (call, wanted) => call.at >= wanted },
  until: { sql: "at < ?", value: Math.ceil, matches: (call, wanted) => call.at < wanted },
  slowerThanMs: {
    sql: "duration_us > ?",
    value: (wanted) => Math.floor(wanted * 1000),
    matches: (call, wanted) => call.durationUs > wanted * 1000,
  },
};

type Filters = Pick<CallQuery, FilterName>;

export function matcher(query: Filters): (call: CallHead) => boolean {
  const found = active(query);
  return (call) => found.every(({ filter, wanted }) => filter.matches(call, wanted));
}

/** SQL conditions with their parameters. */
export function conditions(query: Filters): { readonly sql: string[]; readonly values: (string | number)[] } {
  const found = active(query);
  return {
    sql: found.map(({ filter }) => filter.sql),
    values: found.map(({ filter, wanted }) => filter.value(wanted)),
  };
}

function active(query: Filters): { readonly filter: Filter<unknown>; readonly wanted: unknown }[] {
  return Object.entries(FILTERS).flatMap(([name, filter]) => {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- FILTERS has the member's own type under each name
    const wanted: unknown = query[name as FilterName];
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
    return wanted === undefined ? [] : [{ filter: filter as Filter<unknown>, wanted }];
  });
}

/** The text as it is in JSON, and a LIKE pattern of it. */
export function textPattern(text: string): { readonly tool: string; readonly payload: string } {
  return { tool: toPattern(text), payload: toPattern(JSON.stringify(text).slice(1, -1)) };
}

function toPattern(plain: string): string {
  return `%${plain.replaceAll(/[\\%_]/g, (char) => `\\${char}`)}%`;
}

/** The same in memory. */
export function containsText({ tool, params, result }: StoredCall, text: string): boolean {
  const inJson = JSON.stringify(text).slice(1, -1).toLowerCase();
  return (
    tool.toLowerCase().includes(text.toLowerCase()) ||
    params?.toLowerCase().includes(inJson) === true ||
    result?.toLowerCase().includes(inJson) === true
  );
}

export interface PageBounds {
  readonly limit: number;
  /** Ids of the page are smaller. */
  readonly below: number;
  /** Ids of the page are larger. */
  readonly above: number;
}

/** Throws InvalidArgument, with its field, for an invalid limit, cursor or id. */
export function parseBounds({ id, limit = DEFAULT_LIMIT, cursor, after }: CallQuery): PageBounds {
  if (!Number.isInteger(limit) || limit < 1) throw invalid("limit", "limit must be a whole number above zero");
  if (after !== undefined && !Number.isInteger(after)) throw invalid("after", "after must be the id of a call");
  if (id !== undefined) return { limit: 1, below: id + 1, above: id - 1 };
  return {
    limit: Math.min(limit, MAX_LIMIT),
    below: cursor === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(cursor),
    above: Math.max(after ?? 0, 0),
  };
}

/** The cursor of the page that follows the call with this id. */
export function toCursor(id: number): string {
  return Buffer.from(`c${id}`).toString("base64url");
}

function parseCursor(cursor: string): number {
  const id = Number(CURSOR.exec(Buffer.from(cursor, "base64url").toString("latin1"))?.[1]);
  // Base64 has several spellings of the same bytes; only the one that toCursor makes is valid.
  if (!Number.isSafeInteger(id) || toCursor(id) !== cursor) throw invalid("cursor", "Invalid cursor");
  return id;
}

function invalid(field: string, message: string): HubError {
  return new HubError("InvalidArgument", message, { field });
}
