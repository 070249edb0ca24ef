// One managed server as the rest of the hub sees it. Puts its parts together: the state, the life cycle (lifecycle.ts), and the
// requests to it (access.ts).

import type { Listing } from "../catalog/listing.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { HubError, type ErrorKind } from "../errors.ts";
import type { NotificationMessage, Reply } from "../protocol/rpc/jsonrpc.ts";
import { Access, type Listening, type Watching } from "./access.ts";
import { Dialer } from "./connection/dialer.ts";
import type { ServerInfo } from "./connection/handshake.ts";
import type { ConnectOptions, ForwardRequest } from "./connection/upstream.ts";
import type { ServerContext } from "./context.ts";
import { Instances } from "./instances/instances.ts";
import { openInstance, type InstanceEvents } from "./instances/open-instance.ts";
import { Router } from "./instances/router.ts";
import { Lifecycle } from "./lifecycle.ts";
import type { QueuePosition } from "./npm/install-queue.ts";
import type { PackageInUse, Renewal, RenewTo } from "./npm/packages.ts";
import { Offer } from "./offer.ts";
import type { Breaker, CircuitBreaker } from "./resilience/breaker.ts";
import { CallLimits } from "./resilience/call-limits.ts";
import { ToolLimits } from "./resilience/tool-limits.ts";
import type { Resilience } from "./resilience/resilience.ts";
import type { NextTry } from "./resilience/restarts.ts";
import { ServerLog, type LogFilter, type LogLine } from "./server-log.ts";
import { secretsOf } from "./server-secrets.ts";
import { ServerState, type ServerEvents } from "./server-state.ts";
import { ServerSubscriptions } from "./server-subscriptions.ts";
import type { Stage, Status } from "./status.ts";

export interface ServerObserver {
  onStatus(server: ManagedServer): void;
  /** The server offers something else: another listing, or it became available or unavailable. */
  onOffer(server: ManagedServer): void;
  /** A line of its log. */
  onLog?(server: ManagedServer, line: LogLine): void;
  /** A legacy server reports on a task outside of any request. */
  onTaskNotification?(server: ManagedServer, notification: NotificationMessage): void;
  /** A warning about a server that works. Each message once. */
  onWarning?(server: ManagedServer, message: string): void;
  onCircuit?(server: ManagedServer, breaker: Breaker): void;
  /** It exceeds its message rate, and is read more slowly. */
  onFlood?(server: ManagedServer): void;
}

const INSTALL_STAGES: ReadonlySet<Stage> = new Set<Stage>(["queued", "installing"]);

export class ManagedServer {
  readonly #state: ServerState;
  readonly #offer: Offer;
  readonly #log: ServerLog;
  readonly #dialer: Dialer;
  readonly #instances: Instances;
  readonly #lifecycle: Lifecycle;
  readonly #access: Access;
  readonly limits: CallLimits;
  readonly toolLimits: ToolLimits;

