// The set of managed servers: who is there and who answers, starting and stopping them side by side, replacing one while
// calls run, and trying one out unsaved.

import { basename } from "node:path";
import type { ServerListing } from "../catalog/listing.ts";
import type { ServerConfig } from "../config/types.ts";
import { didYouMean } from "../did-you-mean.ts";
import { HubError, toHubError, type ErrorBody, type ErrorKind } from "../errors.ts";
import type { Era } from "../wire/era.ts";
import type { JsonObject } from "../wire/json.ts";
import type { PackageRecord } from "./npm/record.ts";
import { ResourceWatches, WatchBudget } from "./resource-watches.ts";
import { ManagedServer, type ServerObserver } from "./server.ts";
import type { ServerWorld } from "./world.ts";

/** What a trial of an unsaved config found. The shape is the management API's. */
export interface TestResult {
  readonly success: boolean;
  readonly message: string;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly latency_ms: number;
  readonly error?: ErrorBody;
}

/** What became of a server's package. */
export interface PackageUpdate {
  /** The version before; undefined where there was none. */
  readonly from: string | undefined;
  readonly to: string;
  /** The servers that were restarted. */
  readonly restarted: readonly string[];
}

/** For the calls that a replaced or removed server was asked before. */
const DRAIN_MS = 10_000;
/** Of one name, at a time: each is a process that somebody still waits for. */
const MAX_LEAVING = 4;
/** How a server fails that needs what the one before it still holds: a port, a lock on a file. */
const MAY_BE_HELD: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["ProcessSpawnFailed", "Timeout"]);

export class Supervisor {
  readonly #world: ServerWorld;
  readonly #observer: ServerObserver;
  /** Observes each server: of one that was replaced nothing is told any more, of one that was removed only its end. */
  readonly #news: ServerObserver;
  readonly #drainMs: number;
  /** By name: what the config says. */
  readonly #servers = new Map<string, ManagedServer>();
  /** By name: those that were replaced, and answer until the new one is up. */
  readonly #standIns = new Map<string, ManagedServer>();
  /** By name: what clients watch, whichever server of the name answers. */
  readonly #watches = new Map<string, ResourceWatches>();
  readonly #watchBudget = new WatchBudget();
  /** Those that are asked nothing any more, until nothing of them is left. */
  readonly #leaving = new Set<ManagedServer>();

  constructor(world: ServerWorld, observer: ServerObserver, { drainMs = DRAIN_MS }: { drainMs?: number } = {}) {
    this.#world = world;
    this.#observer = observer;
    this.#news = {
      ...observer,
      onStatus: (server) => {
        const isGone = server.status.state === "stopped" && !this.#servers.has(server.name);
        if (isGone || this.#has(server)) observer.onStatus(server);
      },
      onWarning: (server, message) => this.#has(server) && observer.onWarning?.(server, message),
      onToolChanges: (server, changes) => this.#has(server) && observer.onToolChanges?.(server, changes),
      onLog: (server, line) => this.#has(server) && observer.onLog?.(server, line),
      onCircuit: (server, breaker) => this.#has(server) && observer.onCircuit?.(server, breaker),
    };
    this.#drainMs = drainMs;
  }

