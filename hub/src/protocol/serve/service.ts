// The interface between a server-side transport and the service behind it. Independent of transports.

import type { Cancellation } from "../../lib/cancellation.ts";
import type { LifetimeEnd } from "../../lib/lifetime.ts";
import type { Era } from "../revisions/era.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { NotificationMessage, Raw, Reply, RequestMessage } from "../rpc/jsonrpc.ts";
import type { AskOptions } from "./client-requests.ts";
import type { SessionUsage } from "./session-init.ts";

/**
 * Sends a request to the client. Resolves with its reply, errors included. Rejects without a reply: the client has disconnected
 * or does not answer, the request that it belongs to has ended, or the signal aborted (which cancels it at the client).
 */
export type AskClient = (method: string, params: Raw | undefined, options?: AskOptions) => Promise<Reply>;

export type TransportName = "stdio" | "http" | "sse" | "websocket";

/** A legacy client after `initialize`. Modern clients have no session: each request carries its own envelope. */
export interface Session {
  readonly id: string;
  /** Identifies it to others than its client. */
  readonly publicId: string;
  readonly usage: SessionUsage;
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client wants; undefined before it sets one. */
  logLevel: string | undefined;
  /** Sends an unsolicited notification. Over HTTP it is buffered, within bounds, while the client has no stream open. */
  notify(method: string, params?: Raw): void;
  /** Sends a request outside of any request of the client, on the stream that it holds open. */
  readonly ask: AskClient;
}

export interface RequestLimit {
  /** Counts a request. Throws if there were too many; over HTTP, the edge has done it. */
  take(): void;
  /** Begins a request, which `leave` ends. Throws if too many are open. */
  enter(): void;
  leave(): void;
}

/** Who makes a request, as the edge has authenticated them. */
export interface Requester {
  /** The person or program. */
  readonly principal: string;
  /** The same, and the client that acts for it: a session, task or suspended call of one is unknown to all others. */
  readonly owner: string;
  /** The access token by its name, or the OAuth client. */
  readonly client?: string | undefined;
  /** The name under which its calls are recorded, whatever the client calls itself. */
  readonly clientName?: string;
  /** Of its requests. Undefined: none. */
  readonly limit?: RequestLimit | undefined;
  /**
   * Runs a function when the access ends. Returns how to forget that. "expired": the client gets new credentials by itself, with
   * which it goes on.
   */
  onceEnded(end: (why: LifetimeEnd) => void): () => void;
}

/** One request of a client, while it is open. */
export interface IncomingRequest {
  readonly request: RequestMessage;
  readonly era: Era;
  readonly transport: TransportName;
  readonly session: Session | undefined;
  /** Id of the connection if it belongs to one client (stdio, WebSocket, HTTP+SSE). Undefined over Streamable HTTP. */
  readonly connection?: string | undefined;
  /** The client's capabilities: of its session (legacy), or of this request (modern). */
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  /** Undefined: the edge has authenticated no one, and the caller is the one that the headers name. */
  readonly requester?: Requester | undefined;
  /** HTTP headers of the request; on WebSocket and HTTP+SSE of the request that opened the connection; empty on stdio. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Aborts when the client cancels, or disconnects if that means the same. */
  readonly signal: Cancellation;
  /** Sends a notification on the stream of this request. */
  notify(method: string, params?: Raw): void;
  /** Sends a request on the stream of this request. Undefined for modern clients, which get `input_required` instead. */
  readonly ask?: AskClient | undefined;
}

/** How a session began, and how to end it. */
export interface SessionOrigin {
  readonly transport: TransportName;
  /** Of the request that opened it; empty if that was in an earlier process. */
  readonly headers: IncomingRequest["headers"];
  end(): void;
}

/** What is known about a session of an earlier process. */
export interface RevivedSession {
  /** Subscribed resources, by the client's URIs. */
  readonly watched: readonly string[];
  /** Who uses it now: the same as before. */
  readonly requester: Requester | undefined;
}

/** The MCP server behind a transport. */
export interface Service {
  /** Never rejects: errors are replies too. */
  handle(incoming: IncomingRequest): Promise<Reply>;
  onNotification(message: NotificationMessage, session: Session | undefined): void;
  onSession(session: Session, origin: SessionOrigin): void;
  /** A session of an earlier process continues in this one, with its log level and subscriptions. */
  onSessionRevived?(session: Session, revived: RevivedSession): void;
  onSessionEnd(session: Session): void;
}
