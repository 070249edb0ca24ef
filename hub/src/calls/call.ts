// One call, from any edge: finds the server, asks it, and tells the hub how it went. The place where a call's ordered
// steps stand (breaker and retries: attempts.ts), so that no edge has its own idea of them.

import { toHubError, type HubError } from "../errors.ts";
import type { HubEvents } from "../events.ts";
import { Slots } from "../servers/slots.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { Ask } from "../servers/upstream.ts";
import { isObject, valueOf } from "../wire/json.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import { attempt } from "./attempts.ts";
import type { Latency } from "./latency.ts";
import type { CallLog } from "./log.ts";
import { repeatOf, type Repeat } from "./retry.ts";

export interface ToolCall extends Ask {
  readonly group: string;
  readonly server: string;
  /** The name that the server knows. */
  readonly name: string;
  /** What the caller calls itself. */
  readonly client?: string | undefined;
}

export interface CallsOptions {
  readonly supervisor: Supervisor;
  readonly events: HubEvents;
  readonly log: CallLog;
  readonly latency: Latency;
}

/** Of all servers together: more than clients can have connections, so that only a fault gets there. */
const MAX_WAIT_MS = 30_000;
const LIMITS = { max: 4096, maxWaiting: 4096 } as const;

/** Where a caller may say which of its workflows a call belongs to. */
const WORKFLOW_META = "io.plugboard/workflow_id";

export class Calls {
  readonly #options: CallsOptions;
  readonly #retries = new Map<string, number>();
  readonly #slots = new Slots("The hub", () => LIMITS);

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** How often requests to each server were sent again. */
  get retries(): ReadonlyMap<string, number> {
    return this.#retries;
  }

  /** How many requests are under way. */
  get underWay(): number {
    return this.#slots.taken;
  }

  /** Resolves when none is under way. */
  idle(): Promise<void> {
    return this.#slots.idle();
  }

  /** Calls a tool. The server's answer comes back unchanged, its errors included; a HubError is the hub's own failure. */
  async tool(call: ToolCall): Promise<Reply> {
    const started = { at: Date.now(), on: performance.now() };
    try {
      const { resilience } = this.#options.supervisor.answering(call.server);
      const reply = await this.#attempt(call.server, call, repeatOf(call.name, call.tool, resilience));
      await this.#finished(call, started, { ok: succeeded(reply), reply });
      return reply;
    } catch (thrown) {
      const error = toHubError(thrown);
      await this.#finished(call, started, { ok: false, error });
      throw error;
    }
  }

  /** Any other question to a server: a prompt, a resource, a completion. */
  ask(server: string, ask: Ask): Promise<Reply> {
    return this.#attempt(server, ask, "safe");
  }

  async #attempt(server: string, ask: Ask, repeat: Repeat): Promise<Reply> {
    const turn = this.#slots.take({ signal: ask.signal, limitMs: MAX_WAIT_MS });
    if (turn !== undefined) await turn;
    try {
      return await attempt(() => this.#options.supervisor.answering(server), ask, {
        repeat,
        onRetry: () => this.#retries.set(server, (this.#retries.get(server) ?? 0) + 1),
      });
    } finally {
      this.#slots.give();
    }
  }

  /** The caller gets its answer when the call is recorded, so that no answered call is missing after a kill. */
  async #finished(call: ToolCall, started: { at: number; on: number }, outcome: Outcome): Promise<void> {
    const { group, server, name: tool, client, params } = call;
    const { ok, reply, error } = outcome;
    const durationMs = performance.now() - started.on;
    const result = reply === undefined ? undefined : reply.ok ? reply.result.bytes : reply.error.bytes;
    const workflowId = workflowOf(call);
    this.#options.latency.record(server, tool, durationMs, ok);
    await this.#options.log.append({
      at: started.at,
      server,
      tool,
      group,
      ...(client === undefined ? {} : { client }),
      ...(workflowId === undefined ? {} : { workflowId }),
      params: params && valueOf(params.bytes, params.members, "arguments"),
      result,
      success: ok,
      durationMs,
      ...(error === undefined ? {} : { errorCode: error.code }),
    });
    const failure = error === undefined ? {} : { error: error.toJSON() };
    this.#options.events.emit("call.finished", { server, tool, group, durationMs, ok, ...failure });
  }
}

interface Outcome {
  readonly ok: boolean;
  readonly reply?: Reply;
  readonly error?: HubError;
}

function workflowOf({ params }: ToolCall): string | undefined {
  const meta = params?.value["_meta"];
  const id = isObject(meta) ? meta[WORKFLOW_META] : undefined;
  return typeof id === "string" ? id.slice(0, 256) : undefined;
}

function succeeded(reply: Reply): boolean {
  return reply.ok && !(isObject(reply.result.value) && reply.result.value["isError"] === true);
}
