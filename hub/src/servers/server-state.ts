// The facts about one managed server that its life cycle changes and that others read. Every change of the status and of the
// standby goes through this class, which reports it.

import { isolationOf, isPerUser } from "../config/parse/per-user.ts";
import type { Isolation, ServerConfig } from "../config/schema/types.ts";
import type { NotificationMessage } from "../protocol/rpc/jsonrpc.ts";
import type { ForwardRequest, Upstream } from "./connection/upstream.ts";
import type { ServerContext } from "./context.ts";
import type { PackageInUse } from "./npm/packages.ts";
import type { Breaker } from "./resilience/breaker.ts";
import { resilienceOf, type Resilience } from "./resilience/resilience.ts";
import type { LogLine } from "./server-log.ts";
import { createRedact, type Redact } from "./server-redaction.ts";
import { nextStatus, type Status, type StatusEvent } from "./status.ts";

/**
 * Why a server that does not run is still offered, with its last known listing. `cached`: the hub has just started and
 * the server is starting, or it waits for a login. `suspended`: it is started on demand and was stopped while idle. A call starts
 * it in all cases.
 */
export type Standby = "none" | "cached" | "suspended";

const REQUEST_MS = { stdio: 120_000, remote: 30_000 } as const;

/** Events about one server. */
export interface ServerEvents {
  onStatus(): void;
  onOffer(): void;
  onLog(line: LogLine): void;
  onTaskNotification(notification: NotificationMessage): void;
  onWarning(message: string): void;
  onCircuit(breaker: Breaker): void;
  onFlood(): void;
}

export class ServerState {
  readonly context: ServerContext;
  readonly events: ServerEvents;
  readonly redact: Redact;
  #config: ServerConfig;
  #isPerUser: boolean;
  #isolation: Isolation | undefined;
  #resilience: Resilience;
  #status: Status;
  #standby: Standby = "none";
  readonly #onceRunning = new Set<() => void>();
  /** The main connection: the listing, the status and the health checks are about it. */
  upstream: Upstream | undefined;
  /** The package of the last start. */
  package: PackageInUse | undefined;
  /** The lowest level that any client wants. Set again on every new connection. */
  logLevel: string | undefined;
  /** Replaced or removed: it is not started again. */
  isRetired = false;
  /** How often it exceeded its message rate. */
  floods = 0;

  constructor(config: ServerConfig, context: ServerContext, events: ServerEvents) {
    this.#config = config;
    this.#isPerUser = isPerUser(config);
    this.#isolation = isolationOf(config);
    this.context = context;
    this.events = events;
    this.redact = createRedact(context.redactor);
    this.#resilience = resilienceOf(config.resilience);
    this.#status = firstStatus(config);
  }

  get config(): ServerConfig {
    return this.#config;
  }

  set config(config: ServerConfig) {
    this.#config = config;
    this.#isPerUser = isPerUser(config);
    this.#isolation = isolationOf(config);
    this.#resilience = resilienceOf(config.resilience);
  }

  /** Each caller uses credentials of its own. The main connection, with those of one person, only lists what there is. */
  get isPerUser(): boolean {
    return this.#isPerUser;
  }

  get isolation(): Isolation | undefined {
    return this.#isolation;
  }

  get resilience(): Resilience {
    return this.#resilience;
  }

  get isStdio(): boolean {
    return this.#config.transport.type === "stdio";
  }

  get status(): Status {
    return this.#status;
  }

  get isRunning(): boolean {
    return this.#status.state === "running";
  }

  /** The main connection, if requests may be sent to it. */
  get connected(): Upstream | undefined {
    return this.isRunning ? this.upstream : undefined;
  }

  get isOnStandby(): boolean {
    return this.#standby !== "none";
  }

  get standby(): Standby {
    return this.#standby;
  }

  /** It can be called: it runs, or a call starts it or waits for its start. */
  get isOffered(): boolean {
    return this.isRunning || this.isOnStandby;
  }

  set standby(standby: Standby) {
    const wasOffered = this.isOffered;
    this.#standby = standby;
    if (this.isOffered !== wasOffered) this.events.onOffer();
  }

  apply(event: StatusEvent): void {
    // An invalid entry stays in error until another entry replaces it.
    if (this.#config.invalid !== undefined && !this.isRetired) return;
    const next = nextStatus(this.#status, event);
    if (next === this.#status) return;
    const wasOffered = this.isOffered;
    this.#status = next;
    this.events.onStatus();
    if (this.isOffered !== wasOffered) this.events.onOffer();
    if (!this.isRunning) return;
    for (const callback of this.#onceRunning) callback();
    this.#onceRunning.clear();
  }

  /** Calls back when it is running; the returned function cancels that. */
  onceRunning(callback: () => void): () => void {
    this.#onceRunning.add(callback);
    return () => this.#onceRunning.delete(callback);
  }

  /** Total time limit of a request. */
  requestMs({ timeoutMs, leftMs }: Pick<ForwardRequest, "timeoutMs" | "leftMs"> = {}): number {
    return leftMs ?? timeoutMs ?? this.#config.timeouts.requestMs ?? REQUEST_MS[this.isStdio ? "stdio" : "remote"];
  }

  reportFlood(): void {
    this.floods++;
    this.events.onFlood();
  }
}

/** An invalid entry is shown with its reason from the beginning. */
function firstStatus({ enabled, invalid }: ServerConfig): Status {
  if (!enabled) return { state: "disabled" };
  return invalid === undefined ? { state: "stopped" } : { state: "error", error: invalid, since: Date.now() };
}
