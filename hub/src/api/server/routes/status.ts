// Status of the hub.

import type { ErrorBody } from "../../../errors.ts";
import { REPLY_TIMEOUT_MS } from "../../../protocol/serve/client-requests.ts";
import type { LoginView } from "../../../servers/login/login-view.ts";
import type { ManagedServer } from "../../../servers/server.ts";
import { VERSION } from "../../../version.ts";
import type { Managed } from "../core.ts";
import type { EventStreams } from "../live/event-streams.ts";
import { routesOf, type Route } from "../route.ts";
import { loginWarnings } from "../view.ts";
import { serverState } from "../../schemas/server.ts";
import { status, type HubStatus } from "../../schemas/status.ts";

const { get } = routesOf("hub");

export function statusRoutes(managed: Managed, streams: EventStreams): Route[] {
  const startedAt = new Date(Date.now() - process.uptime() * 1000);
  return [
    get("/status", "getStatus", "Status of the hub", {
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
    // Not from the time of day, which may be adjusted.
    uptime_ms: Math.round(process.uptime() * 1000),
    public_url: hub.publicUrl ?? null,
    demo: configuration.demo,
    revision: configuration.revision,
    servers: { total: servers.length, ...Object.fromEntries(states) },
    groups: catalog.groupNames.length,
    tools: servers.reduce((sum, { available, listing }) => sum + (available ? (listing?.tools.length ?? 0) : 0), 0),
    event_streams: streams.count,
    question_limit_ms: REPLY_TIMEOUT_MS,
    warnings: [...warnings, ...servers.flatMap((server) => firstWarning(server, hub.logins.view(server.config)))],
    degraded: [
      ...(configuration.rejected === undefined ? [] : [rejectedConfig(configuration.rejected)]),
      ...(hub.databaseProblem === undefined ? [] : [`Changes are refused for now. ${hub.databaseProblem}`]),
      ...(callLog.degraded === undefined ? [] : [callLog.degraded]),
      ...(hub.listeners?.problems ?? []),
    ],
    config_error: configuration.rejected ?? null,
  };
}

function rejectedConfig({ message }: ErrorBody): string {
  return `The config on disk is invalid, the last valid one stays active: ${message}`;
}

/** Only the first of each server: `GET /servers` has them all. */
function firstWarning({ name, warnings }: ManagedServer, login: LoginView | undefined): string[] {
  const [first, ...others] = [...warnings, ...loginWarnings(login)];
  if (first === undefined) return [];
  return [`${name}: ${first}${others.length === 0 ? "" : ` (and ${others.length} more)`}`];
}
