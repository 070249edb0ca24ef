// One managed server: its status, its process or connection, its last listing. Starts it once however many ask,
// and always knows the truth about it.

import { randomBytes } from "node:crypto";
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Listing } from "../catalog/listing.ts";
import type { ServerConfig } from "../config/types.ts";
import { HubError, toHubError } from "../errors.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import type { Breaker } from "./breaker.ts";
import { Circuit } from "./circuit.ts";
import { childEnvironment } from "./environment.ts";
import type { EraMemory } from "./era-memory.ts";
import type { Guard } from "./guard.ts";
import { Health } from "./health.ts";
import { launchCommand } from "./launch.ts";
import type { Launches } from "./launches.ts";
import type { ListingMemory } from "./listing-memory.ts";
import { openHttp, openStdio } from "./link.ts";
import { createRedact, redactError, type Redact, type Redactor } from "./redaction.ts";
import { resilienceOf, type Resilience } from "./resilience.ts";
import { resolveServer, type ResolvedServer } from "./resolve.ts";
import { Restarts, type NextTry } from "./restarts.ts";
import { secretsOf } from "./secrets-of.ts";
import { ServerLog, type LogLine } from "./server-log.ts";
import { Slots } from "./slots.ts";
import { nextStatus, type Stage, type Status, type StatusEvent } from "./status.ts";
import { Upstream, type Ask } from "./upstream.ts";

/** What every managed server shares. */
export interface ServerWorld {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secrets: SecretStore;
  readonly guard: Guard;
  readonly eras: EraMemory;
  readonly instance: string;
  /** Without it every server starts at once. */
  readonly launches?: Launches;
  /** Without it a server that is started on demand is started once at the hub's start. */
  readonly listings?: ListingMemory;
  readonly redactor: Redactor;
  /** Who knows where remote servers are. */
  readonly lookup?: LookupFunction;
}

export interface ServerObserver {
  onStatus(server: ManagedServer): void;
  /** What the server offers has changed: another listing, or it came or went. */
  onOffer(server: ManagedServer): void;
  /** It wrote a line to stderr. */
  onLog?(server: ManagedServer, line: LogLine): void;
  /** Calls are let through to it again, or no longer. */
  onCircuit?(server: ManagedServer, breaker: Breaker): void;
}

/** A launcher may have to download the server first. */
const START_MS = { npx: 120_000, uvx: 120_000, docker: 120_000, binary: 30_000, remote: 30_000 } as const;
const PROBE_MS = { npx: 20_000, uvx: 20_000, docker: 20_000, binary: 5000, remote: 5000 } as const;
const REQUEST_MS = { stdio: 120_000, remote: 30_000 } as const;
const RELIST_MS = 100;
const CHECK_MS = 30_000;
/** A caller who retries waits no longer than this. */
const SOON_MS = 2000;

export class ManagedServer {
  #config: ServerConfig;
  readonly #world: ServerWorld;
  readonly #observer: ServerObserver;
  readonly #log: ServerLog;
  readonly circuit: Circuit;
  readonly #restarts: Restarts;
  readonly #health: Health;
  readonly #slots: Slots;
  readonly #awaited = new Set<() => void>();
  #resilience: Resilience;
  readonly #redact: Redact;
  #status: Status;
  #listing: Listing | undefined;
  #upstream: Upstream | undefined;
  /** Settled when nothing is left of a connection that was lost. */
  #leaving: Promise<void> | undefined;
  #starting: { readonly done: Promise<void>; readonly abort: AbortController } | undefined;
  #stopping: Promise<void> | undefined;
  /** There was a connection since somebody last started it. */
  #wasConnected = false;
  /** Not running until somebody calls it; what it offers is known. */
  #isAsleep = false;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Replaced or removed: it does not come back. */
  #isRetired = false;
  #relisting: Promise<void> | undefined;
  #outdated = false;
  #logLevel: string | undefined;

