// What a transport and the service behind it tell each other, on the hub's server side. No transport is known here.

import type { Cancellation } from "./cancellation.ts";
import type { Era } from "./era.ts";
import type { JsonObject } from "./json.ts";
import type { NotificationMessage, Raw, Reply, RequestMessage } from "./jsonrpc.ts";
import type { AskOptions } from "./questions.ts";

/**
 * Puts a question to the client. Its errors are answers too; rejects where there is none: the client is gone or silent, the
 * request that the question belongs to has ended, or the asker gave up, which the client is told.
 */
export type AskClient = (method: string, params: Raw | undefined, options?: AskOptions) => Promise<Reply>;

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
  /** Speaks to the client unasked. Over HTTP it is kept for a client that holds no stream open, within bounds. */
  notify(method: string, params?: Raw): void;
  /** Asks outside of any request of the client, on the stream that it holds open. */
  readonly ask: AskClient;
}

/** One request of a client, while it is open. */
export interface Exchange {
  readonly request: RequestMessage;
  readonly era: Era;
  readonly transport: Carrier;
  readonly session: Session | undefined;
  /** The pipe that it came through, where that is one client's own; HTTP has none that could be told from others. */
  readonly connection?: string;
  /** What the client says it can do: for its whole session, or with this request alone (modern). */
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  /** HTTP headers of the request; on WebSocket those that opened the connection, empty on stdio. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Aborts when the client cancels, or goes away in a way that means so. */
  readonly signal: Cancellation;
  /** Sends a message on the stream of this request. */
  notify(method: string, params?: Raw): void;
  /** Asks on the stream of this request. Modern clients cannot be asked: they are told what is wanted in the answer. */
  readonly ask?: AskClient;
}

/** The MCP server behind a transport. */
export interface Service {
  /** Never rejects: what goes wrong is an answer too. */
  handle(exchange: Exchange): Promise<Reply>;
  onNotification(message: NotificationMessage, session: Session | undefined): void;
  onSession(session: Session): void;
  /** A session that another process had goes on in this one: with the log level that it has, and with these resources. */
  onSessionRevived?(session: Session, watched: readonly string[]): void;
  onSessionEnd(session: Session): void;
}
