// The port for tracing: a span for a client's request to the hub, and a child span for the hub's request to the server.

import type { HubError } from "../errors.ts";
import type { JsonObject } from "../lib/json/json.ts";
import type { RawParams, Reply } from "../protocol/rpc/jsonrpc.ts";
import type { TransportName, IncomingRequest } from "../protocol/serve/service.ts";

/** How a request reached the hub: complete at an MCP edge, partial elsewhere. */
export type Arrival = Pick<IncomingRequest, "headers"> &
  Partial<Pick<IncomingRequest, "request" | "requester" | "session" | "era" | "transport">> & {
    /** Of an HTTP request to the management API. */
    readonly requestId?: string | undefined;
  };

/** A client's request and its target server. */
export interface TracedRequest {
  readonly method: string;
  readonly params: RawParams | undefined;
  /** Params that differ for the server, such as its own tool name. */
  readonly replace?: JsonObject;
  readonly group?: string | undefined;
  readonly server: string;
  readonly arrival?: Arrival | undefined;
}

export interface Tracing {
  /** Begins the span of a client's request. */
  serve(request: TracedRequest): ServerSpan;
  /** Sends the rest within a time limit. Never rejects. */
  close(): Promise<void>;
}

export type TraceOutcome = { readonly reply: Reply } | { readonly error: HubError };

interface Span {
  end(outcome: TraceOutcome): void;
}

export interface ServerSpan extends Span {
  /** Undefined if the trace is not recorded. */
  readonly traceId: string | undefined;
  /** Begins the child span of the request to the server. */
  forward(): ClientSpan;
}

/** The span of a request to a server. */
export interface ClientSpan extends Span {
  /** Trace context for the request's `_meta`; undefined members must be removed from it. */
  readonly meta: JsonObject;
  /** Called when the request is sent. */
  sent(facts: SentFacts): void;
}

export interface SentFacts {
  readonly id: number;
  /** Protocol version of the server. */
  readonly version: string;
  readonly transport: TransportName;
  /** Address of a remote server. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
}
