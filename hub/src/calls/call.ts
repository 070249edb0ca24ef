// The types of calls, the object that passes through the chain of steps, and how steps are composed.

import type { ApprovalNeeded } from "../catalog/tool-rules.ts";
import type { OpenCall } from "../call-log/port.ts";
import type { HubError } from "../errors.ts";
import type { RunningCall } from "../events.ts";
import type { Reply } from "../protocol/rpc/jsonrpc.ts";
import type { ForwardRequest } from "../servers/connection/upstream.ts";
import type { Caller } from "../servers/instances/caller.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { Arrival, ServerSpan } from "../telemetry/tracing.ts";

/** A request to a server, from any edge of the hub. */
export interface ServerRequest extends ForwardRequest {
  readonly caller: Caller;
  readonly group?: string;
  /** The client's name from its handshake. */
  readonly client?: string | undefined;
  /** The transport that it arrived by, for its trace. */
  readonly arrival?: Arrival | undefined;
  /** A person approves it first. Only for calls of tools. */
  readonly approval?: ApprovalNeeded | undefined;
}

export interface ToolCall extends ServerRequest {
  readonly group: string;
  readonly server: string;
  /** The tool's name on the server. */
  readonly name: string;
  /** Its name in the group, if the group has renamed it. */
  readonly exposed?: string | undefined;
  /** The caller's workflow that the call belongs to. Callers may send it in `_meta` instead. */
  readonly workflowId?: string | undefined;
}

/** A call that is not forwarded. Server and name are empty if the request has none. */
export type RefusedCall = Pick<
  ToolCall,
  "group" | "server" | "name" | "exposed" | "client" | "params" | "workflowId" | "arrival"
>;

/** One request during the steps. */
export class Call implements RunningCall {
  readonly server: string;
  /** Set for tools/call only. */
  readonly toolCall: ToolCall | undefined;
  /** The request as the next step sees it: steps may replace it. */
  request: ServerRequest;
  /** Counts the tool calls since the start of the hub. */
  number = 0;
  /** When a tool call began, in milliseconds since the epoch. */
  at = 0;
  readonly arrivedAt = performance.now();
  /** After the waits for approval and for a slot, which are not part of the measured duration. */
  startedAt = this.arrivedAt;
  /** How long it waited for approval. */
  heldMs = 0;
  /** How often it was sent to its server. */
  attempts = 0;
  span: ServerSpan | undefined;
  entry: OpenCall | undefined;
  /** The server of the current attempt: a changed config may replace it between two. Set by the breaker step. */
  target!: ManagedServer;
  /** The failure of the last attempt. The caller may get an earlier one with more information. */
  lastError: HubError | undefined;

  constructor(server: string, request: ServerRequest, toolCall?: ToolCall) {
    this.server = server;
    this.request = request;
    this.toolCall = toolCall;
  }

  get activeId(): string {
    return String(this.number);
  }

  get tool(): string {
    return this.toolCall?.name ?? "";
  }

  get group(): string {
    return this.toolCall?.group ?? "";
  }

  get client(): string | undefined {
    return this.request.client;
  }

  get session(): string | undefined {
    return this.request.arrival?.session?.publicId;
  }
}

export type Next = (call: Call) => Promise<Reply>;

/** Does its part before and after `next`, or ends the call without it. */
export type Step = (call: Call, next: Next) => Promise<Reply>;

/** Composed once, so that a call allocates nothing for the chain itself. */
export function compose(steps: readonly Step[], last: Next): Next {
  return steps.reduceRight<Next>((next, step) => (call) => step(call, next), last);
}
