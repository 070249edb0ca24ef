// What a transport and the service behind it tell each other, on the hub's server side. No transport is known here.

import type { Era } from "./era.ts";
import type { JsonObject } from "./json.ts";
import type { NotificationMessage, Raw, Reply, RequestMessage } from "./jsonrpc.ts";

/** What messages travel on. */
export type Carrier = "stdio" | "http" | "sse" | "websocket";

/** A client that shook hands (legacy). Modern clients have none: each of their requests says all there is to know. */
export interface Session {
  readonly id: string;
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client asked for; none before it asks. */
  logLevel: string | undefined;
  /** Speaks to the client unasked. Dropped when it holds no stream open. */
  notify(method: string, params?: Raw): void;
}

/** One request of a client, while it is open. */
export interface Exchange {
  readonly request: RequestMessage;
  readonly era: Era;
  readonly transport: Carrier;
  readonly session: Session | undefined;
  readonly logLevel: string | undefined;
  /** HTTP headers of the request; on WebSocket those that opened the connection, empty on stdio. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Aborts when the client cancels, or goes away in a way that means so. */
  readonly signal: AbortSignal;
  /** Sends a message on the stream of this request. */
  notify(method: string, params?: Raw): void;
}

/** The MCP server behind a transport. */
export interface Service {
  /** Never rejects: what goes wrong is an answer too. */
  handle(exchange: Exchange): Promise<Reply>;
  onNotification(message: NotificationMessage, session: Session | undefined): void;
  onSession(session: Session): void;
  onSessionEnd(session: Session): void;
}
