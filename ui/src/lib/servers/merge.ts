// Events of servers applied to what is known of them. Each function leaves its input as it is.

import type { Server } from "$api/server.ts";

type Servers = ReadonlyMap<string, Server>;

export type StatusEvent = { readonly server: string; readonly elapsed_ms: number | null } & Pick<
  Server,
  "status" | "stage" | "since" | "tool_count" | "error"
>;

export type CircuitEvent = { readonly server: string } & Pick<Server, "circuit">;

/** An event may be older than what is known: then it changes nothing. */
export function applyStatus(servers: Servers, event: StatusEvent): Servers {
  const known = servers.get(event.server);
  if (known === undefined || isOlder(event.since, known.since)) return servers;
  const { status, stage, since, error } = event;
  // A server that does not run keeps the number of tools that it had: the list would jump otherwise.
  const tool_count = status === "running" ? event.tool_count : known.tool_count;
  return withServer(servers, { ...known, status, stage, since, error, tool_count });
}

export function withServer(servers: Servers, server: Server): Servers {
  return new Map(servers).set(server.config.name, server);
}

export function withoutServer(servers: Servers, name: string): Servers {
  const rest = new Map(servers);
  rest.delete(name);
  return rest;
}

function isOlder(since: string | null, known: string | null): boolean {
  return since !== null && known !== null && Date.parse(since) < Date.parse(known);
}
