// Recorded calls: pages, counts, figures over time, export and deletion.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { OWNER, type Grant } from "../../../auth/grant.ts";
import { may } from "../../../auth/policy.ts";
import { HubError } from "../../../errors.ts";
import type { CallQuery, CallRow } from "../../../call-log/port.ts";
import type {
  Call,
  CallCount,
  CallDeletion,
  CallFilters,
  CallNeighbours,
  Series,
  SeriesQuery,
} from "../../schemas/call.ts";
import type { Managed, Records } from "../core.ts";

const DAY_MS = 24 * 3_600_000;
const EXPORT_PAGE = 500;

/** Every member is required: a new filter of the log that is forgotten here fails to compile. */
type FullFilters = { readonly [K in Exclude<keyof CallQuery, "id" | "limit" | "cursor" | "after">]-?: CallQuery[K] };

function toFilters(query: CallFilters): FullFilters {
  return {
    server: query.server,
    tool: query.tool,
    group: query.group,
    client: query.client,
    session: query.session,
    principal: query.principal,
    token: query.token,
    workflowId: query.workflow_id,
    outcome: query.outcome,
    success: query.success,
    since: query.since,
    until: query.until,
    slowerThanMs: query.slower_than_ms,
    text: query.q,
  };
}

export class CallCommands {
  readonly #callLog: Records["callLog"];
  readonly #hub: Managed["hub"];

  constructor({ callLog, hub }: Pick<Managed, "callLog" | "hub">) {
    this.#callLog = callLog;
    this.#hub = hub;
  }

  /** The calls that the viewer may see: without the role operator its own. A user is named by email address, too. */
  filtersFor(viewer: Grant, query: CallFilters): FullFilters {
    const filters = toFilters(query);
    const { principal } = filters;
    const asked = principal === undefined ? undefined : (this.#hub.users.find(principal)?.principal ?? principal);
    const isAll = may(viewer, { to: "manage", as: "operator", changes: false });
    if (!isAll && asked !== undefined && asked !== viewer.principal) {
      throw new HubError("Forbidden", "Calls of others need the role operator", { field: "principal" });
    }
    return { ...filters, principal: isAll ? asked : viewer.principal };
  }

  /** A call that the viewer may not see does not exist. */
  async get(viewer: Grant, id: number): Promise<Call> {
    const [found] = (await this.#callLog.query({ id })).items;
    const owner = found?.principal ?? OWNER;
    if (found === undefined || !may(viewer, { to: "handle", owner, as: "operator" })) throw noCall(id);
    return found;
  }

  count(viewer: Grant, filters: CallFilters): Promise<CallCount> {
    return this.#callLog.count(this.filtersFor(viewer, filters));
  }

  async neighbours(viewer: Grant, id: number): Promise<CallNeighbours> {
    await this.get(viewer, id);
    const found = await this.#callLog.neighbours(id);
    if (found === undefined) throw noCall(id);
    return found;
  }

  async deleteBefore(at: number): Promise<CallDeletion> {
    return { deleted: await this.#callLog.deleteBefore(at) };
  }

  async series({ until = Date.now(), since = until - DAY_MS, ...query }: SeriesQuery): Promise<Series> {
    if (since >= until) {
      throw new HubError("InvalidArgument", "`since` must be before `until`", { field: "since" });
    }
    const { step_ms, series } = await this.#callLog.series({ ...query, since, until });
    return { from: new Date(since).toISOString(), until: new Date(until).toISOString(), step_ms, series };
  }

  /** Writes all matching calls to the response, newest first. Reads the next page when the client has taken the last one. */
  async export(filters: FullFilters, format: "ndjson" | "csv", response: ServerResponse): Promise<void> {
    let page = await this.#callLog.query({ ...filters, limit: EXPORT_PAGE });
    const { type, head, toLine } = FORMATS[format];
    response.writeHead(200, {
      "content-type": type,
      "content-disposition": `attachment; filename="calls.${format}"`,
    });
    response.write(head);
    for (;;) {
      const text = page.items.map(toLine).join("");
      if (text !== "" && !response.write(text)) await drained(response);
      if (page.next_cursor === null || response.destroyed) break;
      page = await this.#callLog.query({ ...filters, limit: EXPORT_PAGE, cursor: page.next_cursor });
    }
    response.end();
  }
}

/** Also if the client has disconnected. */
async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]).catch(() => undefined); // disconnected
  ended.abort();
}

function noCall(id: number): HubError {
  return new HubError("CallNotFound", `There is no call ${id} in the log`, {
    field: "id",
    hint: "plugboard calls lists the recorded calls with their ids",
  });
}

/** One column for each member of a call; objects are JSON. */
const CSV_COLUMNS = [
  "id",
  "timestamp",
  "server_name",
  "tool_name",
  "exposed_name",
  "group_name",
  "client",
  "client_version",
  "session",
  "principal",
  "token",
  "workflow_id",
  "request_id",
  "trace_id",
  "outcome",
  "success",
  "duration_ms",
  "queue_ms",
  "asked_ms",
  "attempts",
  "error_code",
  "error",
  "truncated",
  "protocol",
  "bytes",
  "params",
  "result",
] as const satisfies readonly (keyof CallRow)[];

const FORMATS = {
  ndjson: {
    type: "application/x-ndjson",
    head: "",
    toLine: (call: CallRow) => `${JSON.stringify(call)}\n`,
  },
  csv: {
    type: "text/csv; charset=utf-8",
    head: `${CSV_COLUMNS.join(",")}\r\n`,
    toLine: (call: CallRow) => `${CSV_COLUMNS.map((name) => toCell(call[name])).join(",")}\r\n`,
  },
} as const;

/** RFC 4180. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
function toCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
