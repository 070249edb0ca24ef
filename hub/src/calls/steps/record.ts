// Records how calls end: tool calls in the call log, the latency of their server and an event; every request in the durations
// that callers see. A tool call is on disk before it is forwarded and before its caller gets the answer.

import { reasonIn, verdictOfError, verdictOfReply, type Outcome, type Verdict } from "../../call-log/outcome.ts";
import type { CallLog, OpenCall } from "../../call-log/port.ts";
import { HubError, toHubError } from "../../errors.ts";
import type { CallRecord, HubEvents } from "../../events.ts";
import { Cancellable } from "../../lib/cancellation.ts";
import { parseJson } from "@plugboard/shared/lenient";
import { isObject, valueOf } from "../../lib/json/json.ts";
import { MODERN_VERSION } from "../../protocol/revisions/era.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { ActiveCalls } from "../active-calls.ts";
import type { Call, Next, RefusedCall, Step } from "../call.ts";
import { CallerDurations, type Latency } from "../latency.ts";

export interface RecorderOptions {
  readonly log: CallLog;
  readonly latency: Latency;
  readonly events: HubEvents;
  readonly active: ActiveCalls;
  /** Hides secrets in text of a tool. Without it such text is not shown in events. */
  readonly redact?: ((text: string) => string) | undefined;
  /** A server may have been removed while one of its calls waited for a retry: its figures go with the last call. */
  forget(server: string): void;
}

/** Callers may name their workflow here. */
const WORKFLOW_META = "io.plugboard/workflow_id";

export class Recorder {
  readonly #options: RecorderOptions;
  readonly outcomes: Record<Outcome, number> = { ok: 0, tool_error: 0, failed: 0, cancelled: 0, refused: 0 };
  readonly callerDurations = new CallerDurations();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  readonly step: Step = async (call, next) => {
    const { toolCall } = call;
    if (toolCall !== undefined) {
      call.at = Date.now();
      call.entry = this.#begin(toolCall, call.at, call.span?.traceId);
      this.#options.active.add(call);
      this.#options.events.emit("call.started", call);
    }
    try {
      const reply = await next(call);
      await this.#finish(call, verdictOfReply(reply), reply, undefined);
      return reply;
    } catch (thrown) {
      const error = isOverruled(call) ? overruled(call) : toHubError(thrown);
      await this.#finish(call, verdictOfError(error, call.request.signal?.aborted), undefined, error);
      if (toolCall !== undefined) this.#options.forget(call.server);
      throw error;
    }
  };

  /** Records a call that is not forwarded. */
  async refuse(call: RefusedCall, thrown: unknown): Promise<HubError> {
    const error = toHubError(thrown);
    const { outcome, code } = verdictOfError(error);
    this.outcomes[outcome]++;
    await this.#begin(call, Date.now()).finish({ result: toResult(error), outcome, durationMs: 0, errorCode: code });
    this.#emit(call, { number: undefined, durationMs: 0, outcome, message: error.message, error });
    return error;
  }

