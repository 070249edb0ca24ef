// The hub's edges over HTTP: the MCP endpoints of all groups, the REST API, the admin endpoint and the metrics. The API has MCP
// endpoints of its own, for the web interface.

import type { IncomingMessage, ServerResponse } from "node:http";
import { createAdminEndpoint } from "../api/server/admin/endpoint.ts";
import { decodeUri } from "@plugboard/shared/lenient";
import { createApi, type ApiOptions, type McpTarget } from "../api/server/app.ts";
import { GrantLimits, type GrantLimitSettings } from "../auth/grant-limits.ts";
import { LoginMetrics } from "../api/server/login-metrics.ts";
import { createRegistryMirror } from "../api/server/registry-mirror.ts";
import { createMetrics } from "../api/server/metrics.ts";
import { answerProbe } from "../api/server/probes.ts";
import type { Latency } from "../calls/latency.ts";
import type { CallLog } from "../call-log/port.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Group } from "../catalog/group.ts";
import type { DroppedConnections } from "../http/dropped-connections.ts";
import type { Edge } from "../http/listener.ts";
import { HubLoginPages } from "./login-pages.ts";
import { createGroupRest } from "../mcp/openapi/group-rest.ts";
import { McpHttp, type McpHttpOptions } from "../mcp/http.ts";
import { createResourceMetadata } from "../mcp/resource-metadata.ts";
import type { ServedMirror } from "../registry/mirror/served.ts";

export interface HubEdgesOptions extends Pick<
  ApiOptions,
  "hub" | "paths" | "user" | "authenticator" | "ui" | "onUnexpected"
> {
  /** The last catalog that was built. */
  readonly catalog: () => Catalog;
  readonly mcp: Omit<McpHttpOptions, "calls" | "supervisor" | "group" | "authenticator" | "limits">;
  /** Of each caller with credentials. */
  readonly limits: GrantLimitSettings;
  readonly callLog: CallLog;
  readonly latency: Latency;
  readonly dropped: DroppedConnections;
  /** A registry for other hubs. Undefined: none is served. */
  readonly registryMirror: ServedMirror | undefined;
  /** Where people find the hub, and whether that is not just this machine. */
  readonly address: () => PublicAddress;
}

export interface PublicAddress {
  /** Where people sign in. */
  readonly url: string;
  readonly isPublic: boolean;
  /** Where those who manage the hub sign in, if that is elsewhere. */
  readonly adminUrl: string | undefined;
}

export interface HubEdges {
  /** Of the groups, and of the API. */
  readonly mcp: readonly McpHttp[];
  /** For clients and their people, wherever they are. */
  readonly clientEdges: readonly Edge[];
  /** For those who manage the hub. Tried first: the path of `@admin` looks like a group's. */
  readonly adminEdges: readonly Edge[];
  /** For people with an account, where those who manage the hub have another address. Undefined: no one has an account. */
  readonly accountEdge: Edge | undefined;
  readonly loginPages: HubLoginPages;
  /** Ends all clients. */
  close(): void;
  /** A key that signs one browser in; undefined without the web interface. */
  makeUiKey(): Promise<string | undefined>;
  /** Resolves when the state of the edges is on disk. */
  saved(): Promise<void>;
}

export function createEdges(options: HubEdgesOptions): HubEdges {
  const { hub, paths, user, authenticator, ui, catalog, callLog, latency, dropped, registryMirror, onUnexpected } =
    options;
  const { calls, supervisor, secrets, events, logins } = hub;
  const managed = { hub, paths, user, callLog };
  const limits = new GrantLimits(options.limits);
  const mcp = new McpHttp({
    ...options.mcp,
    calls,
    supervisor,
    authenticator,
    limits,
    group: (name) => catalog().group(name),
  });
  const apiMcp = new McpHttp({
    ...options.mcp,
    edge: "api",
    authenticator,
    calls,
    supervisor,
    group: (key = "") => groupOf(catalog(), key),
  });
  const api = createApi({
    ...managed,
    authenticator,
    ui,
    mcp: (target, request, response, grant) => apiMcp.serve(keyOf(hub, target), request, response, grant),
    ...(onUnexpected === undefined ? {} : { onUnexpected }),
  });
  const probes = (request: IncomingMessage, response: ServerResponse) =>
    answerProbe(request, response, {
      stopping: hub.isStopping,
      dataDir: paths.data,
      degraded: hub.databaseProblem ?? callLog.degraded,
      staysReady: hub.databaseName !== undefined,
    });
  const admin = createAdminEndpoint(managed, authenticator);
  const metrics = createMetrics({
    supervisor,
    calls,
    latency,
    callLog,
    secrets,
    logins: new LoginMetrics({ events, logins, supervisor }),
    requestLimits: [limits, hub.rates],
    sessions: () => mcp.sessions(),
    eventClients: () => api.eventClients(),
    droppedConnections: () => dropped.total,
    certificateExpiresInMs: () => hub.listeners?.certificateExpiresInMs,
    authenticator,
  });
  const loginPages = new HubLoginPages({
    logins,
    supervisor,
    events,
    onUnexpected: onUnexpected ?? (() => undefined),
    ui: ui === undefined ? undefined : options.address,
  });
  return {
    mcp: [mcp, apiMcp],
    loginPages,
    clientEdges: [
      probes,
      mcp.toEdge(),
      createGroupRest({ mcp, base: () => hub.publicUrl ?? "", needsToken: authenticator.needsToken }),
      createResourceMetadata(authenticator),
      ...(registryMirror === undefined
        ? []
        : [createRegistryMirror({ mirror: registryMirror, authenticator, limits })]),
      loginPages.edge,
      ...(hub.issuer === undefined ? [] : [hub.issuer.edge]),
    ],
    adminEdges: [admin, api, metrics],
    accountEdge: api.accounts,
    close: () => [mcp, apiMcp, api, admin, authenticator].forEach((edge) => edge.close()),
    makeUiKey: () => api.makeUiKey(),
    saved: () => api.saved(),
  };
}

/** The name of an endpoint of the API. Throws if there is no such server or group. */
function keyOf({ supervisor, catalog }: ApiOptions["hub"], { kind, name: encoded }: McpTarget): string {
  const name = decodeUri(encoded);
  const known = kind === "servers" ? supervisor.get(name).name : catalog.group(name).name;
  return `${kind}/${encodeURIComponent(known)}`;
}

function groupOf(catalog: Catalog, key: string): Group {
  const [kind, ...name] = key.split("/");
  return kind === "servers" ? catalog.server(name.join("/")) : catalog.group(name.join("/"));
}
