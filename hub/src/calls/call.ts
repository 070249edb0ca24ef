// One call, from any edge: finds the server, asks it, and tells the hub how it went. The place where a call's ordered
// steps stand (breaker and retries: attempts.ts), so that no edge has its own idea of them.

import { toHubError, type ErrorKind, type HubError } from "../errors.ts";
import type { HubEvents } from "../events.ts";
import { DEFAULT_HUB_LIMITS, type HubLimits } from "../config/hub-limits.ts";
import { CallLimits } from "../servers/call-limits.ts";
import type { Caller } from "../servers/caller.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { Ask } from "../servers/upstream.ts";
import type { Arrival, ClientSpan, ServerSpan, Tracing } from "../telemetry/tracing.ts";
import { isObject, valueOf } from "../wire/json.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import { attempt, type Attempts } from "./attempts.ts";
import type { Latency } from "./latency.ts";
import type { CallLog, OpenCall } from "./log.ts";
import { verdictOfError, verdictOfReply, type Outcome, type Verdict } from "./outcome.ts";
import { repeatOf, repeatOfQuestion, type Repeat } from "./retry.ts";
import { ServedDurations } from "./served.ts";

/** Any question to a server, through whatever edge it came. */
export interface Question extends Ask {
  readonly caller: Caller;
  readonly group?: string;
  /** What the caller calls itself. */
  readonly client?: string | undefined;
  /** How it came, for its trace. */
  readonly arrival?: Arrival | undefined;
}

export interface ToolCall extends Question {
  readonly group: string;
  readonly server: string;
  /** The name that the server knows. */
  readonly name: string;
  /** Which of its caller's workflows it belongs to; may also stand in `_meta`. */
  readonly workflowId?: string | undefined;
}

/** A call that goes nowhere: of one that names no server, or no tool, these are empty. */
export type RefusedCall = Pick<ToolCall, "group" | "server" | "name" | "client" | "params" | "workflowId">;

export interface CallsOptions {
  readonly supervisor: Supervisor;
  readonly events: HubEvents;
  readonly log: CallLog;
  readonly latency: Latency;
  readonly tracing?: Tracing | undefined;
  /** Of all servers together; as they are now. */
  readonly limits?: () => HubLimits | undefined;
}

const MAX_WAIT_MS = 30_000;

/** Where a caller may say which of its workflows a call belongs to. */
const WORKFLOW_META = "io.plugboard/workflow_id";

export class Calls {
  readonly #options: CallsOptions;
  /** How long callers waited. */
  readonly served = new ServedDurations();
  readonly #retries = new Map<string, Map<ErrorKind, number>>();
  readonly limits: CallLimits;

  constructor(options: CallsOptions) {
    this.#options = options;
    const limits = () => options.limits?.() ?? DEFAULT_HUB_LIMITS;
    this.limits = new CallLimits("The hub", "limits", {
      slots: () => ({ max: limits().maxCalls, maxWaiting: limits().maxQueuedCalls }),
      rate: () => limits().rate,
    });
  }

  /** How many calls ended in each way, since the start. */
  readonly outcomes: Record<Outcome, number> = { ok: 0, tool_error: 0, failed: 0, cancelled: 0, refused: 0 };

  /** How often requests to a server were sent again, by why. */
  retriesOf(server: string): ReadonlyMap<ErrorKind, number> {
    return this.#retries.get(server) ?? new Map<ErrorKind, number>();
  }