  #begin(call: RefusedCall, at: number, traceId?: string): OpenCall {
    const { group, server, name: tool, exposed, client, params, arrival } = call;
    const session = arrival?.session;
    const version = session?.clientInfo?.["version"];
    const workflowId = workflowOf(call);
    return this.#options.log.begin({
      at,
      server,
      tool,
      exposed,
      group,
      client,
      workflowId,
      principal: arrival?.requester?.principal,
      token: arrival?.requester?.client,
      session: session?.publicId,
      clientVersion: typeof version === "string" ? version : undefined,
      requestId: arrival?.requestId,
      traceId,
      clientProtocol: clientProtocolOf(call),
      params: params && valueOf(params.bytes, params.members, "arguments"),
    });
  }

  #finish(
    call: Call,
    { outcome, code }: Verdict,
    reply: Reply | undefined,
    error: HubError | undefined,
  ): Promise<void> | undefined {
    const { toolCall, request, entry, startedAt } = call;
    const totalMs = performance.now() - startedAt;
    this.callerDurations.record(request, totalMs, outcome);
    if (toolCall === undefined || entry === undefined) return undefined;
    this.#options.active.delete(call);
    // The time that people take to answer is not part of the server's latency.
    const askedMs = toolCall.responder?.askedMs ?? 0;
    const durationMs = Math.max(0, totalMs - askedMs);
    const result = reply === undefined ? error && toResult(error) : reply.ok ? reply.result.bytes : reply.error.bytes;
    this.outcomes[outcome]++;
    this.#options.latency.record(toolCall.server, toolCall.name, durationMs, outcome);
    const recorded = entry.finish({
      result,
      outcome,
      durationMs,
      errorCode: code,
      serverProtocol: serverProtocolOf(call.target, toolCall),
      queueMs: startedAt - call.arrivedAt - call.heldMs,
      askedMs: askedMs + call.heldMs,
      attempts: call.attempts,
    });
    const message = outcome === "ok" ? undefined : (error?.message ?? this.#messageIn(reply));
    this.#emit(toolCall, { number: call.number, durationMs, outcome, message, error });
    return recorded;
  }

  #emit(call: RefusedCall, { number, durationMs, outcome, message, error }: Ending): void {
    const { group, server, name: tool, client, arrival } = call;
    const session = arrival?.session?.publicId;
    this.#options.events.emit("call.finished", {
      number,
      server,
      tool,
      group,
      client,
      session,
      durationMs,
      outcome,
      message,
      error: error?.toJSON(),
    });
  }

  /** What the tool or the server says about its failure. */
  #messageIn(reply: Reply | undefined): string | undefined {
    const { redact } = this.#options;
    const bytes = reply === undefined ? undefined : reply.ok ? reply.result.bytes : reply.error.bytes;
    if (redact === undefined || bytes === undefined || bytes.length > MAX_REASON_BYTES) return undefined;
    const reason = reasonIn(parseJson(bytes.toString()));
    return reason === null ? undefined : redact(reason).slice(0, MAX_MESSAGE);
  }
}

/** How a call ended, for its event. */
interface Ending extends Pick<CallRecord, "number" | "durationMs" | "outcome" | "message"> {
  readonly error: HubError | undefined;
}

/** A longer result is not searched for its message. */
const MAX_REASON_BYTES = 64 << 10;
const MAX_MESSAGE = 500;

function isOverruled({ request }: Call): boolean {
  return request.signal instanceof Cancellable && request.signal.isOverruled;
}

function overruled({ tool, server }: Call): HubError {
  return new HubError("Cancelled", `The call of ${tool} on "${server}" was cancelled through the management API`);
}

/** Forwards a tool call only when its record is safe: a kill of the hub must not hide that it may have run. */
export async function untilRecorded(call: Call, next: Next): Promise<Reply> {
  const begun = call.entry?.begun;
  if (begun !== undefined) await begun;
  return next(call);
}

function clientProtocolOf({ arrival }: RefusedCall): string | undefined {
  return arrival?.session?.version ?? (arrival?.era === "modern" ? MODERN_VERSION : undefined);
}

/** If it differs from that of the client. There is no target if the call ended before it was chosen. */
function serverProtocolOf(target: Call["target"] | undefined, call: RefusedCall): string | undefined {
  const version = target?.info?.version;
  return version === clientProtocolOf(call) ? undefined : version;
}

/** Recorded in place of a server's answer. */
function toResult(error: HubError): Buffer {
  return Buffer.from(JSON.stringify(error));
}

function workflowOf({ params, workflowId }: RefusedCall): string | undefined {
  if (workflowId !== undefined) return workflowId;
  const meta = params?.value["_meta"];
  const id = isObject(meta) ? meta[WORKFLOW_META] : undefined;
  return typeof id === "string" ? id.slice(0, 256) : undefined;
}
