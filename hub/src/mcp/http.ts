// The MCP endpoints of all groups over HTTP: `/mcp` is the group `default`, `/groups/{group}/mcp` and `/mcp/{group}` any other,
// over Streamable HTTP and WebSocket. `/sse` and `/messages` are the same groups for clients of 2024-11-05.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { decodeUri } from "@plugboard/shared/lenient";
import type { Authenticator } from "../auth/authenticator.ts";
import type { GrantLimits } from "../auth/grant-limits.ts";
import type { Grant } from "../auth/grant.ts";
import { may } from "../auth/policy.ts";
import type { Calls } from "../calls/calls.ts";
import { groupNotFound } from "../catalog/catalog.ts";
import type { Exposure, Group } from "../catalog/group.ts";
import { toHubError, type HubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { sendJson, type HttpResponse } from "../protocol/serve/http-response.ts";
import { headerOf, readWhole, refuse, type HttpRequest, type WholeRequest } from "../protocol/serve/http-request.ts";
import { StreamableHttpServer } from "../protocol/serve/http-server.ts";
import type { Edge, UpgradeParts } from "../http/listener.ts";
import { targetOf, type Target } from "../http/mcp-paths.ts";
import { NodeResponse } from "../http/node-response.ts";
import { headersOf } from "../http/problem.ts";
import { RPC, writeReply, type NotificationMessage } from "../protocol/rpc/jsonrpc.ts";
import type { Requester } from "../protocol/serve/service.ts";
import type { SessionRecords } from "../protocol/serve/session-records.ts";
import { sessionIdIn, SseServer } from "../protocol/serve/sse-server.ts";
import type { WebSocketServer } from "../protocol/serve/ws-server.ts";
import type { LoginOffers } from "./client-requests/login-offers.ts";
import { GroupRequesters } from "./group-requesters.ts";
import { Endpoint, type SessionObserver } from "./endpoint.ts";
import { toReply } from "./errors.ts";
import type { EndpointAddress, McpEdge, PeerRequest, SessionRouting } from "./session-routing.ts";
import type { LogLevels } from "./log-levels.ts";
import type { TaskIds } from "./tasks/task-ids.ts";
import { addressOf } from "../http/client-address.ts";

export interface McpHttpOptions {
  /** The group of a name, as it is now; undefined: the default group. Throws if there is none. */
  group(name: string | undefined): Group;
  /** Of callers at the endpoints' own paths. */
  readonly authenticator: Authenticator;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
  readonly taskIds?: TaskIds;
  readonly logLevels?: LogLevels;
  readonly loginOffers?: LoginOffers;
  readonly sessions?: SessionObserver | undefined;
  /** Of each caller, and of each address. */
  readonly limits?: GrantLimits;
  /** The session records of a group, so that sessions survive this process. */
  readonly sessionRecords?: (group: string) => SessionRecords | undefined;
  /** Of several hubs that share their sessions. */
  readonly routing?: SessionRouting | undefined;
  /** The name of this edge among the hub's. */
  readonly edge?: McpEdge;
}

/** One group over every transport. */
interface GroupServers {
  /** As it is now. Throws if it is gone. */
  readonly group: () => Group;
  readonly name: string;
  readonly address: EndpointAddress;
  readonly requesters: GroupRequesters;
  readonly endpoint: Endpoint;
  readonly http: StreamableHttpServer;
  readonly sse: SseServer;
  /** Loaded for the first client that uses it. */
  webSocket: Promise<WebSocketServer> | undefined;
}

/** A caller that may use a group. */
export interface Admitted {
  readonly endpoint: Endpoint;
  readonly group: Group;
  readonly requester: Requester | undefined;
}

/** A group has no such name: names have no spaces. */
const READ_ONLY = "(read-only)";
export class McpHttp {
  readonly #options: McpHttpOptions;
  /** Created on the first request to a group. */
  readonly #groups = new Map<string, GroupServers>();
  #closed = false;

  constructor(options: McpHttpOptions) {
    this.#options = options;
  }

  toEdge(): Edge {
    const edge = (request: IncomingMessage, response: ServerResponse) => this.handle(request, response);
    const upgrade = (request: IncomingMessage, socket: Duplex, parts: UpgradeParts) =>
      this.upgrade(request, socket, parts);
    const fast = (request: WholeRequest, response: HttpResponse, source: string) =>
      this.post(request, response, source);
    return Object.assign(edge, { upgrade, fast });
  }

  /** Returns whether the request was for this edge. */
  handle(request: IncomingMessage, nodeResponse: ServerResponse): boolean {
    const target = targetOf(request.url ?? "");
    if (target === undefined) return false;
    const response = new NodeResponse(nodeResponse);
    this.#enter(request, target, response, (served, requester) => {
      if (target.route === "mcp") this.#serve(served, request, response, requester);
      else if (target.route === "sse") served.sse.open(request, response, target.messages, requester);
      else served.sse.message(request, response, sessionIdIn(target.query), requester);
    });
    return true;
  }

  /** Streamable HTTP of one group, for an edge that has paths of its own and knows the caller. `name` is not yet decoded. */
  serve(name: string, request: IncomingMessage, nodeResponse: ServerResponse, grant: Grant): void {
    const response = new NodeResponse(nodeResponse);
    const served = this.#find({ route: "mcp", group: name, query: undefined }, grant, response, undefined);
    if (served !== undefined) this.#serve(served, request, response, served.requesters.of(grant));
  }

  /** The same for a POST of the fast path, whose paths have no `@`, so it is never `/mcp/@admin`. */
  post(request: WholeRequest, response: HttpResponse, source: string): boolean {
    const target = targetOf(request.url);
    if (target?.route !== "mcp") return false;
    const caller = this.#options.authenticator.findMcp(request, source);
    // Refusals are left to Node's server.
    if (caller === undefined) return false;
    const served = this.#find(target, caller, response, source);
    if (served !== undefined) this.#serve(served, request, response, served.requesters.of(caller));
    return true;
  }

  /** For other protocols: a group with all its tools, for the caller of a request. Rejects as the group's endpoint refuses. */
  async admit(request: IncomingMessage, group: string): Promise<Admitted> {
    const { authenticator, limits } = this.#options;
    const source = addressOf(request);
    const caller = authenticator.findMcp(request, source) ?? (await authenticator.authenticateMcp(request, source));
    limits?.take(caller, source);
    const { endpoint, requesters, group: find } = this.#group(decodeUri(group), "all", caller);
    const asked = find();
    return { endpoint, group: caller.readOnly ? asked.readOnly : asked, requester: requesters.of(caller) };
  }

  /**
   * A request that another hub has forwarded: that one has checked that the caller may use the endpoint. Sends an error if the
   * group is gone.
   */
  servePeer({ address, request, response, requester }: PeerRequest): void {
    try {
      this.#servers(address).http.handle(request, response, requester);
    } catch (thrown) {
      sendError(response, toHubError(thrown));
    }
  }

  hasSession(id: string): boolean {
    return [...this.#groups.values()].some(({ http }) => http.hasSession(id));
  }

  /** Another hub has adopted the session. */
  endSession(id: string): void {
    for (const { http } of this.#groups.values()) http.endSession(id);
  }

  /** Upgrades to a WebSocket. Returns whether the request was for this edge; `response` is used if it is refused. */
  upgrade(request: IncomingMessage, socket: Duplex, { head, response }: UpgradeParts): boolean {
    const target = targetOf(request.url ?? "");
    if (target?.route !== "mcp") return false;
    const refused = () => new NodeResponse(response());
    this.#enter(request, target, refused, (served, requester) => {
      served.webSocket ??= this.#openWebSocket(served.endpoint);
      void served.webSocket.then((server) => {
        const refusal = this.#closed ? CLOSING : server.refuse(request);
        if (refusal === undefined) return server.upgrade(request, socket, head, requester);
        refuse(refused(), refusal.status, RPC.invalidRequest, refusal.message);
      });
    });
    return true;
  }

  /** Open sessions by group and transport. */
  async sessions(): Promise<SessionCount[]> {
    const counts = [...this.#groups].map(async ([group, { http, sse, webSocket }]) => [
      { group, transport: "streamable-http", count: http.sessionCount } as const,
      { group, transport: "sse", count: sse.sessionCount } as const,
      { group, transport: "websocket", count: (await webSocket)?.sessionCount ?? 0 } as const,
    ]);
    return (await Promise.all(counts)).flat();
  }

  catalogChanged(): void {
    for (const { endpoint, requesters, group } of this.#groups.values()) {
      requesters.check(groupNow(group));
      endpoint.catalogChanged();
    }
  }

  /** Cancels the calls that are suspended until their client sends input. */
  cancelSuspendedCalls(): void {
    for (const { endpoint } of this.#groups.values()) endpoint.cancelSuspendedCalls();
  }

  onTaskNotification(server: string, message: NotificationMessage): void {
    for (const { endpoint } of this.#groups.values()) endpoint.onTaskNotification(server, message);
  }

  /** Ends every session and stream. */
  close(): void {
    this.#closed = true;
    for (const { endpoint, http, sse, webSocket } of this.#groups.values()) {
      endpoint.close();
      http.close();
      sse.close();
      void webSocket?.then((server) => server.close());
    }
  }

  async #openWebSocket(service: Endpoint): Promise<WebSocketServer> {
    const { WebSocketServer: Server } = await import("../protocol/serve/ws-server.ts");
    return new Server({ service });
  }

  /** Continues with the group of a request and its caller, or sends an error. */
  #enter(
    request: IncomingMessage,
    target: Target,
    response: LazyResponse,
    use: (served: GroupServers, requester: Requester | undefined) => void,
  ): void {
    const { authenticator } = this.#options;
    const source = addressOf(request);
    const enter = (caller: Grant) => {
      const served = this.#find(target, caller, response, source);
      if (served !== undefined) use(served, served.requesters.of(caller));
    };
    const caller = authenticator.findMcp(request, source);
    if (caller !== undefined) return enter(caller);
    authenticator
      .authenticateMcp(request, source)
      .then(enter, (thrown: unknown) => sendError(response, toHubError(thrown)));
  }

  /** The group of this name. If there is none, or the caller may not use it, sends the same error. */
  #find(
    target: Pick<Target, "route" | "group" | "query">,
    caller: Grant,
    response: LazyResponse,
    source: string | undefined,
  ): GroupServers | undefined {
    try {
      const { group, route } = target;
      // Messages of other transports are counted when they are read.
      if (route === "mcp") this.#options.limits?.take(caller, source);
      return this.#group(group === undefined ? undefined : decodeUri(group), exposureIn(target), caller);
    } catch (thrown) {
      sendError(response, toHubError(thrown));
      return undefined;
    }
  }

  #group(name: string | undefined, exposure: Exposure | undefined, caller: Grant): GroupServers {
    const asked = this.#options.group(name);
    const given = name ?? asked.name;
    if (!may(caller, { to: "use", group: asked })) throw groupNotFound(given);
    return this.#servers({ edge: this.#options.edge ?? "groups", group: given, readOnly: caller.readOnly, exposure });
  }

  /** Throws if there is no such group. */
  #servers(address: EndpointAddress): GroupServers {
    const { group: name, readOnly, exposure } = address;
    const find = () => this.#options.group(name);
    // Sessions of one kind of caller are not for the other.
    const key = [name, ...(readOnly ? [READ_ONLY] : []), ...(exposure === undefined ? [] : [`(${exposure})`])].join(
      " ",
    );
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    find();
    const allowed = readOnly ? () => find().readOnly : find;
    const group = exposure === undefined ? allowed : () => allowed().exposing(exposure);
    const endpoint = new Endpoint({ ...this.#options, group });
    const http = new StreamableHttpServer(endpoint, { records: this.#options.sessionRecords?.(key) });
    const requesters = new GroupRequesters(this.#options.limits);
    const sse = new SseServer(endpoint);
    const made = { name: key, address, group: find, requesters, endpoint, http, sse, webSocket: undefined };
    this.#groups.set(key, made);
    return made;
  }

  /** Here, or at the hub that owns the session. */
  #serve(
    { name, address, http }: GroupServers,
    request: HttpRequest,
    response: HttpResponse,
    requester: Requester | undefined,
  ): void {
    const { routing } = this.#options;
    const session = routing === undefined ? undefined : headerOf(request, "mcp-session-id");
    if (routing === undefined || session === undefined || http.hasSession(session)) {
      return http.handle(request, response, requester);
    }
    readWhole(request, response, (whole) =>
      routing.route({
        session,
        address,
        endpoint: name,
        request: whole,
        response,
        requester,
        serve: () => http.handle(whole, response, requester),
        fail: (error) => sendError(response, error),
      }),
    );
  }
}

/** Undefined: it is gone. */
function groupNow(group: () => Group): Group | undefined {
  try {
    return group();
  } catch {
    return undefined;
  }
}

type LazyResponse = HttpResponse | (() => HttpResponse);

function sendError(response: LazyResponse, error: HubError): void {
  const to = typeof response === "function" ? response() : response;
  sendJson(to, error.meaning.http, writeReply(null, toReply(error, "", "legacy")), headersOf(error));
}

interface SessionCount {
  readonly group: string;
  readonly transport: "streamable-http" | "sse" | "websocket";
  readonly count: number;
}

const CLOSING = { status: 503, message: "The hub is stopping" } as const;

/** `?tools=all` or `?tools=search`. Not with HTTP+SSE, whose messages have an address of their own. */
function exposureIn({ route, query }: Pick<Target, "route" | "query">): Exposure | undefined {
  if (query === undefined || route !== "mcp") return undefined;
  const wanted = new URLSearchParams(query).get("tools");
  return wanted === "all" || wanted === "search" ? wanted : undefined;
}
