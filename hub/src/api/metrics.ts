// `/metrics`: the hub's figures as Prometheus reads them. Names follow the conventions for MCP where there are any.
// Labels are names from the config, known tools, and what clients call themselves: never an argument, a URI or the text of an error.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ManagementToken } from "../auth/management-token.ts";
import type { Calls } from "../calls/call.ts";
import { OUTCOMES } from "../calls/outcome.ts";
import type { CallLog } from "../calls/log.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { metric, type Sample } from "../telemetry/prometheus.ts";
import { sendJson } from "../wire/http-answer.ts";
import { VERSION } from "../version.ts";
import { wrongMethod } from "./problem.ts";
import { sendProblem } from "./refusal.ts";
import { identify } from "./request-id.ts";

export interface MetricsOptions {
  readonly supervisor: Supervisor;
  readonly calls: Pick<Calls, "limits" | "outcomes" | "retriesOf" | "served" | "underWay">;
  readonly latency: { prometheus(): string };
  readonly callLog: Pick<CallLog, "lost">;
  readonly secrets: Pick<SecretStore, "failures">;
  /** How many clients of MCP have one now. */
  readonly sessions: () => Promise<readonly { group: string; transport: string; count: number }[]>;
  readonly eventClients: () => number;
  readonly droppedConnections: () => number;
  readonly token: ManagementToken;
}

const STATES = ["stopped", "starting", "running", "error", "disabled", "disconnected", "unauthenticated"] as const;
const CIRCUIT_VALUES = { closed: 0, "half-open": 1, open: 2 } as const;
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function createMetrics(
  options: MetricsOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/metrics") return false;
    const requestId = identify(request, response);
    try {
      options.token.require(request.headers.authorization, request.socket.remoteAddress ?? "");
      if (request.method !== "GET" && request.method !== "HEAD") throw wrongMethod(["GET", "HEAD"]);
      render(options).then(
        (text) => sendJson(response, 200, Buffer.from(text), { "content-type": CONTENT_TYPE }),
        (error: unknown) => sendProblem(response, error, requestId),
      );
    } catch (error) {
      sendProblem(response, error, requestId);
    }
    return true;
  };
}

async function render(options: MetricsOptions): Promise<string> {
  const { supervisor, calls, latency, callLog, secrets, eventClients, droppedConnections } = options;
  const { servers } = supervisor;
  const sessions = await options.sessions();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    latency.prometheus(),
    calls.served.prometheus(),
    metric(
      "hub_server_up",
      "gauge",
      "Whether a server is running",
      servers.map(({ name, available }) => [{ server: name }, Number(available)]),
    ),
    metric(
      "hub_server_state",
      "gauge",
      "1 for the state that a server is in",
      servers.flatMap(({ name, status }) =>
        STATES.map((state) => [{ server: name, state }, Number(status.state === state)] as const),
      ),
    ),
    metric(
      "hub_tools",
      "gauge",
      "Tools that a server offers now",
      servers.map(({ name, status }) => [{ server: name }, status.state === "running" ? status.tools.length : 0]),
    ),
    metric(
      "hub_server_instances",
      "gauge",
      "Processes or connections that serve one caller each",
      servers.map(({ name, instances }) => [{ server: name }, instances.length]),
    ),
    metric(
      "hub_server_restarts_total",
      "counter",
      "How often a server was started again by itself",
      servers.flatMap(({ name, restartCounts }) => byReason(name, restartCounts)),
    ),
    metric(
      "hub_server_floods_total",
      "counter",
      "How often a server sent more messages than it may",
      servers.map(({ name, floods }) => [{ server: name }, floods]),
    ),
    metric(
      "hub_circuit_state",
      "gauge",
      "0 closed, 1 half-open, 2 open",
      servers.map(({ name, circuit }) => [{ server: name }, CIRCUIT_VALUES[circuit.breaker.state]]),
    ),
    metric(
      "hub_retries_total",
      "counter",
      "Requests that were sent to a server again",
      servers.flatMap(({ name }) => byReason(name, calls.retriesOf(name))),
    ),
    metric(
      "hub_sessions_active",
      "gauge",
      "Clients that have a session or a connection now",
      sessions.map(({ group, transport, count }) => [{ group, transport }, count]),
    ),
    metric("hub_event_clients", "gauge", "Readers of live events", [[{}, eventClients()]]),
    metric("hub_connections_dropped_total", "counter", "Connections that were turned away at a limit", [
      [{}, droppedConnections()],
    ]),
    metric("hub_secret_errors_total", "counter", "Secrets that were there and could not be read", [
      [{}, secrets.failures ?? 0],
    ]),
    metric("hub_calls_refused_total", "counter", "Calls that met a limit, of a server or of the hub (no server)", [
      ...[...calls.limits.refused].map(([limit, count]) => [{ limit }, count] as const),
      ...servers.flatMap(({ name, limits }) =>
        [...limits.refused].map(([limit, count]) => [{ server: name, limit }, count] as const),
      ),
    ]),
    metric(
      "hub_calls_waiting",
      "gauge",
      "Requests that wait for their turn at a server",
      servers.map(({ name, limits }) => [{ server: name }, limits.waiting]),
    ),
    metric(
      "hub_calls_total",
      "counter",
      "Tool calls, by how they ended",
      OUTCOMES.map((outcome) => [{ outcome }, calls.outcomes[outcome]]),
    ),
    metric("hub_calls_inflight", "gauge", "Requests that servers are working on", [[{}, calls.underWay]]),
    metric("hub_audit_dropped_total", "counter", "Calls that could not be recorded", [[{}, callLog.lost]]),
    metric("hub_build_info", "gauge", "Versions", [[{ version: VERSION, node: process.versions.node }, 1]]),
    metric("process_resident_memory_bytes", "gauge", "Memory of the hub itself", [[{}, rss]]),
    metric("nodejs_heap_size_used_bytes", "gauge", "Heap in use", [[{}, heapUsed]]),
    metric("process_cpu_seconds_total", "counter", "CPU time of the hub itself", [[{}, (user + system) / 1e6]]),
    metric("process_uptime_seconds", "gauge", "Since the hub's start", [[{}, process.uptime()]]),
    "",
  ].join("\n");
}

/** What has not happened yet has no reason, and so no line. */
function byReason(server: string, counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([reason, count]) => [{ server, reason }, count]);
}
