// The filter of the Calls page: its place in the address, its query for the API, its chips.

import { bounds, parseRange, rangeQuery, type TimeRange } from "../charts/time-range.ts";

export const OUTCOME_FILTERS = ["not_ok", "ok", "tool_error", "failed", "cancelled", "refused"] as const;
export type OutcomeFilter = (typeof OUTCOME_FILTERS)[number];

const TEXT_MEMBERS = ["server", "tool", "group", "client", "session", "principal", "q"] as const;
type TextMember = (typeof TEXT_MEMBERS)[number];

export type CallFilter = { readonly [K in TextMember]?: string } & {
  readonly range: TimeRange;
  readonly outcome?: OutcomeFilter;
  /** Only calls that took at least so many milliseconds. */
  readonly slower?: number;
};

export const DEFAULT_SINCE = "24h";

type Query = Readonly<Record<string, string | undefined>>;

export function parseFilter(query: Query): CallFilter {
  const filter: { -readonly [K in keyof CallFilter]: CallFilter[K] } = {
    range: parseRange(query["since"], query["until"], DEFAULT_SINCE),
  };
  for (const member of TEXT_MEMBERS) {
    const value = query[member];
    if (value !== undefined && value !== "") filter[member] = value;
  }
  const outcome = query["ok"] === "no" ? "not_ok" : OUTCOME_FILTERS.find((known) => known === query["outcome"]);
  if (outcome !== undefined) filter.outcome = outcome;
  const slower = Number(query["slower"] ?? "");
  if (Number.isFinite(slower) && slower > 0) filter.slower = slower;
  return filter;
}

/** The members of the address. Members that are undefined are taken out of it. */
export function filterQuery(filter: CallFilter): Record<string, string | undefined> {
  const query: Record<string, string | undefined> = { ...rangeQuery(filter.range, DEFAULT_SINCE), ok: undefined };
  for (const member of TEXT_MEMBERS) query[member] = filter[member];
  query["outcome"] = filter.outcome;
  query["slower"] = filter.slower === undefined ? undefined : String(filter.slower);
  return query;
}

/** The parameters of `GET /calls`, `/calls/count` and `/calls/export`. */
export function apiParams(filter: CallFilter, now: number): URLSearchParams {
  const params = seriesParams(filter, now);
  if (filter.outcome === "not_ok") params.set("success", "false");
  else if (filter.outcome !== undefined) params.set("outcome", filter.outcome);
  if (filter.slower !== undefined) params.set("slower_than_ms", String(filter.slower));
  if (filter.session !== undefined) params.set("session", filter.session);
  if (filter.principal !== undefined) params.set("principal", filter.principal);
  if (filter.q !== undefined) params.set("q", filter.q);
  return params;
}

/** The parameters that `GET /stats/series` has too: it knows neither outcome nor duration nor text. */
export function seriesParams(filter: CallFilter, now: number): URLSearchParams {
  const params = new URLSearchParams();
  const { from, until } = bounds(filter.range, now);
  if (from !== undefined) params.set("since", new Date(from).toISOString());
  if (until !== undefined) params.set("until", new Date(until).toISOString());
  for (const member of ["server", "tool", "group", "client"] as const) {
    const value = filter[member];
    if (value !== undefined) params.set(member, value);
  }
  return params;
}

/** One removable condition, in the order in which Escape removes them: the last first. */
export interface Chip {
  readonly member: TextMember | "outcome" | "slower" | "range";
  readonly value: string;
}

export function chips(filter: CallFilter): Chip[] {
  const all: Chip[] = [];
  if (filter.range.kind === "between") all.push({ member: "range", value: "" });
  for (const member of TEXT_MEMBERS) {
    const value = filter[member];
    if (value !== undefined) all.push({ member, value });
  }
  if (filter.outcome !== undefined) all.push({ member: "outcome", value: filter.outcome });
  if (filter.slower !== undefined) all.push({ member: "slower", value: String(filter.slower) });
  return all;
}

export function withoutChip(filter: CallFilter, member: Chip["member"]): CallFilter {
  if (member === "range") return { ...filter, range: parseRange(undefined, undefined, DEFAULT_SINCE) };
  const { [member]: _removed, ...rest } = filter;
  return rest;
}
