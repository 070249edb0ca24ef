// Answers queries of the call log: looks at the heads of calls from the newest to the oldest until a page is full, then
// reads what else there is of those on it. There is no index to choose: see call-schema.ts.

import { setImmediate as nextTurn } from "node:timers/promises";
import { parseBounds, toCursor, type PageBounds } from "../calls/call-query.ts";
import type { CallPage, CallQuery, CallRow } from "../calls/log.ts";
import { toOutcome } from "../calls/outcome.ts";
import { sizeBytes, toCallRow, type StoredCall } from "../calls/stored-call.ts";
import type { Database, SqlRow } from "./driver.ts";
import type { HeadPack } from "./head-pack.ts";
import { walkHeads } from "./head-walk.ts";
import { PackReader, type Payload } from "./payload-pack.ts";

/** Calls that are read in one go; then others get their turn. */
const MAX_READ = 32;
/** A page holds no more than this, so that a large limit does not fill the memory. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

interface Head {
  readonly id: number;
  readonly at: number;
  readonly route: number;
  readonly durationUs: number;
}

/** What must be true of a call, besides its id. */
interface Filter {
  readonly since: number;
  readonly until: number;
  readonly longerThanUs: number;
  /** Undefined where any will do. */
  readonly routes: ReadonlySet<number> | undefined;
  readonly workflowId: string | undefined;
}

export class CallReader {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async query(query: CallQuery): Promise<CallPage> {
    const bounds = parseBounds(query);
    const filter = this.#filterOf(query);
    if (filter.routes?.size === 0) return { items: [], next_cursor: null };
    // One more tells whether another page follows.
    const heads = await this.#find(filter, { ...bounds, limit: bounds.limit + 1 });
    return this.#read(heads, bounds.limit);
  }

  /** The newest that match, newest first. */
  async #find(filter: Filter, { limit, below, above }: PageBounds): Promise<Head[]> {
    const found: Head[] = [];
    const { since, until } = filter;
    for await (const pack of walkHeads(this.#db, { below, above, since, until })) {
      const ids = filter.workflowId === undefined ? undefined : this.#callsOf(filter.workflowId, pack);
      for (let index = Math.min(pack.count, below - pack.first) - 1; index >= 0; index--) {
        const id = pack.first + index;
        if (id <= above) break;
        if (ids?.has(id) === false || !matches(pack, index, filter)) continue;
        found.push({ id, at: pack.at(index), route: pack.route(index), durationUs: pack.durationUs(index) });
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** Those of the pack that belong to it. */
  #callsOf(workflowId: string, { first, count }: HeadPack): ReadonlySet<number> {
    const find = this.#db.prepare("SELECT call FROM workflow WHERE call >= ? AND call < ? AND id = ?");
    return new Set(find.all(first, first + count, workflowId).map(({ call }) => Number(call)));
  }

  async #read(heads: readonly Head[], limit: number): Promise<CallPage> {
    const findWorkflow = this.#db.prepare("SELECT id FROM workflow WHERE call = ?");
    const routes = new Routes(this.#db);
    const payloads = new Payloads(this.#db);
    const items: CallRow[] = [];
    let bytes = 0;
    for (const [index, head] of heads.entries()) {
      const last = items.at(-1);
      if (last !== undefined && (items.length === limit || bytes > MAX_PAGE_BYTES)) {
        return { items, next_cursor: toCursor(last.id) };
      }
      const workflowId = text(findWorkflow.get(head.id)?.["id"]);
      const call = toStoredCall(head, routes.get(head.route), payloads.get(head.id), workflowId);
      bytes += sizeBytes(call);
      items.push(toCallRow(head.id, call));
      if (index % MAX_READ === MAX_READ - 1) await nextTurn();
    }
    return { items, next_cursor: null };
  }

  #filterOf(query: CallQuery): Filter {
    return {
      since: query.since ?? -Number.MAX_VALUE,
      until: query.until ?? Number.MAX_VALUE,
      longerThanUs: query.slowerThanMs === undefined ? -Infinity : query.slowerThanMs * 1000,
      routes: this.#findRoutes(query),
      workflowId: query.workflowId,
    };
  }

  #findRoutes({ server, tool, group, client, outcome, success }: CallQuery): ReadonlySet<number> | undefined {
    const wanted = {
      server,
      tool,
      group_name: group,
      client,
      outcome,
      "(outcome = 'ok')": success === undefined ? undefined : Number(success),
    };
    const columns = Object.entries(wanted).flatMap(([column, value]) =>
      value === undefined ? [] : [{ column, value }],
    );
    if (columns.length === 0) return undefined;
    const where = columns.map(({ column }) => `${column} = ?`).join(" AND ");
    const find = this.#db.prepare(`SELECT id FROM route WHERE ${where}`);
    return new Set(find.all(...columns.map(({ value }) => value)).map(({ id }) => Number(id)));
  }
}

/** What costs least to look at comes first: of a million calls, most fail there. */
function matches(pack: HeadPack, index: number, { routes, longerThanUs, since, until }: Filter): boolean {
  if (routes?.has(pack.route(index)) === false) return false;
  if (longerThanUs >= 0 && !(pack.durationUs(index) > longerThanUs)) return false;
  if (since === -Number.MAX_VALUE && until === Number.MAX_VALUE) return true;
  const at = pack.at(index);
  return at >= since && at < until;
}

/** Many calls of a page have the same. */
class Routes {
  readonly #db: Database;
  readonly #known = new Map<number, SqlRow>();

  constructor(db: Database) {
    this.#db = db;
  }

  get(id: number): SqlRow {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const row = this.#db.prepare("SELECT * FROM route WHERE id = ?").get(id) ?? {};
    this.#known.set(id, row);
    return row;
  }
}

/** Asked from the newest call to the oldest: those of one pack follow one another. */
class Payloads {
  readonly #db: Database;
  #first = Infinity;
  #pack = new PackReader(undefined, undefined);

  constructor(db: Database) {
    this.#db = db;
  }

  get(id: number): Payload {
    if (id < this.#first) {
      const find = this.#db.prepare(
        "SELECT first, sizes, bytes FROM payload WHERE first <= ? ORDER BY first DESC LIMIT 1",
      );
      const row = find.get(id);
      this.#first = Number(row?.["first"] ?? -Infinity);
      this.#pack = new PackReader(row?.["sizes"], row?.["bytes"]);
    }
    return this.#pack.get(id - this.#first);
  }
}

function toStoredCall(
  { at, durationUs }: Head,
  route: SqlRow,
  { params, result }: Payload,
  workflowId: string | null,
): StoredCall {
  return {
    at,
    server: text(route["server"]) ?? "",
    tool: text(route["tool"]) ?? "",
    group: text(route["group_name"]) ?? "",
    client: text(route["client"]) || null,
    workflowId,
    params,
    result,
    outcome: toOutcome(route["outcome"]),
    durationUs,
    errorCode: text(route["error_code"]) || null,
    truncated: route["truncated"] === 1,
  };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
