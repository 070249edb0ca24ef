// The hub itself.

import type { ErrorBody } from "../../errors.ts";
import type { ManagedServer } from "../../servers/server.ts";
import { VERSION } from "../../version.ts";
import type { Managed } from "../core.ts";
import type { EventStreams } from "../live/event-streams.ts";
import { route, type Route } from "../route.ts";
import { serverState } from "../schemas/server.ts";
import { status, type HubStatus } from "../schemas/status.ts";

export function statusRoutes(managed: Managed, streams: EventStreams): Route[] {
  const startedAt = new Date(Date.now() - process.uptime() * 1000);
  return [
    route({
      method: "get",
      path: "/status",
      tag: "hub",
      id: "getStatus",
      summary: "How the hub is",
      answer: status,
      run: () => toStatus(managed, streams, startedAt),
    }),
  ];
}

function toStatus({ hub, callLog }: Managed, streams: EventStreams, startedAt: Date): HubStatus {
  const { supervisor, configuration, catalog, warnings } = hub;
  const { servers } = supervisor;
  const inState = (state: string) => servers.filter((server) => server.status.state === state).length;
  const states = serverState.options.map((state) => [state, inState(state)]);
  return {
    version: VERSION,
    pid: process.pid,
    started_at: startedAt.toISOString(),
    // Not from the time of day, which may be set meanwhile.
    uptime_ms: Math.round(process.uptime() * 1000),
    demo: configuration.demo,
    revision: configuration.revision,
    servers: { total: servers.length, ...Object.fromEntries(states) },
    groups: catalog.groupNames.length,
    tools: servers.reduce((sum, { available, listing }) => sum + (available ? (listing?.tools.length ?? 0) : 0), 0),
    event_streams: streams.count,
    warnings: [...warnings, ...servers.flatMap(firstWarning)],
    degraded: [
      ...(configuration.rejected === undefined ? [] : [notInForce(configuration.rejected)]),
      ...(callLog.degraded === undefined ? [] : [callLog.degraded]),
    ],
    config_error: configuration.rejected ?? null,
  };
}

function notInForce({ message }: ErrorBody): string {
  return `The config on disk is not in force, the last good one is: ${message}`;
}

/** The first of each server: all of them are with the server. */
function firstWarning({ name, warnings: [first, ...others] }: ManagedServer): string[] {
  if (first === undefined) return [];
  return [`${name}: ${first}${others.length === 0 ? "" : ` (and ${others.length} more)`}`];
}