  /** The subscriptions outlive it: its replacement gets them. */
  constructor(
    config: ServerConfig,
    context: ServerContext,
    observer: ServerObserver,
    subscriptions: ServerSubscriptions = new ServerSubscriptions(),
  ) {
    const state = new ServerState(config, context, eventsOf(this, observer));
    this.#state = state;
    this.#offer = new Offer(state);
    this.#log = new ServerLog({ redact: state.redact, onLine: (line) => state.events.onLog(line) });
    this.#dialer = new Dialer(state, this.#log);
    this.limits = limitsOf(state);
    this.toolLimits = new ToolLimits(config.name, () => state.resilience.toolLimits);
    // Also before its first start: calls of other servers may contain them.
    context.redactor.setSecrets(state, secretsOf(config));
    const [offer, dialer, limits] = [this.#offer, this.#dialer, this.limits];
    const onClientRequest: NonNullable<ConnectOptions["onClientRequest"]> = (feature, how) =>
      router.onClientRequest(feature, how);
    const events: InstanceEvents = {
      onClientRequest,
      onListChanged: ({ principal }) => void lifecycle.listsMayHaveChangedFor(principal),
      onResourceUpdated: (source, params) => subscriptions.personal.updated(source, params),
      onGap: (source) => subscriptions.personal.gap(source),
    };
    const instances: Instances = new Instances({
      server: config.name,
      rule: () => state.resilience.instances,
      // A remote connection opens quickly and may expire unused; a server on demand keeps nothing running.
      keepsSpares: () => state.isStdio && !state.resilience.onDemand && state.isRunning,
      maxTimeouts: () => state.resilience.breaker.failures,
      requestMs: () => state.requestMs(),
      sharedPool: context.instancePool,
      open: (signal, owner, purpose) => openInstance({ ...purpose, state, dialer, signal, owner, events }),
      onRemoved: (owner) => {
        context.redactor.setSecrets(owner, []);
        lifecycle.restartIdleTimer();
      },
    });
    const router = new Router(state, offer, instances);
    const lifecycle = new Lifecycle({ state, offer, dialer, limits, subscriptions, instances, onClientRequest });
    this.#instances = instances;
    this.#lifecycle = lifecycle;
    this.#access = new Access({ state, offer, lifecycle, limits, subscriptions, instances, router });
  }

  get config(): ServerConfig {
    return this.#state.config;
  }

  /** A person has logged in: it is connected if it was not. */
  loggedIn(): void {
    this.#lifecycle.loggedIn();
  }

  /** A person has approved it, or some of its tools: it is started if it waited for that. */
  approvalChanged(): void {
    this.#lifecycle.approvalChanged();
  }

  /** Takes over changes that need no restart: description, groups, resilience. */
  updateConfig(config: ServerConfig): void {
    this.#state.config = config;
    this.#lifecycle.configChanged();
  }

  get resilience(): Resilience {
    return this.#state.resilience;
  }

  get name(): string {
    return this.#state.config.name;
  }

  get status(): Status {
    return this.#state.status;
  }

  get available(): boolean {
    return this.#state.isRunning;
  }

  /** It can be called: it runs, or a call starts it or waits for its start. */
  get isOffered(): boolean {
    return this.#state.isOffered;
  }

  /** The current or last known listing. */
  get listing(): Listing | undefined {
    return this.#offer.listing;
  }

  /** Warnings about the server. */
  get warnings(): readonly string[] {
    return this.#offer.warnings.all;
  }

  /** Its description of itself while it is connected. */
  get info(): ServerInfo | undefined {
    return this.#state.upstream?.info;
  }

  /** Its description of itself when it was last connected. */
  get lastInfo(): ServerInfo | undefined {
    return this.#offer.info;
  }

  /** The last lines of its log, over all its starts. */
  logs(lines: number, filter?: LogFilter): readonly LogLine[] {
    return this.#log.tail(lines, filter);
  }

  get circuit(): CircuitBreaker {
    return this.#lifecycle.circuit;
  }

  /** The next automatic start, if one is scheduled. */
  get nextTry(): NextTry | undefined {
    return this.#lifecycle.nextTry;
  }

  /** Automatic starts so far, by the reason of the failure. */
  get restartCounts(): ReadonlyMap<ErrorKind, number> {
    return this.#lifecycle.restartCounts;
  }

  /** How often it exceeded its message rate. */
  get floods(): number {
    return this.#state.floods;
  }

  get pid(): number | undefined {
    return this.#state.upstream?.pid;
  }

  get instances(): readonly { readonly pid: number | undefined; readonly since: number }[] {
    return this.#instances.all;
  }

  /** The package that it runs from, or would run from. Undefined if npx decides. */
  get package(): PackageInUse | undefined {
    return this.#state.package ?? this.#state.context.packages?.find(this.#state.config);
  }

  /** The package of its last start. */
  get startedFrom(): PackageInUse | undefined {
    return this.#state.package;
  }

  /** The position of its package in the install queue, while it waits for that. */
  get installPosition(): QueuePosition | undefined {
    const { status, context, config } = this.#state;
    const isInstalling = status.state === "starting" && INSTALL_STAGES.has(status.stage);
    return isInstalling ? context.packages?.queuePosition(config) : undefined;
  }

  /** Installs the newest version that its entry allows, beside the one that runs. */
  renewPackage(signal: AbortSignal, to: RenewTo = "newest"): Promise<Renewal> {
    const { packages } = this.#state.context;
    if (packages !== undefined) return this.#dialer.renewPackage(packages, signal, to);
    return Promise.reject(new HubError("InvalidArgument", "This hub has no folder to install packages into"));
  }

  /** Starts it, or waits for the start in progress. Rejects with the reason if it does not start. */
  start(): Promise<void> {
    return this.#lifecycle.start();
  }

  /** Offers the listing of the hub's last run until the server runs or has failed to start. */
  offerCached(): Promise<void> {
    return this.#lifecycle.offerCached();
  }

  /** Starts it with the hub. A server on demand is started only if its listing is unknown. */
  boot(): Promise<void> {
    return this.#lifecycle.boot();
  }

  /** Stops it, or the start in progress. Nothing of it is left when this resolves. */
  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  /** Finishes open requests within the limit, then stops for good. Its secrets are forgotten with it. */
  async retire(drainMs: number): Promise<void> {
    await this.#lifecycle.retire(drainMs);
    this.#state.context.redactor.setSecrets(this.#state, []);
  }

  /** Why it cannot be called now. */
  unavailable(): HubError {
    return this.#lifecycle.unavailable();
  }

  /** Calls back when it is running; the returned function cancels that. */
  onceRunning(callback: () => void): () => void {
    return this.#state.onceRunning(callback);
  }

  /** Total time limit of a request. */
  requestMs(request?: Pick<ForwardRequest, "timeoutMs" | "leftMs">): number {
    return this.#state.requestMs(request);
  }

  /** One request on behalf of a client. */
  forward(request: ForwardRequest): Promise<Reply> {
    return this.#access.forward(request);
  }

  /** Each caller uses credentials of its own. */
  get isPerUser(): boolean {
    return this.#state.isPerUser;
  }

  /** Reports changes of a resource until it is released. */
  watch(watching: Watching): Promise<{ readonly reply: Reply; readonly release: () => void }> {
    return this.#access.watch(watching);
  }

  /** A subscription stream of one client. */
  listen(request: Listening): Promise<Reply> {
    return this.#access.listen(request);
  }

  /** A client's session has ended for good. */
  sessionEnded(session: string): void {
    this.#access.sessionEnded(session);
  }

  /** Credentials that it may have waited for are there. */
  credentialsChanged(): void {
    this.#lifecycle.loggedIn();
  }

  /** The credentials of a principal have changed or ended. */
  endInstancesOf(principal: string): void {
    this.#access.endInstancesOf(principal);
  }

  get logLevel(): string | undefined {
    return this.#state.logLevel;
  }

  /** The lowest level that any client wants. */
  setLogLevel(level: string): Promise<void> {
    return this.#access.setLogLevel(level);
  }
}

function eventsOf(server: ManagedServer, observer: ServerObserver): ServerEvents {
  return {
    onStatus: () => observer.onStatus(server),
    onOffer: () => observer.onOffer(server),
    onLog: (line) => observer.onLog?.(server, line),
    onTaskNotification: (notification) => observer.onTaskNotification?.(server, notification),
    onWarning: (message) => observer.onWarning?.(server, message),
    onCircuit: (breaker) => observer.onCircuit?.(server, breaker),
    onFlood: () => observer.onFlood?.(server),
  };
}

function limitsOf(state: ServerState): CallLimits {
  return new CallLimits(`Server "${state.config.name}"`, "resilience", {
    slots: () => ({ max: state.resilience.maxCalls, maxWaiting: state.resilience.maxQueuedCalls }),
    rate: () => state.resilience.rate,
  });
}