  get servers(): ManagedServer[] {
    return [...this.#servers.values()];
  }

  has(name: string): boolean {
    return this.#servers.has(name);
  }

  get(name: string): ManagedServer {
    const server = this.#servers.get(name) ?? this.servers.find(({ config }) => config.id === name);
    if (server !== undefined) return server;
    // As the file spells it, where that means one server.
    const [spelled, another] = this.servers.filter(({ config }) => config.writtenAs === name);
    if (spelled !== undefined && another === undefined) return spelled;
    const hint = didYouMean(name, [...this.#servers.keys()], "Servers");
    throw new HubError("ServerNotFound", `There is no server "${name}"`, { hint });
  }

  /** Who answers for a name: while a changed server starts, the one before it. */
  answering(name: string): ManagedServer {
    const server = this.get(name);
    if (server.isOffered) return server;
    const standIn = this.#standIns.get(server.name);
    return standIn?.isOffered === true ? standIn : server;
  }

  /** Unknown while nobody answers for the name. */
  eraOf(name: string): Era | undefined {
    return this.has(name) ? this.answering(name).hello?.era : undefined;
  }

  add(config: ServerConfig): ManagedServer {
    const watches = this.#watches.get(config.name) ?? new ResourceWatches(this.#watchBudget);
    this.#watches.set(config.name, watches);
    const server = new ManagedServer(config, this.#world, this.#news, watches);
    this.#servers.set(config.name, server);
    return server;
  }

  /**
   * Puts a new server in the place of the one of the same name. New up first: the old one answers until then, finishes
   * what it was asked, and is stopped. `wanted` is asked before each start. Never rejects: how it went is in the status.
   */
  async replace(config: ServerConfig, { wanted }: { wanted: () => boolean }): Promise<void> {
    const old = this.get(config.name);
    const before = this.#standIns.get(config.name);
    const standIn = wanted() ? [old, before].find((server) => server?.available) : undefined;
    if (standIn === undefined) this.#standIns.delete(config.name);
    else this.#standIns.set(config.name, standIn);
    const fresh = this.add(config);
    if (old.logLevel !== undefined) void fresh.setLogLevel(old.logLevel);
    const others = [old, before].filter((server) => server !== standIn);
    const left = Promise.all(others.map((server) => this.#retire(server)));
    // Without anybody to answer meanwhile, nothing is won by having two of them.
    if (standIn === undefined) await left;
    if (wanted() && this.#has(fresh)) await this.#start(fresh, standIn, wanted);
    await left;
  }

  /** Takes it out at once. Resolves when it has finished what it was asked, and nothing of it is left. */
  async remove(name: string): Promise<void> {
    const server = this.get(name);
    const standIn = this.#standIns.get(server.name);
    this.#servers.delete(server.name);
    this.#standIns.delete(server.name);
    this.#watches.delete(server.name);
    await Promise.all([server, standIn].map((each) => this.#retire(each)));
  }

  /** Offers what every enabled server offered in the last run of the hub. Comes before startAll(). */
  async expectAll(): Promise<void> {
    await Promise.all(this.servers.filter(isEnabled).map((server) => server.expect()));
  }

  /** Starts every enabled server, side by side. A failure is in that server's status and touches no other. */
  async startAll(): Promise<void> {
    await Promise.all(this.servers.filter(isEnabled).map((server) => server.boot().catch(() => undefined)));
  }

  async shutdownAll(): Promise<void> {
    await Promise.all([...this.#everyone].map((server) => server.stop()));
  }

  /** A client has gone for good: what servers kept for it alone is ended. */
  sessionEnded(session: string): void {
    for (const server of this.#everyone) server.sessionEnded(session);
  }

  get #everyone(): ReadonlySet<ManagedServer> {
    return new Set([...this.#servers.values(), ...this.#standIns.values(), ...this.#leaving]);
  }

  /** What each server offers, for the catalog. */
  listings(): Map<string, ServerListing> {
    const listings = new Map<string, ServerListing>();
    for (const name of this.#servers.keys()) {
      const { listing, isOffered } = this.answering(name);
      if (listing !== undefined) listings.set(name, { listing, available: isOffered });
    }
    return listings;
  }

  /** Starts a config that is not saved, looks what it offers, and leaves nothing running. */
  async test(config: ServerConfig): Promise<TestResult> {
    const silent = { onStatus: () => undefined, onOffer: () => undefined };
    const resilience = { ...config.resilience, restart: false, health_check_ms: 0 as const };
    // What is only tried out leaves no trace.
    const { listings: _, ...world } = this.#world;
    const server = new ManagedServer({ ...config, resilience, enabled: true }, world, silent);
    const startedAt = performance.now();
    const latency = () => Math.round(performance.now() - startedAt);
    try {
      await server.start();
      const { tools = [], resources = [] } = server.listing ?? {};
      const latency_ms = latency();
      return { success: true, message: `Connected: ${tools.length} tools`, tools, resources, latency_ms };
    } catch (thrown) {
      const error = toHubError(thrown);
      const latency_ms = latency();
      return { success: false, message: error.message, tools: [], resources: [], latency_ms, error: error.toJSON() };
    } finally {
      await server.retire(0);
    }
  }

  /**
   * Installs what a server's package is today, and runs it, and whoever shares it, from there. One that does not come up
   * with the new version goes back to the one before.
   */
  async updatePackage(name: string, signal: AbortSignal): Promise<PackageUpdate> {
    const server = this.get(name);
    const { packages } = this.#world;
    const { key, before, after } = await server.renewPackage(signal);
    const update = { from: before?.version, to: after.version };
    if (before?.folder === after.folder) return { ...update, restarted: [] };
    const wereUp = this.servers.filter(({ available }) => available).map((each) => each.name);
    const restarted = await this.#restart(server.name, before);
    const failed = restarted.filter((each) => wereUp.includes(each)).map((each) => this.#servers.get(each)?.status);
    const failure = failed.find((status) => status?.state === "error");
    if (failure?.state === "error" && before !== undefined) {
      await packages?.restore(key, before);
      await this.#restart(server.name, after);
      const { kind, message, detail = message } = failure.error;
      const said = `Version ${after.version} of ${server.name} does not start, ${before.version} is used again`;
      throw new HubError(kind, said, {
        detail,
        hint: `To stay with it, write ${before.manifest.name}@${before.version}`,
      });
    }
    await packages?.tidy(this.servers.map(({ config }) => config));
    return { ...update, restarted };
  }

  /** The server, and all that were started from what it no longer is; those that are stopped take the new one by themselves. */
  async #restart(name: string, left: PackageRecord | undefined): Promise<string[]> {
    const affected = this.servers.filter((each) => {
      const { state } = each.status;
      if (state === "stopped" || state === "disabled") return false;
      return each.name === name || (left !== undefined && basename(each.startedFrom?.folder ?? "") === left.folder);
    });
    await Promise.all(affected.map(({ config }) => this.replace(config, { wanted: () => config.enabled })));
    return affected.map((each) => each.name);
  }

  async #start(fresh: ManagedServer, standIn: ManagedServer | undefined, wanted: () => boolean): Promise<void> {
    await fresh.start().catch(() => undefined);
    // Replaced or removed meanwhile: whoever did that has seen to the stand-in too.
    if (standIn === undefined || !this.#has(fresh)) return;
    this.#standIns.delete(fresh.name);
    if (!fresh.available) this.#observer.onOffer(fresh);
    await this.#retire(standIn);
    const { status } = fresh;
    const mayBeHeld = status.state === "error" && MAY_BE_HELD.has(status.error.kind);
    if (mayBeHeld && wanted() && this.#has(fresh)) await fresh.start().catch(() => undefined);
  }

  async #retire(server: ManagedServer | undefined): Promise<void> {
    if (server === undefined) return;
    const [first, ...others] = [...this.#leaving].filter(({ name }) => name === server.name);
    if (others.length + 1 >= MAX_LEAVING) void first?.stop();
    this.#leaving.add(server);
    await server.retire(this.#drainMs);
    this.#leaving.delete(server);
  }

  #has(server: ManagedServer): boolean {
    return this.#servers.get(server.name) === server;
  }
}

function isEnabled({ status }: ManagedServer): boolean {
  return status.state !== "disabled";
}
