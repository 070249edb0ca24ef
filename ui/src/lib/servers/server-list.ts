// Filtering and sorting the list of servers; both are in the address of the page.

import type { Server } from "$api/server.ts";
import { needsAttention } from "./state.ts";
import type { Query } from "../route.ts";

export type StateFilter = "attention" | "running" | "starting" | "stopped" | "off";

/** What runs it, in one word. */
export const kindOf = ({ launcher, kind }: Pick<Server, "launcher" | "kind">): string =>
  launcher === "remote" ? kind : launcher;

export function stateOf(server: Server): StateFilter {
  if (needsAttention(server)) return "attention";
  if (server.status === "running" || server.status === "starting") return server.status;
  return server.status === "disabled" ? "off" : "stopped";
}

export function filterServers(list: readonly Server[], { q = "", state = "", kind = "", group = "" }: Query): Server[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter((server) => {
    if (state !== "" && stateOf(server) !== state) return false;
    if (kind !== "" && kindOf(server) !== kind) return false;
    if (group !== "" && !server.groups.includes(group)) return false;
    const text = words.length === 0 ? "" : textOf(server);
    return words.every((word) => text.includes(word));
  });
}

function textOf({ config, error }: Server): string {
  const { name, command, args, url = "", description = "" } = config;
  return [name, command, ...args, url, description, error?.message ?? ""].join(" ").toLowerCase();
}

const VALUES: Readonly<Record<string, (server: Server) => string | number>> = {
  name: ({ config }) => config.name.toLowerCase(),
  state: (server) => ["attention", "starting", "running", "stopped", "off"].indexOf(stateOf(server)),
  kind: kindOf,
  tools: ({ tool_count: tools }) => tools,
  tokens: ({ tokens }) => tokens,
  calls: ({ calls_24h: calls }) => calls?.total ?? -1,
  p50: ({ calls_24h: calls }) => calls?.p50_ms ?? -1,
  p95: ({ calls_24h: calls }) => calls?.p95_ms ?? -1,
  errors: ({ calls_24h: calls }) => (calls === null ? -1 : calls.errors / calls.total),
  since: ({ status, since }) => (status === "running" && since !== null ? -Date.parse(since) : 0),
};

/** "-calls": most calls first. Servers that are equal stay in the order of the config. */
export function sortServers(list: readonly Server[], sort: string | undefined): readonly Server[] {
  const descending = sort?.startsWith("-") === true;
  const valueOf = VALUES[descending ? (sort?.slice(1) ?? "") : (sort ?? "")];
  if (valueOf === undefined) return list;
  const sign = descending ? -1 : 1;
  return list.toSorted((a, b) => sign * compare(valueOf(a), valueOf(b)));
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}
