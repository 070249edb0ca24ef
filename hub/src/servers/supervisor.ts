// All managed servers: starts and stops them in parallel, replaces a server while calls run, and tests an unsaved config.

import { basename } from "node:path";
import { diffTools, type ToolDifference } from "../catalog/tool-diff.ts";
import type { ServerListing } from "../catalog/listing.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { HubError, toHubError, type ErrorBody, type ErrorKind } from "../errors.ts";
import type { Era } from "../protocol/revisions/era.ts";
import type { JsonObject } from "../lib/json/json.ts";
import type { PackageRecord } from "./npm/install-record.ts";
import { Companions } from "./companions.ts";
import { WatchBudget } from "./connection/upstream-subscriptions.ts";
import { ManagedServer, type ServerObserver } from "./server.ts";
import type { ServerContext } from "./context.ts";
import { withPackagesAside } from "./npm/aside.ts";
import type { RenewTo } from "./npm/packages.ts";
import { ServerSubscriptions } from "./server-subscriptions.ts";
import type { Status } from "./status.ts";

/** The result of testing an unsaved config, in the form of the management API. */
export interface TestResult {
  readonly success: boolean;
  readonly message: string;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly latency_ms: number;
  readonly error?: ErrorBody;
}

export interface TestOptions {
  readonly onStatus?: (status: Status) => void;
  /** A line of its log. */
  readonly onLog?: (text: string) => void;
  /** Ends the test early. */
  readonly signal?: AbortSignal;
}

/** The result of a package update. */
export interface PackageUpdate {
  /** Undefined if no version was installed. */
  readonly from: string | undefined;
  readonly to: string;
  /** The servers that were restarted. */
  readonly restarted: readonly string[];
}

export interface UpdatePreview {
  readonly from: string | undefined;
  readonly to: string;
  /** How its tools would change. Compared with no tools if the server has not run yet. */
  readonly differences: readonly ToolDifference[];
}

/** For the open calls of a replaced or removed server. */
const DRAIN_MS = 10_000;
/** Per name, since each is a process: the oldest is stopped at once. */
const MAX_RETIRING = 4;
/** The failures of a server whose predecessor still holds a port or a lock. */
const MAY_BE_HELD: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["ProcessSpawnFailed", "Timeout"]);

export class Supervisor {
  readonly companions: Companions;
  readonly #context: ServerContext;
  readonly #observer: ServerObserver;
  /** Filters events: none of a replaced server, and only the end of a removed one. */
  readonly #filtered: ServerObserver;
  readonly #drainMs: number;
  /** By name: the servers of the config. */
  readonly #servers = new Map<string, ManagedServer>();
  /** By name: replaced servers that answer until the new one runs. */
  readonly #standIns = new Map<string, ManagedServer>();
  /** By name: resource subscriptions, which outlive the replacement of a server. */
  readonly #subscriptions = new Map<string, ServerSubscriptions>();
  readonly #subscriptionBudget = new WatchBudget();
  /** Servers that finish their open calls before they are stopped. */
  readonly #retiring = new Set<ManagedServer>();

