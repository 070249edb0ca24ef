// When one managed server is started, restarted and stopped: with the hub, by a user, by a call, after a failure, when idle. Health
// checks and the circuit breaker are part of that. Opening and closing the connection is main-connection.ts's, requests are
// access.ts's.

import { fromErrorBody, HubError, toHubError, type ErrorKind } from "../errors.ts";
import type { ForwardRequest, Upstream } from "./connection/upstream.ts";
import { waitForStart } from "./instances/instance.ts";
import { MainConnection, type MainConnectionParts } from "./main-connection.ts";
import { needsPerson } from "./login/login-errors.ts";
import { isAuthError } from "./resilience/auth-errors.ts";
import { CircuitBreaker } from "./resilience/breaker.ts";
import type { CallLimits } from "./resilience/call-limits.ts";
import { Health } from "./resilience/health.ts";
import { IdleTimer } from "./resilience/idle-timer.ts";
import { Restarts, type NextTry } from "./resilience/restarts.ts";
import type { ServerState } from "./server-state.ts";
import { errorOf, isWaitingForApproval, type Status } from "./status.ts";

/** A caller that retries waits no longer than this. */
const SOON_MS = 2000;

export interface LifecycleParts extends MainConnectionParts {
  readonly limits: CallLimits;
}

export class Lifecycle {
  readonly #parts: LifecycleParts;
  readonly #state: ServerState;
  readonly circuit: CircuitBreaker;
  readonly #main: MainConnection;
  readonly #restarts: Restarts;
  readonly #health: Health;
  readonly #idleTimer: IdleTimer;
  /** It was connected at least once since a user or the hub last started it. */
  #wasConnected = false;
  #isVerifying = false;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    const { state } = parts;
    this.#state = state;
    this.circuit = new CircuitBreaker({
      server: state.config.name,
      limits: () => state.resilience.breaker,
      probe: () => this.#probe(),
      onChange: (breaker) => state.events.onCircuit(breaker),
    });
    this.#main = new MainConnection(parts, {
      onUp: () => this.#up(),
      onDown: (error) => this.#down(error),
      onStop: () => {
        this.#health.stop();
        this.#restarts.reset();
        this.circuit.reset();
      },
      onUnsubscribed: () => this.#idleTimer.restart(),
    });
    this.#restarts = new Restarts({
      rule: () => state.resilience.restart,
      // A failure is in the status, and schedules the next try.
      start: () => void this.#main.start().catch(() => undefined),
    });
    this.#health = new Health({ intervalMs: () => state.resilience.healthCheckMs, check: () => this.#checkHealth() });
    this.#idleTimer = new IdleTimer({
      idleMs: () => state.resilience.idleMs,
      isIdle: () => state.resilience.onDemand && state.isRunning && !this.#isInUse,
      onIdle: () => {
        state.standby = "suspended";
        void this.#main.stop();
      },
    });
  }

  get nextTry(): NextTry | undefined {
    return this.#restarts.next;
  }

  get restartCounts(): ReadonlyMap<ErrorKind, number> {
    return this.#restarts.counts;
  }

  configChanged(): void {
    if (this.#state.isRunning) this.#health.start();
  }

  /** Starts it, or waits for the start in progress. Rejects with the reason if it does not start. */
  start(): Promise<void> {
    const { status, config, events } = this.#state;
    if (status.state === "disabled") {
      const hint = `plugboard enable ${config.name}`;
      return Promise.reject(new HubError("ServerDisabled", `Server "${config.name}" is disabled`, { hint }));
    }
    if (config.invalid !== undefined) {
      events.onStatus();
      return Promise.reject(fromErrorBody(config.invalid));
    }
    this.#restarts.reset();
    this.#wasConnected = false;
    return this.#main.start();
  }

  /** Offers the listing of the hub's last run until the server runs or has failed to start. */
  async offerCached(): Promise<void> {
    const { context, config } = this.#state;
    if (context.approvals?.refusal(config) !== undefined) return;
    const stopCount = this.#main.stopCount;
    await this.#parts.offer.load();
    // Stopped in the meantime, or its start has ended already.
    const { state } = this.#state.status;
    if (this.#main.stopCount !== stopCount || (state !== "stopped" && state !== "starting")) return;
    if (this.#parts.offer.listing !== undefined && this.#state.standby === "none") this.#state.standby = "cached";
  }

  /** Starts it with the hub. A server on demand is started only if its listing is unknown. */
  async boot(): Promise<void> {
    // The cached listing is read during the start, so that the status is "starting" at once.
    if (!this.#state.resilience.onDemand) return void (await Promise.all([this.start(), this.offerCached()]));
    const stopCount = this.#main.stopCount;
    await this.offerCached();
    // Stopped while the cached listing was read: a process started now would be left behind.
    if (this.#main.stopCount !== stopCount) return;
    if (this.#state.standby !== "cached" || this.#state.status.state !== "stopped") return this.start();
    this.#state.standby = "suspended";
  }

  /** Stops it, or the start in progress. Nothing of it is left when this resolves. */
  stop(): Promise<void> {
    this.#endStandby();
    return this.#main.stop();
  }

  /** Finishes open requests within the limit, then stops for good. Its secrets are forgotten with it. */
  async retire(drainMs: number): Promise<void> {
    this.#state.isRetired = true;
    await Promise.all([this.#state.upstream?.drain(drainMs), this.#parts.instances.drain(drainMs)]);
    await this.stop();
  }

  /**
   * The main connection. Waits for the start in progress, or begins one if a call may do so: for a suspended server, for a lost
   * connection (one attempt for all calls and the scheduled reconnect), for a server that refused our credentials. A process that
   * exited is restarted only by its backoff: otherwise each call would continue a crash loop.
   */
  async connect(request: ForwardRequest, limitMs: number): Promise<Upstream> {
    if (this.#mayConnect) {
      const start = this.#main.start().catch((thrown: unknown) => {
        throw this.#toUnsent(toHubError(thrown));
      });
      await waitForStart(start, request.signal, limitMs);
    }
    const { connected } = this.#state;
    if (connected === undefined) throw this.unavailable();
    return connected;
  }

  /** Starts a server on standby. */
  async resume(): Promise<void> {
    if (this.#state.isOnStandby) await this.#main.start();
    if (!this.#state.isRunning) throw this.unavailable();
  }

  /** A use has ended: restarts the idle timer of an on-demand server. */
  restartIdleTimer(): void {
    this.#idleTimer.restart();
  }

  /** A call was refused with 401 or 403. Reads the lists to find out whether the server refuses everything. */
  verifyCredentials(): void {
    if (this.#isVerifying) return;
    this.#isVerifying = true;
    void this.#check()
      .catch(() => undefined) // the status has the result
      .finally(() => {
        this.#isVerifying = false;
      });
  }

  /** A request succeeded: a server that refused our credentials accepts them now. */
  accepted(): void {
    // The status has the result.
    if (this.#state.status.state === "unauthenticated") void this.#main.start().catch(() => undefined);
  }

  /** A person may have approved what it runs. */
  approvalChanged(): void {
    const { status } = this.#state;
    // The status has the result.
    if (isWaitingForApproval(status)) void this.#main.start().catch(() => undefined);
  }

  /** A person has logged in at the server. */
  loggedIn(): void {
    const { state } = this.#state.status;
    const isDown = state === "unauthenticated" || state === "error" || state === "disconnected";
    // The status has the result.
    if (isDown) void this.#main.start().catch(() => undefined);
    this.#parts.subscriptions.personal.retry();
  }

  /** A connection of a person announces changed lists. Clients see those of one person only. */
  async listsMayHaveChangedFor(principal: string | undefined): Promise<void> {
    const { context, config } = this.#state;
    if (principal === undefined || context.listerOf === undefined) return;
    if ((await context.listerOf(config)) === principal) this.#main.listsMayHaveChanged();
  }

  /** Why it cannot be called now. `reason`: the failure that the caller has just met. */
  unavailable(reason?: string): HubError {
    const { status, config } = this.#state;
    const error = errorOf(status);
    if (error !== null && needsPersonFirst(status)) return fromErrorBody(error);
    if (config.invalid !== undefined) return fromErrorBody(config.invalid);
    const state = this.#main.isStopping ? "being stopped" : status.state;
    const why = reason ?? (status.state === "error" ? status.error.message : undefined);
    const { next } = this.#restarts;
    const leftMs = next === undefined ? undefined : Math.max(0, next.dueAt - performance.now());
    const isReconnecting = state === "starting" && this.#wasConnected;
    const isSoon = isReconnecting || (leftMs !== undefined && leftMs < SOON_MS);
    return new HubError("ServerNotRunning", "Server unavailable", {
      detail: `Server "${config.name}"${why === undefined ? ` is ${state}` : `: ${why}`}`,
      // A retry makes sense only if the server may be back before the caller gives up.
      ...(isSoon ? { delivery: "unsent" } : {}),
      ...(leftMs === undefined ? {} : { retryAfterMs: leftMs }),
    });
  }

  /** An instance that the config asks for counts as a use: it has a separate idle limit. */
  get #isInUse(): boolean {
    const { limits, subscriptions, instances } = this.#parts;
    const hasInstances = this.#state.isolation !== undefined && instances.size > 0;
    return limits.taken > 0 || subscriptions.shared.size > 0 || hasInstances;
  }

  get #mayConnect(): boolean {
    const { status, isOnStandby, isRetired, isStdio } = this.#state;
    if (isOnStandby) return true;
    if (this.#main.isStopping || isRetired) return false;
    if (this.#main.isStarting || status.state === "unauthenticated") return true;
    const isDown = status.state === "disconnected" || (status.state === "error" && !needsUser(status.error));
    return isDown && !isStdio;
  }

  /** The reason why there is no connection, as the failure of a request that never left the hub. */
  #toUnsent(error: HubError): HubError {
    const isFinal = error.delivery === "rejected" || error.delivery === "withheld";
    if (isAuthError(error) || isFinal || this.#state.resilience.onDemand) return error;
    const { kind, code, message, detail, hint, retryAfterMs } = error;
    if (kind === "Cancelled") return this.unavailable();
    const isNetwork = code === "NETWORK_ERROR" || code === "RATE_LIMITED";
    if (this.#state.isStdio || !isNetwork) return this.unavailable(message);
    return new HubError(kind, message, {
      delivery: retryAfterMs === undefined ? "unsent" : "refused",
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      cause: error,
    });
  }

  #up(): void {
    const state = this.#state;
    this.#wasConnected = true;
    this.#restarts.up();
    this.#health.start();
    this.circuit.succeeded();
    state.apply({ type: "ready", tools: this.#parts.offer.toolNames, at: Date.now() });
    state.standby = "none";
    this.#idleTimer.restart();
    this.#parts.subscriptions.personal.retry();
  }

  #endStandby(): void {
    this.#idleTimer.cancel();
    this.#state.standby = "none";
  }

  /** It failed or did not start. It is restarted, unless the user has to change something first. */
  #down(error: HubError): void {
    this.#health.stop();
    this.#endStandby();
    if (isAuthError(error)) return this.#refused(error);
    if (!needsUser(error) && !this.#state.isRetired) this.#restarts.down(error.kind);
    const isLost = !this.#state.isStdio && this.#wasConnected;
    this.#state.apply({ type: isLost ? "lost" : "failed", error: error.toJSON(), at: Date.now() });
  }

  /** The server works but refuses our credentials. Tried as rarely as a health check, so that no account gets locked. */
  #refused(error: HubError): void {
    this.circuit.reset();
    this.#state.apply({ type: "refused", error: error.toJSON(), at: Date.now() });
    if (this.#state.isRetired) return;
    // It is up to a person: trying again would only disturb the server. Its tools stay, so that a call can ask for it.
    if (!needsPerson(error)) this.#health.start();
    else if (this.#parts.offer.listing !== undefined) this.#state.standby = "cached";
  }

  async #checkHealth(): Promise<void> {
    // The status has the result.
    if (this.#state.status.state === "unauthenticated") return this.#main.start().catch(() => undefined);
    try {
      await this.#check();
      this.circuit.succeeded();
    } catch (thrown) {
      if (this.#state.isRunning && toHubError(thrown).delivery !== "withheld") this.circuit.failed();
    }
  }

  /** If the probe after the cooldown times out too, the process hangs: it is ended and started again. */
  async #probe(): Promise<void> {
    const { upstream, isStdio } = this.#state;
    try {
      await this.#check();
    } catch (thrown) {
      const error = toHubError(thrown);
      if (isAuthError(error)) return;
      const hangs = error.kind === "Timeout" || error.kind === "Cancelled";
      if (upstream !== undefined && hangs && isStdio) {
        this.#main.lose(upstream, new HubError("Timeout", "The server no longer answers"));
      }
      throw thrown;
    }
  }

  async #check(): Promise<void> {
    if (this.#state.upstream === undefined) throw this.unavailable();
    await this.#main.check(this.#state.upstream);
  }
}

/** To log in, or to approve what it runs. */
function needsPersonFirst(status: Status): boolean {
  return status.state === "unauthenticated" || isWaitingForApproval(status);
}

/** The user has to change something before it can work. */
function needsUser({ code, kind }: Pick<HubError, "code" | "kind">): boolean {
  return code === "VALIDATION_ERROR" || code === "NOT_FOUND" || kind === "ApprovalRequired";
}
