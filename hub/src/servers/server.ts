// One managed server: its status, its process or connection, its last listing. Starts it once however many ask,
// and always knows the truth about it.

import { isDeepStrictEqual } from "node:util";
import type { Listed, Listing } from "../catalog/listing.ts";
import { SeenTools, type ToolChange } from "../catalog/tool-changes.ts";
import type { ServerConfig } from "../config/types.ts";
import { fromErrorBody, HubError, toHubError, type ErrorKind } from "../errors.ts";
import { quote } from "../catalog/quote.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import type { NotificationMessage, Reply } from "../wire/jsonrpc.ts";
import type { AskClient } from "../wire/server.ts";
import type { Breaker } from "./breaker.ts";
import type { Caller } from "./caller.ts";
import { CallLimits } from "./call-limits.ts";
import { Circuit } from "./circuit.ts";
import { Dialer } from "./dialer.ts";
import type { Askable } from "./era-memory.ts";
import { FirstCalls } from "./first-calls.ts";
import { Health } from "./health.ts";
import type { Hello } from "./handshake.ts";
import { Instances, type Opening } from "./instances.ts";
import type { QueuePlace } from "./npm/install-queue.ts";
import type { PackageInUse, Renewal } from "./npm/packages.ts";
import { createRedact, redactError, type Redact } from "./redaction.ts";
import { isRefusal, withFix } from "./refusal.ts";
import { Relisting } from "./relisting.ts";
import { resilienceOf, type Resilience } from "./resilience.ts";
import { ResourceWatches, type OnUpdate } from "./resource-watches.ts";
import { Restarts, type NextTry } from "./restarts.ts";
import { Routes, type Route } from "./routes.ts";
import { secretsOf } from "./secrets-of.ts";
import { ServerLog, type LogLine } from "./server-log.ts";
import { Slumber } from "./slumber.ts";
import { nextStatus, type Stage, type Status, type StatusEvent } from "./status.ts";
import type { Ask, OnlyClient, Upstream } from "./upstream.ts";
import { ServerWarnings } from "./warnings.ts";
import { within } from "./within.ts";
import type { ServerWorld } from "./world.ts";

export interface ServerObserver {
  onStatus(server: ManagedServer): void;
  /** What the server offers has changed: another listing, or it came or went. */
  onOffer(server: ManagedServer): void;
  /** It wrote a line to stderr. */
  onLog?(server: ManagedServer, line: LogLine): void;
  /** It says how a task is doing (legacy, unasked). */
  onTaskNews?(server: ManagedServer, news: NotificationMessage): void;
  /** Something that somebody should know, although it works. Told once. */
  onWarning?(server: ManagedServer, message: string): void;
  /** Tools that it offered before are no longer what they were. */
  onToolChanges?(server: ManagedServer, changes: readonly ToolChange[]): void;
  /** Calls are let through to it again, or no longer. */
  onCircuit?(server: ManagedServer, breaker: Breaker): void;
  /** It says more than it may, and is read more slowly. */
  onFlood?(server: ManagedServer): void;
}

const CHECK_MS = 30_000;
/** A caller who retries waits no longer than this. */
const SOON_MS = 2000;
const WAITS_FOR_PACKAGE: ReadonlySet<Stage> = new Set<Stage>(["queued", "installing"]);

export class ManagedServer {
  #config: ServerConfig;
  readonly #world: ServerWorld;
  readonly #observer: ServerObserver;
  readonly #log: ServerLog;
  readonly #dialer: Dialer;
  readonly circuit: Circuit;
  readonly #restarts: Restarts;
  readonly #health: Health;
  /** How many calls it is given at once, and how often. */
  readonly limits: CallLimits;
  readonly #watches: ResourceWatches;
  readonly #relisting: Relisting;
  readonly #slumber: Slumber;
  readonly #warnings: ServerWarnings;
  readonly #awaited = new Set<() => void>();
  /**
   * For callers that do not share the main process or connection, by a setting, by their era, or because the server asks
   * them something. The main one says what the server offers and how it is, before anybody calls and whoever leaves.
   */
  readonly #instances: Instances;
  readonly #routes: Routes;
  readonly #firstCalls = new FirstCalls();
  #resilience: Resilience;
  readonly #redact: Redact;
  #status: Status;
  #listing: Listing | undefined;
  /** The listing is that of an earlier run of the hub, and it is about to start: offered meanwhile. */
  #isRecalled = false;
  #recalling: Promise<void> | undefined;
  #seen = new SeenTools();
  /** What it said about itself when it was last connected. */
  #introduction: Hello | undefined;
  #upstream: Upstream | undefined;
  /** What it was last started from. */
  #package: PackageInUse | undefined;
  /** Settled when nothing is left of a connection that was lost. */
  #leaving: Promise<void> | undefined;
  #starting: { readonly done: Promise<void>; readonly abort: AbortController } | undefined;
  #stopping: Promise<void> | undefined;
  /** There was a connection since somebody last started it. */
  #wasConnected = false;
  /** Replaced or removed: it does not come back. */
  #isRetired = false;
  /** How often it was stopped. */
  #stops = 0;
  #isSuspected = false;
  #logLevel: string | undefined;
  #floods = 0;