  constructor(context: ServerContext, observer: ServerObserver, { drainMs = DRAIN_MS }: { drainMs?: number } = {}) {
    this.companions = new Companions(context);
    this.#context = context;
    this.#observer = observer;
    this.#filtered = {
      ...observer,
      onStatus: (server) => {
        const isRemoved = server.status.state === "stopped" && !this.#servers.has(server.name);
        if (isRemoved || this.#has(server)) observer.onStatus(server);
      },
      onWarning: (server, message) => this.#has(server) && observer.onWarning?.(server, message),
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
    // As the file spells it, if that is unambiguous.
    const [spelled, another] = this.servers.filter(({ config }) => config.writtenAs === name);
    if (spelled !== undefined && another === undefined) return spelled;
    const hint = didYouMean(name, [...this.#servers.keys()], "Servers");
    throw new HubError("ServerNotFound", `There is no server "${name}"`, { hint });
  }

  /** The server that gets the calls: while a changed server starts, its predecessor. */
  answering(name: string): ManagedServer {
    const server = this.get(name);
    if (server.isOffered) return server;
    const standIn = this.#standIns.get(server.name);
    return standIn?.isOffered === true ? standIn : server;
  }

  /** Undefined while no server of this name is connected. */
  eraOf(name: string): Era | undefined {
    return this.has(name) ? this.answering(name).info?.era : undefined;
  }

  add(config: ServerConfig): ManagedServer {
    const subscriptions = this.#subscriptions.get(config.name) ?? new ServerSubscriptions(this.#subscriptionBudget);
    this.#subscriptions.set(config.name, subscriptions);
    const server = new ManagedServer(config, this.#context, this.#filtered, subscriptions);
    this.#servers.set(config.name, server);
    return server;
  }

  /**
   * Replaces the server of the same name. The old one answers until the new one runs, then finishes its open calls and is
   * stopped. `wanted` is checked before each start. Never rejects: the status has the result.
   */
  async replace(config: ServerConfig, { wanted }: { wanted: () => boolean }): Promise<void> {
    const old = this.get(config.name);
    const before = this.#standIns.get(config.name);
    const standIn = wanted() ? [old, before].find((server) => server?.available) : undefined;
    if (standIn === undefined) this.#standIns.delete(config.name);
    else this.#standIns.set(config.name, standIn);
    const replacement = this.add(config);
    if (old.logLevel !== undefined) void replacement.setLogLevel(old.logLevel);
    const others = [old, before].filter((server) => server !== standIn);
    const left = Promise.all(others.map((server) => this.#retire(server)));
    // If no predecessor can answer in the meantime, running both has no advantage.
    if (standIn === undefined) await left;
    if (wanted() && this.#has(replacement)) await this.#start(replacement, standIn, wanted);
    await left;
  }

  /** Removes it at once. Resolves when its open calls are finished and nothing of it is left. */
  async remove(name: string): Promise<void> {
    const server = this.get(name);
    const standIn = this.#standIns.get(server.name);
    this.#servers.delete(server.name);
    this.#standIns.delete(server.name);
    this.#subscriptions.delete(server.name);
    await Promise.all([server, standIn].map((each) => this.#retire(each)));
  }

  /** Offers the cached listings of all enabled servers. Called before startAll(). */
  async offerCached(): Promise<void> {
    await Promise.all(this.servers.filter(isEnabled).map((server) => server.offerCached()));
  }

  /** Starts every enabled server, in parallel. A failure is in the status of its server only. */
  async startAll(): Promise<void> {
    await Promise.all(this.servers.filter(isEnabled).map((server) => server.boot().catch(() => undefined)));
  }

  async shutdownAll(): Promise<void> {
    await Promise.all([this.companions.closeAll(), ...[...this.#all].map((server) => server.stop())]);
  }

  /** The credentials of a principal at a server have changed or ended: nothing that uses the old ones stays open. */
  endInstancesOf(principal: string, name: string): void {
    for (const server of this.#all) if (server.name === name) server.endInstancesOf(principal);
  }

  /** A client's session has ended for good: its instances are ended. */
  sessionEnded(session: string): void {
    for (const server of this.#all) server.sessionEnded(session);
  }

  get #all(): ReadonlySet<ManagedServer> {
    return new Set([...this.#servers.values(), ...this.#standIns.values(), ...this.#retiring]);
  }

  /** The listings for the catalog. */
  listings(): Map<string, ServerListing> {
    const listings = new Map<string, ServerListing>();
    const { approvals } = this.#context;
    for (const [name, { config }] of this.#servers) {
      const { listing, isOffered } = this.answering(name);
      if (listing === undefined) continue;
      const withheld = approvals?.withheld(config, listing.tools);
      listings.set(name, { listing, available: isOffered, ...(withheld === undefined ? {} : { withheld }) });
    }
    return listings;
  }

  /** Starts an unsaved config, reads its lists, and stops it again. */
  async test(config: ServerConfig, options: TestOptions = {}): Promise<TestResult> {
    const { signal } = options;
    const server = this.#toTry(config, options);
    const startedAt = performance.now();
    const latency = () => Math.round(performance.now() - startedAt);
    const cancel = () => void server.stop();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      signal?.throwIfAborted();
      await server.start();
      const { tools = [], resources = [] } = server.listing ?? {};
      const latency_ms = latency();
      return { success: true, message: `Connected: ${tools.length} tools`, tools, resources, latency_ms };
    } catch (thrown) {
      const error = toHubError(thrown);
      const latency_ms = latency();
      return { success: false, message: error.message, tools: [], resources: [], latency_ms, error: error.toJSON() };
    } finally {
      signal?.removeEventListener("abort", cancel);
      await server.retire(0);
    }
  }

  /** A server that is no part of this one's, for a while. */
  #toTry(config: ServerConfig, { onStatus, onLog }: TestOptions, more: Partial<ServerContext> = {}): ManagedServer {
    const observer: ServerObserver = {
      onStatus: ({ status }) => onStatus?.(status),
      onOffer: () => undefined,
      onLog: (_server, { text }) => onLog?.(text),
    };
    const resilience = { ...config.resilience, restart: false, health_check_ms: 0 as const };
    const { authorizationFor } = this.#context;
    // A test writes no cache, pins no tools, and changes no login of the server that it is a new version of. Whoever asks for it has
    // seen what it runs.
    const {
      listings: _,
      approvals: __,
      ...context
    } = {
      ...this.#context,
      ...(authorizationFor && {
        authorizationFor: (each: ServerConfig, url: URL, own: object = {}) =>
          authorizationFor(each, url, { ...own, isTrial: true }),
      }),
    };
    return new ManagedServer({ ...config, resilience, enabled: true }, { ...context, ...more }, observer);
  }

  /** What the newest allowed version of a server's package offers. It is installed and started aside, and nothing of it is left. */
  async previewUpdate(name: string, signal: AbortSignal): Promise<UpdatePreview> {
    const { config, listing } = this.get(name);
    const { packages } = this.#context;
    if (packages === undefined) {
      throw new HubError("InvalidArgument", "This hub has no folder to install packages into");
    }
    const from = packages.find(config)?.version;
    return withPackagesAside(packages.options, async (aside) => {
      const server = this.#toTry(config, {}, { packages: aside });
      const cancel = () => void server.stop();
      try {
        const { after } = await server.renewPackage(signal);
        if (after.version === from) return { from, to: after.version, differences: [] };
        signal.addEventListener("abort", cancel, { once: true });
        signal.throwIfAborted();
        await server.start();
        const differences = diffTools(listing?.tools ?? [], server.listing?.tools ?? []);
        return { from, to: after.version, differences };
      } finally {
        signal.removeEventListener("abort", cancel);
        await server.retire(0);
      }
    });
  }

  /**
   * Installs the newest allowed version of a server's package, or the one before the last update, and restarts all servers that share it. Rolls back if one of
   * them does not start with the new version.
   */
  async updatePackage(name: string, signal: AbortSignal, to: RenewTo = "newest"): Promise<PackageUpdate> {
    const server = this.get(name);
    const { packages } = this.#context;
    const { key, before, after } = await server.renewPackage(signal, to);
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
      const summary = `Version ${after.version} of ${server.name} does not start; using ${before.version} again`;
      throw new HubError(kind, summary, {
        detail,
        hint: `To pin it, use ${before.manifest.name}@${before.version}`,
      });
    }
    await packages?.prune(this.servers.map(({ config }) => config));
    return { ...update, restarted };
  }

  /** Restarts the server and all others that run the old version; stopped ones use the new version at their next start. */
  async #restart(name: string, left: PackageRecord | undefined): Promise<string[]> {
    const affected = this.servers.filter((each) => {
      const { state } = each.status;
      if (state === "stopped" || state === "disabled") return false;
      return each.name === name || (left !== undefined && basename(each.startedFrom?.folder ?? "") === left.folder);
    });
    await Promise.all(affected.map(({ config }) => this.replace(config, { wanted: () => config.enabled })));
    return affected.map((each) => each.name);
  }

  async #start(replacement: ManagedServer, standIn: ManagedServer | undefined, wanted: () => boolean): Promise<void> {
    await replacement.start().catch(() => undefined);
    // Replaced or removed in the meantime, together with the stand-in.
    if (standIn === undefined || !this.#has(replacement)) return;
    this.#standIns.delete(replacement.name);
    if (!replacement.available) this.#observer.onOffer(replacement);
    await this.#retire(standIn);
    const { status } = replacement;
    const mayBeHeld = status.state === "error" && MAY_BE_HELD.has(status.error.kind);
    if (mayBeHeld && wanted() && this.#has(replacement)) await replacement.start().catch(() => undefined);
  }

  async #retire(server: ManagedServer | undefined): Promise<void> {
    if (server === undefined) return;
    const [first, ...others] = [...this.#retiring].filter(({ name }) => name === server.name);
    if (others.length + 1 >= MAX_RETIRING) void first?.stop();
    this.#retiring.add(server);
    await server.retire(this.#drainMs);
    this.#retiring.delete(server);
  }

  #has(server: ManagedServer): boolean {
    return this.#servers.get(server.name) === server;
  }
}

function isEnabled({ status }: ManagedServer): boolean {
  return status.state !== "disabled";
}