  /** Of one that was removed no figures are kept: else a hub whose servers come and go would grow. */
  forget(server: string): void {
    if (this.#options.supervisor.has(server)) return; // it came back meanwhile
    this.#retries.delete(server);
    this.#options.latency.forget(server);
  }

  /** How many requests are under way. */
  get underWay(): number {
    return this.limits.taken;
  }

  /** Resolves when none is under way. */
  idle(): Promise<void> {
    return this.limits.idle();
  }

  /** Calls a tool. The server's answer comes back unchanged, its errors included; a HubError is the hub's own failure. */
  async tool(call: ToolCall): Promise<Reply> {
    let startedAt = performance.now();
    let hasTurn = false;
    const entry = this.#begin(call);
    const span = this.#options.tracing?.serve(call);
    try {
      const turn = this.limits.take({ signal: call.signal, limitMs: MAX_WAIT_MS });
      if (turn !== undefined) {
        await turn;
        startedAt = performance.now();
      }
      hasTurn = true;
      // On record before it is forwarded: a kill must not hide that it may have run.
      if (entry.begun !== undefined) await entry.begun;
      const { resilience } = this.#options.supervisor.answering(call.server);
      const repeat = repeatOf(call.name, call.tool, resilience);
      const reply = await this.#forward(call.server, call, { repeat, span });
      await this.#finish(call, entry, startedAt, { verdict: verdictOfReply(reply), reply });
      span?.end({ reply });
      return reply;
    } catch (thrown) {
      const error = toHubError(thrown);
      const verdict = verdictOfError(error, call.signal?.aborted);
      await this.#finish(call, entry, startedAt, { verdict, error });
      // Where the server was removed while the call waited to be sent again, this was the last that is heard of it.
      this.forget(call.server);
      span?.end({ error });
      throw error;
    } finally {
      if (hasTurn) this.limits.give();
    }
  }

  /** Records a call that is not forwarded, and gives its caller's error. */
  async refuse(call: RefusedCall, thrown: unknown): Promise<HubError> {
    const error = toHubError(thrown);
    const { outcome, code } = verdictOfError(error);
    const entry = this.#begin(call);
    this.outcomes[outcome]++;
    const { group, server, name: tool } = call;
    await entry.finish({ result: toResult(error), outcome, durationMs: 0, errorCode: code });
    this.#options.events.emit("call.finished", { server, tool, group, durationMs: 0, outcome, error: error.toJSON() });
    return error;
  }

  /** Any other question to a server: a prompt, a resource, a completion. */
  async ask(server: string, question: Question): Promise<Reply> {
    const turn = this.limits.take({ signal: question.signal, limitMs: MAX_WAIT_MS });
    if (turn !== undefined) await turn;
    const startedAt = performance.now();
    const span = this.#options.tracing?.serve({ ...question, server });
    try {
      const repeat = repeatOfQuestion(this.#options.supervisor.answering(server).resilience);
      const reply = await this.#forward(server, question, { repeat, span });
      this.served.record(question, performance.now() - startedAt, verdictOfReply(reply).outcome);
      span?.end({ reply });
      return reply;
    } catch (thrown) {
      const error = toHubError(thrown);
      const { outcome } = verdictOfError(error, question.signal?.aborted);
      this.served.record(question, performance.now() - startedAt, outcome);
      span?.end({ error });
      throw thrown;
    } finally {
      this.limits.give();
    }
  }

  async #forward(server: string, ask: Ask, { repeat, span }: Forwarding): Promise<Reply> {
    const find = () => this.#options.supervisor.answering(server);
    const attempts: Attempts = {
      repeat,
      onRetry: ({ kind }) => this.#countRetry(server, kind),
      ...(span === undefined ? {} : { send: (to, tried) => forwardTraced(to, tried, span.forward()) }),
    };
    let reply = await attempt(find, ask, attempts);
    // For whoever called it is one call, however often the server has to be asked for it.
    for (let next = ask.respondent?.next?.(reply); next !== undefined; next = ask.respondent?.next?.(reply)) {
      reply = await attempt(find, { ...ask, params: await next }, attempts);
    }
    return reply;
  }

  #countRetry(server: string, kind: ErrorKind): void {
    const byKind = this.#retries.get(server) ?? new Map<ErrorKind, number>();
    this.#retries.set(server, byKind.set(kind, (byKind.get(kind) ?? 0) + 1));
  }

  #begin(call: RefusedCall): OpenCall {
    const { group, server, name: tool, client, params } = call;
    const workflowId = workflowOf(call);
    return this.#options.log.begin({
      at: Date.now(),
      server,
      tool,
      group,
      client,
      workflowId,
      params: params && valueOf(params.bytes, params.members, "arguments"),
    });
  }

  /** The caller gets its answer after this, so that no answered call is missing after a kill. */
  #finish(
    call: ToolCall,
    entry: OpenCall,
    startedAt: number,
    { verdict: { outcome, code }, reply, error }: Ending,
  ): Promise<void> | undefined {
    const { group, server, name: tool } = call;
    const servedMs = performance.now() - startedAt;
    // What a person takes to answer says nothing about the server.
    const durationMs = Math.max(0, servedMs - (call.respondent?.askedMs ?? 0));
    const result = reply === undefined ? error && toResult(error) : reply.ok ? reply.result.bytes : reply.error.bytes;
    this.outcomes[outcome]++;
    this.#options.latency.record(server, tool, durationMs, outcome);
    this.served.record(call, servedMs, outcome);
    const recorded = entry.finish({ result, outcome, durationMs, errorCode: code });
    this.#options.events.emit("call.finished", { server, tool, group, durationMs, outcome, error: error?.toJSON() });
    return recorded;
  }
}

async function forwardTraced(server: Pick<ManagedServer, "ask">, ask: Ask, trace: ClientSpan): Promise<Reply> {
  try {
    const reply = await server.ask({ ...ask, trace });
    trace.end({ reply });
    return reply;
  } catch (thrown) {
    trace.end({ error: toHubError(thrown) });
    throw thrown;
  }
}

interface Forwarding {
  readonly repeat: Repeat;
  readonly span: ServerSpan | undefined;
}

interface Ending {
  readonly verdict: Verdict;
  readonly reply?: Reply;
  readonly error?: HubError;
}

/** What is on record in place of a server's answer: why there is none. */
function toResult(error: HubError): Buffer {
  return Buffer.from(JSON.stringify(error));
}

function workflowOf({ params, workflowId }: RefusedCall): string | undefined {
  if (workflowId !== undefined) return workflowId;
  const meta = params?.value["_meta"];
  const id = isObject(meta) ? meta[WORKFLOW_META] : undefined;
  return typeof id === "string" ? id.slice(0, 256) : undefined;
}