  /** The watches outlive it: whoever takes its place takes them over. */
  constructor(
    config: ServerConfig,
    world: ServerWorld,
    observer: ServerObserver,
    watches: ResourceWatches = new ResourceWatches(),
  ) {
    this.#config = config;
    this.#world = world;
    this.#observer = observer;
    this.#watches = watches;
    this.#redact = createRedact(world.redactor);
    this.#log = new ServerLog({ redact: this.#redact, onLine: (line) => observer.onLog?.(this, line) });
    this.#dialer = new Dialer({ config: () => this.#config, world, redact: this.#redact, log: this.#log });
    // Before it starts for the first time too: another server's call may carry them.
    world.redactor.setSecrets(this, secretsOf(config));
    this.#status = firstStatus(config);
    this.#resilience = resilienceOf(config.resilience);
    const limits = () => ({ max: this.#resilience.maxCalls, maxWaiting: this.#resilience.maxQueuedCalls });
    this.limits = new CallLimits(`Server "${config.name}"`, "resilience", {
      slots: limits,
      rate: () => this.#resilience.rate,
    });
    this.circuit = new Circuit({
      server: config.name,
      limits: () => this.#resilience.breaker,
      probe: () => this.#probe(),
      onChange: (breaker) => observer.onCircuit?.(this, breaker),
    });
    this.#restarts = new Restarts({
      rule: () => this.#resilience.restart,
      // A failure is in the status, and plans the next try.
      start: () => void this.#startOnce().catch(() => undefined),
    });
    this.#health = new Health({
      intervalMs: () => this.#resilience.healthCheckMs,
      check: () => this.#checkHealth(),
    });
    this.#relisting = new Relisting({
      started: () => this.#starting?.done.catch(() => undefined),
      read: () => this.#relist(),
    });
    this.#slumber = new Slumber({
      idleMs: () => this.#resilience.idleMs,
      isIdle: () => this.#resilience.onDemand && this.available && !this.#isInUse,
      onAsleep: () => void this.#stopNow(),
    });
    this.#warnings = new ServerWarnings((message) => observer.onWarning?.(this, message));
    this.#instances = this.#createInstances();
    this.#routes = new Routes({
      config: () => this.#config,
      memory: world.eras,
      instances: this.#instances,
      maxInstances: () => this.#resilience.instances.max,
    });
  }

  #createInstances(): Instances {
    const { places, redactor } = this.#world;
    return new Instances({
      server: this.name,
      rule: () => this.#resilience.instances,
      // A connection is opened soon enough, and may be forgotten by its server; one that sleeps has nothing running.
      keepsSpares: () => this.#config.transport.type === "stdio" && !this.#resilience.onDemand && this.available,
      maxSilence: () => this.#resilience.breaker.failures,
      all: places,
      open: (signal, owner, opening) => this.#openInstance(signal, owner, opening),
      onGone: (owner) => {
        redactor.setSecrets(owner, []);
        this.#slumber.whenIdle();
      },
    });
  }

  get config(): ServerConfig {
    return this.#config;
  }

  /** Takes over what a running server need not know of: description, groups. */
  redescribe(config: ServerConfig): void {
    this.#config = config;
    this.#resilience = resilienceOf(config.resilience);
    if (this.available) this.#health.start();
  }

  get resilience(): Resilience {
    return this.#resilience;
  }

  get name(): string {
    return this.config.name;
  }

  get status(): Status {
    return this.#status;
  }

  /** What it offers, or offered when it was last seen. */
  get listing(): Listing | undefined {
    return this.#listing;
  }

  /** What somebody should know about it, although it works. */
  get warnings(): readonly string[] {
    return this.#warnings.all;
  }

  /** The last lines that it wrote to stderr, over all its starts. */
  logs(lines: number): readonly LogLine[] {
    return this.#log.tail(lines);
  }

  get available(): boolean {
    return this.#status.state === "running";
  }

  /** Can be called: it runs, or the call starts it or waits for its start. */
  get isOffered(): boolean {
    return this.available || this.#isExpected;
  }

  get #isExpected(): boolean {
    return this.#slumber.isAsleep || this.#isRecalled;
  }

  /** When it is tried again, where it is down and wanted. */
  get nextTry(): NextTry | undefined {
    return this.#restarts.next;
  }

  /** How often it was started again by itself, by why it had gone down. */
  get restartCounts(): ReadonlyMap<ErrorKind, number> {
    return this.#restarts.counts;
  }

  get hello() {
    return this.#upstream?.hello;
  }

  /** What it said about itself when it was last connected. */
  get introduction(): Hello | undefined {
    return this.#introduction;
  }

  /** The package that it is run from, where the hub knows that. */
  get package(): PackageInUse | undefined {
    return this.#package ?? this.#world.packages?.recall(this.#config);
  }

  /** Where its package stands among those that are installed, while that is waited for. */
  get installPlace(): QueuePlace | undefined {
    const isAwaited = this.#status.state === "starting" && WAITS_FOR_PACKAGE.has(this.#status.stage);
    return isAwaited ? this.#world.packages?.placeOf(this.#config) : undefined;
  }

  /** The package that its last start took. */
  get startedFrom(): PackageInUse | undefined {
    return this.#package;
  }

  /** Installs what its package is today, beside what it runs from. */
  renewPackage(signal: AbortSignal): Promise<Renewal> {
    const { packages } = this.#world;
    if (packages !== undefined) return this.#dialer.renewPackage(packages, signal);
    return Promise.reject(new HubError("InvalidConfig", "This hub has no folder to install packages into"));
  }

  /** How often it said more than it may. */
  get floods(): number {
    return this.#floods;
  }

  #flooded(): void {
    this.#floods++;
    this.#observer.onFlood?.(this);
  }

  get pid(): number | undefined {
    return this.#upstream?.pid;
  }

  /** Those that serve one caller each. */
  get instances(): readonly { readonly pid: number | undefined; readonly since: number }[] {
    return this.#instances.all;
  }

  /** A client has gone for good. */
  sessionEnded(session: string): void {
    this.#instances.sessionEnded(session);
    this.#routes.sessionEnded(session);
  }

  /** Starts it, or waits for the start that is under way. Rejects with the reason if it does not come up. */
  start(): Promise<void> {
    if (this.#status.state === "disabled") {
      const hint = `plugboard enable ${this.name}`;
      return Promise.reject(new HubError("ServerDisabled", `Server "${this.name}" is disabled`, { hint }));
    }
    const { invalid } = this.#config;
    if (invalid !== undefined) {
      this.#observer.onStatus(this);
      return Promise.reject(fromErrorBody(invalid));
    }
    this.#restarts.forget();
    this.#wasConnected = false;
    return this.#startOnce();
  }

  /** Offers what it offered in the last run of the hub, until it is up or has failed. */
  async expect(): Promise<void> {
    const stops = this.#stops;
    await this.#recall();
    // Stopped meanwhile, or its start is over already.
    const { state } = this.#status;
    if (this.#stops !== stops || (state !== "stopped" && state !== "starting")) return;
    if (this.#listing === undefined || this.#isRecalled) return;
    this.#isRecalled = true;
    this.#observer.onOffer(this);
  }

  /** Starts it with the hub; one that is started on demand only where it is not known what it offers. */
  async boot(): Promise<void> {
    // What it offers is read beside the start: whoever looks at it now sees that it starts.
    if (!this.#resilience.onDemand) return void (await Promise.all([this.start(), this.expect()]));
    const stops = this.#stops;
    await this.expect();
    // Stopped while what it offers was read: a process started now would be left behind.
    if (this.#stops !== stops) return;
    if (!this.#isRecalled || this.#status.state !== "stopped") return this.start();
    this.#slumber.begin();
    this.#isRecalled = false;
  }

  /** What is known of it from earlier runs of the hub. */
  #recall(): Promise<void> {
    return (this.#recalling ??= (async () => {
      const known = await this.#world.listings?.recall(this.#config);
      if (known === undefined || this.#listing !== undefined) return;
      this.#listing = known.listing;
      this.#introduction = known.introduction;
      this.#seen = new SeenTools(known.seen);
      this.#warnings.listed(known.warnings);
    })());
  }

  #startOnce(): Promise<void> {
    if (this.#starting?.abort.signal.aborted === false) return this.#starting.done;
    if (this.#status.state === "running" && this.#stopping === undefined) return Promise.resolve();
    const abort = new AbortController();
    const done = this.#start(abort.signal).finally(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    const starting = { done, abort };
    this.#starting = starting;
    return done;
  }

  /** Stops it, or the start that is under way; nothing of it is left when this resolves. */
  stop(): Promise<void> {
    this.#wakeNoMore();
    return this.#stopNow();
  }

  #stopNow(): Promise<void> {
    this.#stops++;
    this.#restarts.forget();
    this.#starting?.abort.abort();
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#starting !== undefined) await this.#starting.done.catch(() => undefined); // whoever started it has the reason
    const upstream = this.#disconnect();
    await Promise.all([upstream?.close(), this.#instances.endAll(), this.#leaving]);
    this.#health.stop();
    // A start that was under way may have failed meanwhile.
    this.#restarts.forget();
    this.circuit.reset();
    this.#set({ type: "stopped" });
  }

  /**
   * For one that is asked nothing new and does not come back: what it was asked may come to its end, for a while. When
   * nothing of it is left, its secrets need not be known any more.
   */
  async retire(drainMs: number): Promise<void> {
    this.#isRetired = true;
    await Promise.all([this.#upstream?.drain(drainMs), this.#instances.drain(drainMs)]);
    await this.stop();
    this.#world.redactor.setSecrets(this, []);
  }

  /** One request to the server, on behalf of a client. */
  async ask(ask: Ask): Promise<Reply> {
    const startedAt = performance.now();
    const turn = this.limits.take({ signal: ask.signal, limitMs: this.requestMs(ask) });
    if (turn !== undefined) await turn;
    try {
      return await this.#askInTurn(ask, startedAt);
    } catch (thrown) {
      const error = toHubError(thrown);
      if (isRefusal(error)) this.#suspect();
      throw explained(redactError(error, this.#redact), this.#config);
    } finally {
      this.limits.give();
      if (this.#resilience.onDemand) this.#slumber.whenIdle();
    }
  }

  get #connected(): Upstream | undefined {
    return this.#status.state === "running" ? this.#upstream : undefined;
  }

  /**
   * Waits for the start that is under way, or makes one where a call may: whoever is asleep is woken up, a connection that is
   * lost is opened anew (one flight for all calls and for the reconnect that is planned), and one that did not let us in may
   * do so by now. A process that ended comes back by its own schedule: else each call would drive a crash loop.
   */
  async #reach(ask: Ask): Promise<Upstream> {
    if (this.#isReachable) {
      const start = this.#startOnce().catch((thrown: unknown) => {
        throw this.#unreached(toHubError(thrown));
      });
      await within(start, ask.signal, this.requestMs(ask));
    }
    const upstream = this.#connected;
    if (upstream === undefined) throw this.unavailable();
    return upstream;
  }

  /** Whether somebody who asks it now may hope for an answer, though it is not connected. */
  get #isReachable(): boolean {
    if (this.#isExpected) return true;
    if (this.#stopping !== undefined || this.#isRetired) return false;
    if (this.#starting?.abort.signal.aborted === false) return true;
    const { state } = this.#status;
    if (state === "unauthenticated") return true;
    const isDown = state === "disconnected" || (state === "error" && !isHopeless(this.#status.error));
    return isDown && this.config.transport.type !== "stdio";
  }

  /** Why there is no connection, as the failure of a request that never left the hub. */
  #unreached(error: HubError): HubError {
    if (isRefusal(error) || error.delivery === "rejected" || this.#resilience.onDemand) return error;
    const { kind, code, message, detail, hint, retryAfterMs } = error;
    if (kind === "Cancelled") return this.unavailable();
    const isNetwork = code === "NETWORK_ERROR" || code === "RATE_LIMITED";
    if (this.config.transport.type === "stdio" || !isNetwork) return this.unavailable(message);
    return new HubError(kind, message, {
      delivery: retryAfterMs === undefined ? "unsent" : "refused",
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      cause: error,
    });
  }

  #routeOf(ask: Ask): Route {
    const hello = this.#upstream?.hello ?? this.#introduction;
    const main = { era: hello?.era, hasTasks: isObject(hello?.capabilities["tasks"]) };
    return this.#routes.of(ask.caller, main, {
      mayAsk: () => this.#firstCalls.mayAsk(ask),
      isMainFree: () => this.#firstCalls.isSharedFree(ask),
    });
  }

  /** What was waited for, a turn or a start, is part of the time that the request has. */
  #inTime(ask: Ask, startedAt: number): Ask {
    if (performance.now() - startedAt < 1) return ask;
    return { ...ask, timeoutMs: timeLeft(this.requestMs(ask), startedAt) };
  }

  /** Where clients share a connection, a call may have to wait until it is known whether the server asks in the one before it. */
  async #askInTurn(ask: Ask, startedAt: number): Promise<Reply> {
    // Whom it is for hangs on what the server speaks.
    if (this.#connected === undefined && this.#introduction === undefined)
      await this.#reach(this.#inTime(ask, startedAt));
    const since = performance.now();
    let route = this.#routeOf(ask);
    while (route.isShared) {
      const turn = this.#firstCalls.wait(ask, since);
      if (turn === undefined) break;
      await turn;
      route = this.#routeOf(ask);
    }
    const { isolation } = this.#config;
    if (!route.isShared && (isolation !== undefined || route.to === "main")) return this.#askVia(route, ask, startedAt);
    const begun = this.#firstCalls.begin(ask, route);
    let isAnswered = false;
    try {
      const reply = await this.#askVia(route, ask, startedAt);
      isAnswered = reply.ok;
      return reply;
    } finally {
      this.#firstCalls.end(begun, { isAnswered });
    }
  }

  async #askVia(route: Route, ask: Ask, startedAt: number): Promise<Reply> {
    if (route.to === "main") {
      const upstream = this.#connected ?? (await this.#reach(this.#inTime(ask, startedAt)));
      return upstream.ask(this.#inTime(ask, startedAt));
    }
    // An instance that is there answers whatever became of the others; a new one only where the server works at all.
    const isThere = route.to === "instance" && this.#instances.has(route.key);
    if (!isThere && this.#connected === undefined) await this.#reach(this.#inTime(ask, startedAt));
    const timed = this.#inTime(ask, startedAt);
    const { legacyOnly } = route;
    const limitMs = this.requestMs(timed);
    const otherwise = (failed: HubError) =>
      this.#routes.failed(route, failed) ? this.#askVia(this.#nextRoute(route, ask), ask, startedAt) : undefined;
    const reply =
      route.to === "once"
        ? await this.#instances.askOnce(timed, { limitMs, legacyOnly }, otherwise)
        : await this.#instances.ask(
            route.key,
            timed,
            {
              limitMs,
              legacyOnly,
              mayAsk: this.#firstCalls.mayAsk(ask),
              ...(route.isOwn && ask.caller !== undefined ? { client: ask.caller } : {}),
            },
            otherwise,
          );
    // Who lets the one in lets all in. How it goes is in the status.
    if (this.#status.state === "unauthenticated") void this.#startOnce().catch(() => undefined);
    return reply;
  }

  /** After one whose instance could not be opened. Where only room was missing, it would be the same once more. */
  #nextRoute(failed: Route & { to: "instance" | "once" }, ask: Ask): Route {
    const next = this.#routeOf(ask);
    const isSame = next.to === failed.to && next.legacyOnly === failed.legacyOnly;
    return isSame ? { to: "main", isShared: false } : next;
  }

  /** As a start, but what the server offers is known, and its status does not hang on it. */
  async #openInstance(signal: AbortSignal, owner: object, { legacyOnly, client }: Opening): Promise<Upstream> {
    const onTaskNews = (news: NotificationMessage) => this.#observer.onTaskNews?.(this, news);
    // That its lists changed says nothing about the one that they were read from.
    const silent = { onListChanged: none, onResourceUpdated: none, onGap: none, onStage: none };
    const only = client === undefined ? undefined : new InstanceClient(client);
    const upstream = await this.#dialer.open({
      signal,
      owner,
      onTaskNews,
      onAsked: (kind, how) => this.#asked(kind, how),
      onFlood: () => this.#flooded(),
      ...silent,
      ...(legacyOnly === true ? { legacyOnly } : {}),
      ...(only === undefined ? {} : { client: only }),
    });
    // Before its first call, whose logs somebody wants; and nothing else depends on it.
    if (this.#logLevel !== undefined) await upstream.setLogLevel(this.#logLevel).catch(() => undefined);
    await upstream.hear();
    if (only?.capabilities["roots"] !== undefined && upstream.era === "legacy") await upstream.settled();
    only?.settled();
    return upstream;
  }

  #asked(kind: Askable, { isPlaced }: { readonly isPlaced: boolean }): void {
    if (!isPlaced) this.#routes.asked(kind, this.#firstCalls.onlyCaller);
    this.#firstCalls.asked({ isPlaced });
  }

  /** Whoever wants to hear when a resource changes: that starts a server that is asleep, and keeps it awake. */
  async watch(uri: string, onUpdate: OnUpdate): Promise<{ readonly reply: Reply; readonly release: () => void }> {
    const { opened, release } = this.#watches.add(uri, onUpdate);
    try {
      if (this.#isExpected) await this.#startOnce();
      if (!this.available) throw this.unavailable();
      const reply = await opened();
      if (!reply.ok) release();
      return { reply, release };
    } catch (thrown) {
      release();
      throw redactError(toHubError(thrown), this.#redact);
    }
  }

  /** A subscription on behalf of one client. It lasts, so it takes nobody's turn. */
  async listen(ask: Pick<Ask, "params" | "signal" | "onNotification">): Promise<Reply> {
    if (this.#upstream === undefined) throw this.unavailable();
    return this.#upstream.ask({ ...ask, method: "subscriptions/listen", timeoutMs: 0 });
  }

  /** An instance that somebody wanted and that waits for its caller is in use too: it ends by a rule of its own. */
  get #isInUse(): boolean {
    const isKept = this.#config.isolation !== undefined && this.#instances.size > 0;
    return this.limits.taken > 0 || this.#watches.size > 0 || isKept;
  }

  #wakeNoMore(): void {
    const wasExpected = this.#isExpected;
    this.#slumber.end();
    this.#isRecalled = false;
    if (wasExpected && !this.available) this.#observer.onOffer(this);
  }

  /** How long a request may take in all. */
  requestMs(ask?: Pick<Ask, "timeoutMs">): number {
    return this.#dialer.requestMs(ask);
  }

  /** Calls back when it is running; the function that comes back ends the wait. */
  onceRunning(callback: () => void): () => void {
    this.#awaited.add(callback);
    return () => this.#awaited.delete(callback);
  }

  /** Why it cannot be asked now; what went wrong, where somebody has just seen that. */
  unavailable(reason?: string): HubError {
    if (this.#status.state === "unauthenticated") return fromErrorBody(this.#status.error);
    if (this.#config.invalid !== undefined) return fromErrorBody(this.#config.invalid);
    const state = this.#stopping === undefined ? this.#status.state : "being stopped";
    const { next } = this.#restarts;
    const leftMs = next === undefined ? undefined : Math.max(0, next.dueAt - performance.now());
    const isBack = state === "starting" && this.#wasConnected;
    const isSoon = isBack || (leftMs !== undefined && leftMs < SOON_MS);
    return new HubError("ServerNotRunning", "Server unavailable", {
      detail: reason === undefined ? `Server "${this.name}" is ${state}` : `Server "${this.name}": ${reason}`,
      // Only where it may be back before the caller gives up is it worth to try again.
      ...(isSoon ? { delivery: "unsent" } : {}),
      ...(leftMs === undefined ? {} : { retryAfterMs: leftMs }),
    });
  }

  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** The lowest level that any client wants; set again when the server comes back. */
  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level;
    await Promise.all([this.#upstream?.setLogLevel(level), this.#instances.setLogLevel(level)]);
  }

  async #start(signal: AbortSignal): Promise<void> {
    if (this.#stopping !== undefined) await this.#stopping;
    if (signal.aborted) throw new HubError("Cancelled", "The start was cancelled");
    this.#set({ type: "start", at: Date.now() });
    await this.#leaving;
    try {
      const upstream = await this.#dialer.open({
        signal,
        owner: this,
        onListChanged: () => this.#relisting.announced(),
        onResourceUpdated: (params) => this.#upstream !== undefined && this.#watches.updated(this.#upstream, params),
        onTaskNews: (news) => this.#observer.onTaskNews?.(this, news),
        onAsked: (kind, how) => this.#asked(kind, how),
        onGap: () => this.#upstream !== undefined && this.#watches.gap(this.#upstream),
        onStage: (stage: Stage) => this.#set({ type: "stage", stage }),
        onFlood: () => this.#flooded(),
        onPackage: (inUse) => void (this.#package = inUse),
        ready: (connected, inTime) => this.#getToKnow(connected, inTime),
      });
      this.#running(upstream);
    } catch (thrown) {
      const reason = toHubError(thrown);
      const error = explained(redactError(reason, this.#redact), this.config);
      if (signal.aborted) this.#set({ type: "stopped" });
      else this.#down(error);
      throw error;
    }
  }

  async #getToKnow(upstream: Upstream, signal: AbortSignal): Promise<void> {
    // A choice of the user's says nothing about the server, nor does its silence.
    if (this.config.era === undefined && upstream.isEraCertain) {
      this.#world.eras.remember(this.config.transport, upstream.era);
    }
    this.#set({ type: "stage", stage: "listing" });
    const [listed] = await Promise.all([upstream.list(signal), this.#recall()]);
    signal.throwIfAborted();
    this.#introduction = upstream.hello;
    // The first listing of a start. Where it was offered before, it may be another one than clients have seen.
    const isNews = this.#isExpected && !isDeepStrictEqual(listed.listing, this.#listing);
    this.#learn(listed);
    if (listed.isPartial) this.#relisting.announced();
    if (isNews) this.#observer.onOffer(this);
  }

  #learn({ listing, warnings }: Listed): void {
    const changes = this.#seen.update(listing.tools, this.#listing?.tools);
    this.#listing = listing;
    this.#warnings.listed(warnings.map(this.#redact));
    for (const { tool, summary } of changes) {
      const warning = `Tool ${quote(tool)} changed since it was last seen: ${summary}`;
      this.#warnings.changed(tool, this.#redact(warning));
    }
    if (changes.length > 0) this.#observer.onToolChanges?.(this, changes);
    this.#world.listings?.remember(this.config, {
      listing,
      introduction: this.#introduction,
      warnings: this.#warnings.ofListing,
      seen: this.#seen.toJSON(),
    });
  }

  #running(upstream: Upstream): void {
    this.#upstream = upstream;
    this.#wasConnected = true;
    this.#restarts.up();
    this.#health.start();
    this.circuit.succeeded();
    this.#set({ type: "ready", tools: toolNames(this.#listing), at: Date.now() });
    upstream.follow();
    this.#watches.attach(upstream, () => this.#slumber.whenIdle());
    if (this.#logLevel !== undefined) void upstream.setLogLevel(this.#logLevel).catch(() => undefined); // only logs depend on it
    void upstream.lost.then((error) => this.#lost(upstream, error));
    for (const callback of this.#awaited) callback();
    this.#awaited.clear();
    this.#slumber.end();
    this.#isRecalled = false;
    this.#slumber.whenIdle();
  }

  /** Nobody is asked by it any more. Who takes the connection closes it. */
  #disconnect(): Upstream | undefined {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (upstream !== undefined) this.#watches.detach(upstream);
    return upstream;
  }

  #lost(upstream: Upstream, error: HubError): void {
    if (this.#upstream !== upstream) return; // stopped by us
    this.#disconnect();
    this.#leaving = upstream.close();
    this.#down(redactError(error, this.#redact));
  }

  /** It went down or did not come up. It is tried again, unless somebody has to change something first. */
  #down(error: HubError): void {
    this.#health.stop();
    this.#wakeNoMore();
    if (isRefusal(error)) return this.#refused(error);
    if (!isHopeless(error) && !this.#isRetired) this.#restarts.down(error.kind);
    const isLost = this.config.transport.type !== "stdio" && this.#wasConnected;
    this.#set({ type: isLost ? "lost" : "failed", error: error.toJSON(), at: Date.now() });
  }

  /** It works, but not for us. Asked again as seldom as a server that works, so that nobody is locked out for good. */
  #refused(error: HubError): void {
    this.circuit.reset();
    this.#set({ type: "refused", error: error.toJSON(), at: Date.now() });
    if (!this.#isRetired) this.#health.start();
  }

  /** A call was refused. Whether that is the whole server or only what was asked for, its lists tell. */
  #suspect(): void {
    if (this.#isSuspected) return;
    this.#isSuspected = true;
    void this.#check()
      .catch(() => undefined) // what it found is in the status
      .finally(() => {
        this.#isSuspected = false;
      });
  }

  /** Lists what it offers, as a client would; the list is taken over where it is another one. */
  async #check(): Promise<void> {
    const upstream = this.#upstream;
    if (upstream === undefined) throw this.unavailable();
    const listed = await upstream.list(AbortSignal.timeout(CHECK_MS)).catch((thrown: unknown) => {
      const error = toHubError(thrown);
      if (isRefusal(error)) this.#lost(upstream, withFix(error, this.config));
      throw error;
    });
    if (this.#upstream === upstream) this.#relisted(listed);
  }

  async #checkHealth(): Promise<void> {
    // How it went is in the status.
    if (this.#status.state === "unauthenticated") return this.#startOnce().catch(() => undefined);
    try {
      await this.#check();
      this.circuit.succeeded();
    } catch {
      if (this.available) this.circuit.failed();
    }
  }

  /** A process that stays silent although it was left in peace for the cooldown will not come to itself. */
  async #probe(): Promise<void> {
    const upstream = this.#upstream;
    try {
      await this.#check();
    } catch (thrown) {
      const error = toHubError(thrown);
      if (isRefusal(error)) return;
      const { kind } = error;
      const isStuck = kind === "Timeout" || kind === "Cancelled";
      if (upstream !== undefined && isStuck && this.config.transport.type === "stdio") {
        this.#lost(upstream, new HubError("Timeout", "The server no longer answers"));
      }
      throw thrown;
    }
  }

  /** False: it answers, but not with its lists; worth another try. */
  async #relist(): Promise<boolean> {
    const upstream = this.#upstream;
    if (upstream === undefined) return true;
    try {
      const listed = await upstream.list(AbortSignal.timeout(CHECK_MS));
      if (this.#upstream !== upstream) return true;
      this.#relisted(listed);
      return !listed.isPartial;
    } catch (thrown) {
      // A lost connection is reported by itself.
      if (this.#upstream !== upstream) return true;
      const { message, detail } = toHubError(thrown);
      const why = detail === undefined || detail === "" ? message : `${message}: ${detail}`;
      this.#warnings.failed(this.#redact(`Its lists changed and cannot be read, so the last ones stay: ${why}`));
      return false;
    }
  }

  /** What it offers was read again, and may be the same. */
  #relisted(listed: Listed): void {
    if (isDeepStrictEqual(listed.listing, this.#listing))
      return this.#warnings.listed(listed.warnings.map(this.#redact));
    this.#learn(listed);
    this.#set({ type: "listed", tools: toolNames(listed.listing) });
    this.#observer.onOffer(this);
  }

  #set(event: StatusEvent): void {
    // What is wrong in the file stays wrong until another entry takes its place.
    if (this.#config.invalid !== undefined && !this.#isRetired) return;
    const next = nextStatus(this.#status, event);
    if (next === this.#status) return;
    const wasOffered = this.isOffered;
    this.#status = next;
    this.#observer.onStatus(this);
    if (this.isOffered !== wasOffered) this.#observer.onOffer(this);
  }
}

/** An entry that cannot be used is shown with its reason from the beginning. */
function firstStatus({ enabled, invalid }: ServerConfig): Status {
  if (!enabled) return { state: "disabled" };
  return invalid === undefined ? { state: "stopped" } : { state: "error", error: invalid, since: Date.now() };
}

const none = () => undefined;

const askNobody: AskClient = (method) =>
  Promise.reject(new HubError("ConnectionFailed", `The client cannot be asked ${method}`));

/** The one client of an instance: asked on the stream of the request that it is opened for, later on its session's own. */
class InstanceClient implements OnlyClient {
  readonly capabilities: JsonObject;
  ask: AskClient;
  readonly #later: AskClient;

  constructor({ capabilities = {}, ask, askSession }: Caller) {
    this.capabilities = capabilities;
    this.#later = askSession ?? askNobody;
    this.ask = ask ?? this.#later;
  }

  /** From now on the request may have its answer, and nothing of it must be kept. */
  settled(): void {
    this.ask = this.#later;
  }
}

/** Somebody has to change something before it can work. */
function isHopeless({ code }: Pick<HubError, "code">): boolean {
  return code === "VALIDATION_ERROR" || code === "NOT_FOUND";
}

/** Never 0, which would mean: without a limit. */
function timeLeft(limitMs: number, startedAt: number): number {
  return limitMs === 0 ? 0 : Math.max(1, limitMs - (performance.now() - startedAt));
}

function toolNames(listing: Listing | undefined): string[] {
  return (listing?.tools ?? []).map((tool) => String(tool["name"]));
}

/** The advice comes last: it is made of names alone, and a command to copy must stay as it is. */
function explained(error: HubError, config: ServerConfig): HubError {
  return isRefusal(error) ? withFix(error, config) : error;
}