  constructor(config: ServerConfig, world: ServerWorld, observer: ServerObserver) {
    this.#config = config;
    this.#world = world;
    this.#observer = observer;
    this.#redact = createRedact(world.redactor);
    this.#log = new ServerLog({ redact: this.#redact, onLine: (line) => observer.onLog?.(this, line) });
    // Before it starts for the first time too: another server's call may carry them.
    world.redactor.setSecrets(this, secretsOf(config));
    this.#status = config.enabled ? { state: "stopped" } : { state: "disabled" };
    this.#resilience = resilienceOf(config.resilience);
    this.#slots = new Slots(`Server "${config.name}"`, () => ({
      max: this.#resilience.maxCalls,
      maxWaiting: this.#resilience.maxQueuedCalls,
    }));
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

  /** The last lines that it wrote to stderr, over all its starts. */
  logs(lines: number): readonly LogLine[] {
    return this.#log.tail(lines);
  }

  get available(): boolean {
    return this.#status.state === "running";
  }

  /** Can be called: it runs, or the call starts it. */
  get isOffered(): boolean {
    return this.available || this.#isAsleep;
  }

  /** When it is tried again, where it is down and wanted. */
  get nextTry(): NextTry | undefined {
    return this.#restarts.next;
  }

  /** How often it was started again by itself. */
  get restartCount(): number {
    return this.#restarts.count;
  }

  get hello() {
    return this.#upstream?.hello;
  }

  get pid(): number | undefined {
    return this.#upstream?.pid;
  }

  /** Starts it, or waits for the start that is under way. Rejects with the reason if it does not come up. */
  start(): Promise<void> {
    if (this.#status.state === "disabled") {
      const hint = `Set "enabled": true for ${this.name} in mcp_server.json`;
      return Promise.reject(new HubError("ServerDisabled", `Server "${this.name}" is disabled`, { hint }));
    }
    this.#restarts.forget();
    this.#wasConnected = false;
    return this.#startOnce();
  }

  /** Starts it with the hub; one that is started on demand only where it is not known what it offers. */
  async boot(): Promise<void> {
    const known = this.#resilience.onDemand ? await this.#world.listings?.recall(this.config.transport) : undefined;
    if (known === undefined || this.#status.state !== "stopped") return this.start();
    this.#listing = known;
    this.#isAsleep = true;
    this.#observer.onOffer(this);
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
    this.#restarts.forget();
    this.#starting?.abort.abort();
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#starting !== undefined) await this.#starting.done.catch(() => undefined); // whoever started it has the reason
    const upstream = this.#upstream;
    this.#upstream = undefined;
    await Promise.all([upstream?.close(), this.#leaving]);
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
    await this.#upstream?.drain(drainMs);
    await this.stop();
    this.#world.redactor.setSecrets(this, []);
  }

  /** One request to the server, on behalf of a client. */
  async ask(ask: Ask): Promise<Reply> {
    const turn = this.#slots.take({ signal: ask.signal, limitMs: this.requestMs(ask) });
    if (turn !== undefined) await turn;
    try {
      if (this.#isAsleep) await this.#startOnce();
      if (this.#upstream === undefined || this.#status.state !== "running") throw this.#unavailable();
      return await this.#upstream.ask(ask);
    } catch (thrown) {
      throw redactError(toHubError(thrown), this.#redact);
    } finally {
      this.#slots.give();
      if (this.#resilience.onDemand) this.#sleepWhenIdle();
    }
  }

  #sleepWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    if (this.available && this.#slots.taken === 0) {
      this.#idleTimer = setTimeout(() => this.#sleep(), this.#resilience.idleMs).unref();
    }
  }

  #sleep(): void {
    if (!this.available || this.#slots.taken > 0) return;
    this.#isAsleep = true;
    void this.#stopNow();
  }

  #wakeNoMore(): void {
    clearTimeout(this.#idleTimer);
    if (!this.#isAsleep) return;
    this.#isAsleep = false;
    if (!this.available) this.#observer.onOffer(this);
  }

  /** How long a request may take in all. */
  requestMs({ timeoutMs }: Pick<Ask, "timeoutMs"> = {}): number {
    const { timeouts, transport } = this.#config;
    return timeoutMs ?? timeouts.requestMs ?? REQUEST_MS[transport.type === "stdio" ? "stdio" : "remote"];
  }

  /** Calls back when it is running; the function that comes back ends the wait. */
  onceRunning(callback: () => void): () => void {
    this.#awaited.add(callback);
    return () => this.#awaited.delete(callback);
  }

  #unavailable(): HubError {
    const state = this.#stopping === undefined ? this.#status.state : "being stopped";
    const { next } = this.#restarts;
    const leftMs = next === undefined ? undefined : Math.max(0, next.dueAt - performance.now());
    const isBack = state === "starting" && this.#wasConnected;
    const isSoon = isBack || (leftMs !== undefined && leftMs < SOON_MS);
    return new HubError("ServerNotRunning", "Server unavailable", {
      detail: `Server "${this.name}" is ${state}`,
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
    await this.#upstream?.setLogLevel(level);
  }

  async #start(signal: AbortSignal): Promise<void> {
    if (this.#stopping !== undefined) await this.#stopping;
    if (signal.aborted) throw new HubError("Cancelled", "The start was cancelled");
    this.#set({ type: "start", at: Date.now() });
    const startMs = this.config.timeouts.startMs ?? START_MS[this.#method];
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), startMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    let upstream: Upstream | undefined;
    let over: (() => void) | undefined;
    try {
      await this.#leaving;
      const resolved = await resolveServer(this.config, this.#world);
      this.#world.redactor.setSecrets(this, resolved.secrets);
      this.#set({ type: "stage", stage: "launching" });
      const { launches } = this.#world;
      over = await launches?.next({ signal: either, limitMs: startMs });
      upstream = await this.#connect(resolved, either, startMs);
      this.#world.eras.remember(this.config.transport, upstream.era);
      this.#set({ type: "stage", stage: "listing" });
      const listing = await upstream.list(either);
      either.throwIfAborted();
      this.#learn(listing);
      this.#running(upstream);
    } catch (thrown) {
      await upstream?.close();
      const reason = startError(thrown, { cancelled: signal.aborted, timedOut: deadline.signal.aborted });
      const error = redactError(reason, this.#redact);
      if (signal.aborted) this.#set({ type: "stopped" });
      else this.#down(error);
      throw error;
    } finally {
      over?.();
      clearTimeout(timer);
    }
  }

  #connect(resolved: ResolvedServer, signal: AbortSignal, startMs: number): Promise<Upstream> {
    return Upstream.connect({
      known: this.#world.eras.recall(this.config.transport),
      probeMs: PROBE_MS[this.#method],
      timeoutMs: startMs,
      requestMs: this.requestMs(),
      signal,
      open: (handlers) => {
        if (resolved.transport.type !== "stdio") return openHttp(resolved, handlers, { lookup: this.#world.lookup });
        const { instance, guard } = this.#world;
        const command = launchCommand(resolved, { instance, unique: randomBytes(4).toString("hex") });
        const env = childEnvironment(this.#world.variables, command.env, { tag: instance, launcher: command.launcher });
        this.#log.start();
        const onStderr = (chunk: Buffer) => this.#log.push(chunk);
        return openStdio({ ...command, env }, handlers, { guard, redact: this.#redact, onStderr });
      },
      onListChanged: () => {
        this.#outdated = true;
        if (this.#relisting === undefined) this.#relisting = this.#relist();
      },
      onStage: (stage: Stage) => this.#set({ type: "stage", stage }),
    });
  }

  /** The first listing of a start. Of one that was asleep it may be another one than clients have seen. */
  #learn(listing: Listing): void {
    const isNews = this.#isAsleep && !isDeepStrictEqual(listing, this.#listing);
    this.#listing = listing;
    if (isNews) this.#observer.onOffer(this);
    if (this.#resilience.onDemand) this.#world.listings?.remember(this.config.transport, listing);
  }

  #running(upstream: Upstream): void {
    this.#upstream = upstream;
    this.#wasConnected = true;
    this.#restarts.up();
    this.#health.start();
    this.circuit.succeeded();
    this.#set({ type: "ready", tools: toolNames(this.#listing), at: Date.now() });
    upstream.follow();
    if (this.#logLevel !== undefined) void upstream.setLogLevel(this.#logLevel).catch(() => undefined); // only logs depend on it
    void upstream.lost.then((error) => this.#lost(upstream, error));
    for (const callback of this.#awaited) callback();
    this.#awaited.clear();
    this.#isAsleep = false;
    if (this.#resilience.onDemand) this.#sleepWhenIdle();
  }

  #lost(upstream: Upstream, error: HubError): void {
    if (this.#upstream !== upstream) return; // stopped by us
    this.#upstream = undefined;
    this.#leaving = upstream.close();
    this.#down(redactError(error, this.#redact));
  }

  /** It went down or did not come up. It is tried again, unless somebody has to change something first. */
  #down(error: HubError): void {
    this.#health.stop();
    this.#wakeNoMore();
    const isHopeless = error.code === "VALIDATION_ERROR" || error.code === "NOT_FOUND";
    if (!isHopeless && !this.#isRetired) this.#restarts.down();
    const isLost = this.config.transport.type !== "stdio" && this.#wasConnected;
    this.#set({ type: isLost ? "lost" : "failed", error: error.toJSON(), at: Date.now() });
  }

  /** Lists what it offers, as a client would; the list is taken over where it is another one. */
  async #check(): Promise<void> {
    const upstream = this.#upstream;
    if (upstream === undefined) throw this.#unavailable();
    const listing = await upstream.list(AbortSignal.timeout(CHECK_MS));
    if (this.#upstream === upstream && !isDeepStrictEqual(listing, this.#listing)) this.#offer(listing);
  }

  async #checkHealth(): Promise<void> {
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
      const { kind } = toHubError(thrown);
      const isStuck = kind === "Timeout" || kind === "Cancelled";
      if (upstream !== undefined && isStuck && this.config.transport.type === "stdio") {
        this.#lost(upstream, new HubError("Timeout", "The server no longer answers"));
      }
      throw thrown;
    }
  }

  /** A burst of announcements is answered with one new listing; what comes while that is read, with another. */
  async #relist(): Promise<void> {
    while (this.#outdated) {
      await sleep(RELIST_MS, undefined, { ref: false });
      // What is announced during the start may have come too late for the first listing.
      await this.#starting?.done.catch(() => undefined);
      this.#outdated = false;
      const upstream = this.#upstream;
      // The old listing stays if this fails; a lost connection is reported by itself.
      const listing = await upstream?.list().catch(() => undefined);
      if (listing !== undefined && this.#upstream === upstream) this.#offer(listing);
    }
    this.#relisting = undefined;
  }

  #offer(listing: Listing): void {
    this.#listing = listing;
    this.#set({ type: "listed", tools: toolNames(listing) });
    this.#observer.onOffer(this);
  }

  get #method(): keyof typeof START_MS {
    const { transport } = this.config;
    return transport.type === "stdio" ? transport.launcher : "remote";
  }

  #set(event: StatusEvent): void {
    const next = nextStatus(this.#status, event);
    if (next === this.#status) return;
    const wasOffered = this.isOffered;
    this.#status = next;
    this.#observer.onStatus(this);
    if (this.isOffered !== wasOffered) this.#observer.onOffer(this);
  }
}

function toolNames(listing: Listing | undefined): string[] {
  return (listing?.tools ?? []).map((tool) => String(tool["name"]));
}

/** Why a start failed, in the words of the requirements. */
function startError(thrown: unknown, { cancelled, timedOut }: { cancelled: boolean; timedOut: boolean }): HubError {
  const error = toHubError(thrown);
  if (cancelled) return new HubError("Cancelled", "The start was cancelled", { cause: thrown });
  if (!timedOut && error.kind !== "Timeout") return error;
  const { detail } = error;
  return new HubError("Timeout", "Handshake timed out", { cause: thrown, ...(detail === undefined ? {} : { detail }) });
}
