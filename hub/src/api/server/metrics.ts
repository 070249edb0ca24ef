// `/metrics` in the text format of Prometheus. Metric names follow the OpenTelemetry conventions for MCP if there are any.
// Labels are names from the config, of known tools and of clients: never an argument, a URI or the text of an error.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Calls } from "../../calls/calls.ts";
import { OUTCOMES } from "../../call-log/outcome.ts";
import type { CallLog } from "../../call-log/port.ts";
import type { SecretStore } from "../../secrets/store.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import { metric, type Sample } from "../../telemetry/prometheus.ts";
import { NodeResponse } from "../../http/node-response.ts";
import { VERSION } from "../../version.ts";
import { wrongMethod } from "../../http/problem.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { identify } from "../../http/request-id.ts";
import type { LoginMetrics } from "./login-metrics.ts";
import { addressOf } from "../../http/client-address.ts";

export interface MetricsOptions {
  readonly supervisor: Supervisor;
  readonly calls: Pick<Calls, "limits" | "outcomes" | "retriesOf" | "callerDurations" | "inFlight">;
  readonly latency: { prometheus(): string };
  /** Of callers with credentials. */
  /** Those of callers and addresses, and those of what comes before any credentials. */
  readonly requestLimits: readonly { readonly refused: ReadonlyMap<string, number> }[];
  readonly callLog: Pick<CallLog, "lost">;
  readonly secrets: Pick<SecretStore, "failures">;
  /** Open MCP sessions and connections. */
  readonly sessions: () => Promise<readonly { group: string; transport: string; count: number }[]>;
  readonly eventClients: () => number;
  readonly droppedConnections: () => number;
  /** Undefined: the hub has no certificate. */
  readonly certificateExpiresInMs: () => number | undefined;
  readonly logins: LoginMetrics;
  readonly authenticator: Authenticator;
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
    const source = addressOf(request);
    options.authenticator
      .authenticate(request, source)
      .then((grant) => {
        options.authenticator.requireRole(grant, { role: "operator", changes: false }, source);
        if (request.method !== "GET" && request.method !== "HEAD") throw wrongMethod(["GET", "HEAD"]);
        return render(options);
      })
      .then((text) => new NodeResponse(response).send(200, { "content-type": CONTENT_TYPE }, Buffer.from(text)))
      .catch((error: unknown) => sendProblem(response, error, requestId));
    return true;
  };
}

async function render(options: MetricsOptions): Promise<string> {
  const { supervisor, calls, latency, callLog, requestLimits, secrets, logins, eventClients, droppedConnections } =
    options;
  const { servers } = supervisor;
  const sessions = await options.sessions();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    latency.prometheus(),
    calls.callerDurations.prometheus(),
    metric(
      "hub_server_up",
      "gauge",
      "Whether a server is running",
      servers.map(({ name, available }) => [{ server: name }, Number(available)]),
    ),
    metric(
      "hub_server_state",
      "gauge",
      "1 for the current state of a server",
      servers.flatMap(({ name, status }) =>
        STATES.map((state) => [{ server: name, state }, Number(status.state === state)] as const),
      ),
    ),
    metric(
      "hub_tools",
      "gauge",
      "Tools that a server currently offers",
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
      "Automatic restarts of a server",
      servers.flatMap(({ name, restartCounts }) => byReason(name, restartCounts)),
    ),
    metric(
      "hub_server_floods_total",
      "counter",
      "How often a server exceeded its message rate",
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
      "Requests that were retried",
      servers.flatMap(({ name }) => byReason(name, calls.retriesOf(name))),
    ),
    metric(
      "hub_sessions_active",
      "gauge",
      "Open client sessions and connections",
      sessions.map(({ group, transport, count }) => [{ group, transport }, count]),
    ),
    ...logins.render(),
    metric("hub_event_clients", "gauge", "Open event streams", [[{}, eventClients()]]),
    metric("hub_connections_dropped_total", "counter", "Connections refused because of a limit", [
      [{}, droppedConnections()],
    ]),
    ...certificateMetric(options.certificateExpiresInMs()),
    metric("hub_secret_errors_total", "counter", "Stored secrets that could not be read", [
      [{}, secrets.failures ?? 0],
    ]),
    metric(
      "hub_calls_refused_total",
      "counter",
      "Calls refused because of a limit, of a tool, of a server or of the hub (no server label)",
      [
        ...[...calls.limits.refused].map(([limit, count]) => [{ limit }, count] as const),
        ...servers.flatMap(({ name, limits }) =>
          [...limits.refused].map(([limit, count]) => [{ server: name, limit }, count] as const),
        ),
        ...servers.flatMap(({ name, toolLimits }) =>
          [...toolLimits.used].flatMap(([tool, { refused }]) =>
            [...refused].map(([limit, count]) => [{ server: name, tool, limit }, count] as const),
          ),
        ),
      ],
    ),
    metric(
      "hub_requests_refused_total",
      "counter",
      "Requests refused because of a limit of their credentials or address",
      requestLimits.flatMap(({ refused }) => [...refused].map(([limit, count]) => [{ limit }, count] as const)),
    ),
    metric(
      "hub_calls_waiting",
      "gauge",
      "Requests in the queue of a server",
      servers.map(({ name, limits }) => [{ server: name }, limits.waiting]),
    ),
    metric(
      "hub_calls_total",
      "counter",
      "Tool calls by outcome",
      OUTCOMES.map((outcome) => [{ outcome }, calls.outcomes[outcome]]),
    ),
    metric("hub_calls_inflight", "gauge", "Requests that servers are processing", [[{}, calls.inFlight]]),
    metric("hub_audit_dropped_total", "counter", "Calls that could not be recorded", [[{}, callLog.lost]]),
    metric("hub_build_info", "gauge", "Versions", [[{ version: VERSION, node: process.versions.node }, 1]]),
    metric("process_resident_memory_bytes", "gauge", "Resident memory of the hub process", [[{}, rss]]),
    metric("nodejs_heap_size_used_bytes", "gauge", "Heap in use", [[{}, heapUsed]]),
    metric("process_cpu_seconds_total", "counter", "CPU time of the hub process", [[{}, (user + system) / 1e6]]),
    metric("process_uptime_seconds", "gauge", "Time since the start of the hub", [[{}, process.uptime()]]),
    "",
  ].join("\n");
}

function certificateMetric(expiresInMs: number | undefined): string[] {
  if (expiresInMs === undefined) return [];
  const seconds = Math.floor(expiresInMs / 1000);
  return [metric("hub_tls_expires_seconds", "gauge", "Time until the TLS certificate expires", [[{}, seconds]])];
}

/** One sample for each reason that has occurred. */
function byReason(server: string, counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([reason, count]) => [{ server, reason }, count]);
}
