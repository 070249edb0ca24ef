// Every call of every edge passes through one chain of steps, in the order that is listed here. A new step (authorization,
// approval, limits by token) is a file in steps/ and a line in the list.

import type { CallLog } from "../call-log/port.ts";
import type { Outcome } from "../call-log/outcome.ts";
import { DEFAULT_HUB_LIMITS, type HubLimits } from "../config/schema/hub-limits.ts";
import type { ErrorKind, HubError } from "../errors.ts";
import type { HubEvents } from "../events.ts";
import { Cancellable, follow } from "../lib/cancellation.ts";
import type { Reply } from "../protocol/rpc/jsonrpc.ts";
import { CallLimits } from "../servers/resilience/call-limits.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { ActiveCalls } from "./active-calls.ts";
import { Call, compose, type Next, type RefusedCall, type ServerRequest, type ToolCall } from "./call.ts";
import type { CallerDurations, Latency } from "./latency.ts";
import type { Approvals } from "./call-approval/approvals.ts";
import { KeptResults } from "./results/kept-results.ts";
import { approval } from "./steps/approval.ts";
import { breaker } from "./steps/breaker.ts";
import { forward, inputRounds } from "./steps/forward.ts";
import { limit, limitTool } from "./steps/limit.ts";
import { Recorder, untilRecorded } from "./steps/record.ts";
import { retry } from "./steps/retry.ts";
import { trace } from "./steps/trace.ts";

export interface CallsOptions {
  readonly supervisor: Supervisor;
  readonly events: HubEvents;
  readonly log: CallLog;
  readonly latency: Latency;
  readonly tracing?: Tracing | undefined;
  readonly approvals: Approvals;
  /** Hides secrets in text of a tool. */
  readonly redact?: ((text: string) => string) | undefined;
  /** For all servers together. Read for each call, since the config may change. */
  readonly limits?: () => HubLimits | undefined;
}

export class Calls {
  readonly #options: CallsOptions;
  readonly #recorder: Recorder;
  readonly #chain: Next;
  readonly #retries = new Map<string, Map<ErrorKind, number>>();
  readonly #onIdle = new Set<() => void>();
  #open = 0;
  readonly limits: CallLimits;
  readonly active = new ActiveCalls();
  /** What was cut from results. */
  readonly results = new KeptResults();
  readonly approvals: Approvals;

  constructor(options: CallsOptions) {
    this.#options = options;
    const { supervisor, tracing } = options;
    this.approvals = options.approvals;
    const limits = () => options.limits?.() ?? DEFAULT_HUB_LIMITS;
    this.limits = new CallLimits("The hub", "limits", {
      slots: () => ({ max: limits().maxCalls, maxWaiting: limits().maxQueuedCalls }),
      rate: () => limits().rate,
    });
    this.#recorder = new Recorder({ ...options, active: this.active, forget: (server) => this.forget(server) });
    this.#chain = compose(
      [
        ...(tracing === undefined ? [] : [trace(tracing)]),
        this.#recorder.step,
        approval(this.approvals),
        limit(this.limits),
        limitTool(supervisor),
        untilRecorded,
        inputRounds,
        breaker(supervisor),
        retry(supervisor, (server, kind) => this.#countRetry(server, kind)),
      ],
      forward,
    );
  }

  /** How many calls ended in each way, since the start. */
  get outcomes(): Readonly<Record<Outcome, number>> {
    return this.#recorder.outcomes;
  }

  /** How long callers waited. */
  get callerDurations(): CallerDurations {
    return this.#recorder.callerDurations;
  }

  /** How often requests to a server were sent again, by the kind of failure. */
  retriesOf(server: string): ReadonlyMap<ErrorKind, number> {
    return this.#retries.get(server) ?? new Map<ErrorKind, number>();
  }

  /** Drops the figures of a server that was removed, so that memory does not grow with removed servers. */
  forget(server: string): void {
    if (this.#options.supervisor.has(server)) return; // added again in the meantime
    this.#retries.delete(server);
    this.#options.latency.forget(server);
  }

  /** Requests that hold a slot of the hub. */
  get inFlight(): number {
    return this.limits.taken;
  }

  /** Resolves when every call has ended and is on record. */
  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.add(resolve));
  }

  /** Calls a tool. The server's answer is returned unchanged, also an error; a HubError is a failure of the hub's own. */
  callTool(call: ToolCall): Promise<Reply> {
    const request = call.signal instanceof Cancellable ? call : { ...call, signal: follow(call.signal) };
    return this.#run(new Call(call.server, request, request));
  }

  /** Any other request to a server: a prompt, a resource, a completion. */
  forward(server: string, request: ServerRequest): Promise<Reply> {
    return this.#run(new Call(server, request));
  }

  /** Records a call that is not forwarded, and returns the error for its caller. */
  refuse(call: RefusedCall, thrown: unknown): Promise<HubError> {
    return this.#recorder.refuse(call, thrown);
  }

  async #run(call: Call): Promise<Reply> {
    this.#open++;
    try {
      return await this.#chain(call);
    } finally {
      this.#open--;
      if (this.#open === 0 && this.#onIdle.size > 0) this.#notifyIdle();
    }
  }

  #notifyIdle(): void {
    for (const resolve of this.#onIdle) resolve();
    this.#onIdle.clear();
  }

  #countRetry(server: string, kind: ErrorKind): void {
    const byKind = this.#retries.get(server) ?? new Map<ErrorKind, number>();
    this.#retries.set(server, byKind.set(kind, (byKind.get(kind) ?? 0) + 1));
  }
}
