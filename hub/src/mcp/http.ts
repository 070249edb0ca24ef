// The MCP endpoints of all groups over HTTP: `/mcp` is the group `default`, `/groups/{group}/mcp` and `/mcp/{group}` any other,
// over Streamable HTTP and WebSocket. `/sse` and `/messages` are the same groups for clients of the oldest revision.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Calls } from "../calls/call.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { toHubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { sendJson, type HttpResponse } from "../wire/http-answer.ts";
import { refuse } from "../wire/http-request.ts";
import { StreamableHttpServer } from "../wire/http-server.ts";
import type { QuickRequest } from "../wire/quick-connection.ts";
import type { QuickResponse } from "../wire/quick-response.ts";
import { RPC, writeReply, type NotificationMessage } from "../wire/jsonrpc.ts";
import type { SessionRecords } from "../wire/session-records.ts";
import { sessionIdIn, SseServer } from "../wire/sse-server.ts";
import type { WebSocketServer } from "../wire/ws-server.ts";
import { Endpoint } from "./endpoint.ts";
import { toReply } from "./failure.ts";
import type { LogLevels } from "./log-levels.ts";
import type { TaskIds } from "./task-ids.ts";

export interface McpHttpOptions {
  catalog(): Catalog;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
  readonly taskIds?: TaskIds;
  readonly logLevels?: LogLevels;
  /** Where the sessions of a group are on record, so that they survive this process. */
  readonly sessionRecords?: (group: string) => SessionRecords | undefined;
}

/** One group, over every transport. */
interface Served {
  readonly endpoint: Endpoint;
  readonly http: StreamableHttpServer;
  readonly sse: SseServer;
  /** Loaded with the first client that wants it. */
  webSocket: Promise<WebSocketServer> | undefined;
}

/** Both forms: the group behind, or in front. */
const BEHIND = /^\/(mcp|sse|messages)(?:\/([^/?]+))?\/?(?:\?(.*))?$/;
const IN_FRONT = /^\/groups\/([^/?]+)\/(mcp|sse|messages)\/?(?:\?(.*))?$/;

interface Target {
  /** `mcp`, `sse` or `messages`. */
  readonly way: string;
  /** As it is written. */
  readonly group: string | undefined;
  readonly query: string | undefined;
  /** Where a client of HTTP+SSE sends its messages. */
  readonly messages: string;
}

export class McpHttp {
  readonly #options: McpHttpOptions;
  /** Made when a group is first asked for. */
  readonly #groups = new Map<string, Served>();
  #closed = false;

  constructor(options: McpHttpOptions) {
    this.#options = options;
  }

  /** Whether the request was for this edge. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const target = targetOf(request.url ?? "");
    if (target === undefined) return false;
    const served = this.#find(target.group, response);
    if (target.way === "mcp") served?.http.handle(request, response);
    else if (target.way === "sse") served?.sse.open(request, response, target.messages);
    else served?.sse.message(request, response, sessionIdIn(target.query));
    return true;
  }

  /** The same for a message that was read without Node's parser. `@admin` is none of these: such paths have only letters. */
  post(request: QuickRequest, response: QuickResponse): boolean {
    const target = targetOf(request.url);
    if (target?.way !== "mcp") return false;
    this.#find(target.group, response)?.http.handle(request, response);
    return true;
  }

  /** A client wants a WebSocket. Whether that is for this edge; `response` is for what is refused. */
  upgrade(request: IncomingMessage, socket: Duplex, { head, response }: UpgradeParts): boolean {
    const target = targetOf(request.url ?? "");
    if (target?.way !== "mcp") return false;
    const served = this.#find(target.group, response);
    if (served === undefined) return true;
    served.webSocket ??= this.#openWebSocket(served.endpoint);
    void served.webSocket.then((server) => {
      const refusal = this.#closed ? CLOSING : server.refuse(request);
      if (refusal === undefined) return server.upgrade(request, socket, head);
      refuse(response(), refusal.status, RPC.invalidRequest, refusal.message);
    });
    return true;
  }

  /** How many clients have one now, by group and transport. */
  async sessions(): Promise<SessionCount[]> {
    const counts = [...this.#groups].map(async ([group, { http, sse, webSocket }]) => [
      { group, transport: "streamable-http", count: http.sessionCount } as const,
      { group, transport: "sse", count: sse.sessionCount } as const,
      { group, transport: "websocket", count: (await webSocket)?.sessionCount ?? 0 } as const,
    ]);
    return (await Promise.all(counts)).flat();
  }

  catalogChanged(): void {
    for (const { endpoint } of this.#groups.values()) endpoint.catalogChanged();
  }

  /** Nobody can come back any more. */
  endParked(): void {
    for (const { endpoint } of this.#groups.values()) endpoint.endParked();
  }

  taskNews(server: string, news: NotificationMessage): void {
    for (const { endpoint } of this.#groups.values()) endpoint.taskNews(server, news);
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
    const { WebSocketServer: Server } = await import("../wire/ws-server.ts");
    return new Server({ service });
  }

  /** The group of this name. Without one the request is answered. */
  #find(name: string | undefined, response: HttpResponse | (() => ServerResponse)): Served | undefined {
    try {
      return this.#group(decode(name));
    } catch (thrown) {
      const error = toHubError(thrown);
      const to = typeof response === "function" ? response() : response;
      sendJson(to, error.meaning.http, writeReply(null, toReply(error, "", "legacy")));
      return undefined;
    }
  }

  #group(name: string | undefined): Served {
    const key = this.#options.catalog().group(name).name;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = () => this.#options.catalog().group(name);
    const endpoint = new Endpoint({ ...this.#options, group });
    const http = new StreamableHttpServer(endpoint, { records: this.#options.sessionRecords?.(key) });
    const made = { endpoint, http, sse: new SseServer(endpoint), webSocket: undefined };
    this.#groups.set(key, made);
    return made;
  }
}

interface SessionCount {
  readonly group: string;
  readonly transport: "streamable-http" | "sse" | "websocket";
  readonly count: number;
}

/** What comes with a request for an upgrade. */
export interface UpgradeParts {
  /** What the client sent after its request. */
  readonly head: Buffer;
  /** For an answer in place of the upgrade. */
  readonly response: () => ServerResponse;
}

const CLOSING = { status: 503, message: "The hub is about to stop" } as const;

function targetOf(url: string): Target | undefined {
  const [, way, group, query] = BEHIND.exec(url) ?? [];
  if (way !== undefined)
    return { way, group, query, messages: group === undefined ? "/messages" : `/messages/${group}` };
  const [, named, wanted, rest] = IN_FRONT.exec(url) ?? [];
  if (wanted === undefined) return undefined;
  return { way: wanted, group: named, query: rest, messages: `/groups/${named}/messages` };
}

function decode(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return name; // not a valid escape: there is no such group either way
  }
}
