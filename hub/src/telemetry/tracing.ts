// The port behind which requests are traced: a span for what a client asked of the hub, and as its child one for what the
// hub asked of a server. Absent where nobody wants traces. How spans look and where they go is left to the adapter.

import type { HubError } from "../errors.ts";
import type { JsonObject } from "../wire/json.ts";
import type { RawParams, Reply } from "../wire/jsonrpc.ts";
import type { Carrier, Exchange } from "../wire/server.ts";

/** How a request reached the hub: the exchange itself at an MCP edge, as much as there is of it elsewhere. */
export type Arrival = Pick<Exchange, "headers"> & Partial<Pick<Exchange, "request" | "session" | "era" | "transport">>;

/** A client's request, and where the hub takes it. */
export interface TracedRequest {
  readonly method: string;
  readonly params: RawParams | undefined;
  /** Members of the params as the server knows them. */
  readonly replace?: JsonObject;
  readonly group?: string | undefined;
  readonly server: string;
  readonly arrival?: Arrival | undefined;
}

export interface Tracing {
  /** A client's request begins. */
  serve(request: TracedRequest): ServerSpan;
  /** Sends what is left, for a bounded time. Nothing of it is left when this resolves; never rejects. */
  close(): Promise<void>;
}

export type TraceOutcome = { readonly reply: Reply } | { readonly error: HubError };

interface Span {
  end(outcome: TraceOutcome): void;
}

export interface ServerSpan extends Span {
  /** The hub turns to the server. */
  forward(): ClientSpan;
}

/** A request to a server, while it is traced. */
export interface ClientSpan extends Span {
  /** What the request's `_meta` says of the trace; what is undefined must not be there. */
  readonly meta: JsonObject;
  /** The request goes out. */
  sent(facts: SentFacts): void;
}

export interface SentFacts {
  readonly id: number;
  /** The revision that the server speaks. */
  readonly version: string;
  readonly transport: Carrier;
  /** Where a remote server is. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
}
