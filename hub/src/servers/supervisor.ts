// The set of managed servers: who is there, starting and stopping them side by side, and trying one out unsaved.

import type { ServerListing } from "../catalog/listing.ts";
import type { ServerConfig } from "../config/types.ts";
import { HubError, toHubError, type ErrorBody } from "../errors.ts";
import type { JsonObject } from "../wire/json.ts";
import { ManagedServer, type ServerObserver, type ServerWorld } from "./server.ts";

/** What a trial of an unsaved config found. The shape is the management API's. */
export interface TestResult {
  readonly success: boolean;
  readonly message: string;
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly latency_ms: number;
  readonly error?: ErrorBody;
}

export class Supervisor {
  readonly #world: ServerWorld;
  readonly #observer: ServerObserver;
  readonly #servers = new Map<string, ManagedServer>();

  constructor(world: ServerWorld, observer: ServerObserver) {
    this.#world = world;
    this.#observer = observer;
  }

  get servers(): ManagedServer[] {
    return [...this.#servers.values()];
  }

  get(name: string): ManagedServer {
    const server = this.#servers.get(name) ?? this.servers.find(({ config }) => config.id === name);
    if (server !== undefined) return server;
    const known = [...this.#servers.keys()].join(", ") || "none";
    throw new HubError("ServerNotFound", `There is no server "${name}"`, { hint: `Configured servers: ${known}` });
  }

  add(config: ServerConfig): ManagedServer {
    const server = new ManagedServer(config, this.#world, this.#observer);
    this.#servers.set(config.name, server);
    return server;
  }

  /** Puts a new server in the place of the one of the same name, which is stopped first. */
  async replace(config: ServerConfig): Promise<ManagedServer> {
    const old = this.get(config.name);
    const server = this.add(config);
    await old.stop();
    old.forget();
    return server;
  }

  async remove(name: string): Promise<void> {
    const server = this.get(name);
    this.#servers.delete(server.name);
    await server.stop();
    server.forget();
  }

  /** Starts every enabled server, side by side. A failure is in that server's status and touches no other. */
  async startAll(): Promise<void> {
    const enabled = this.servers.filter(({ status }) => status.state !== "disabled");
    await Promise.all(enabled.map((server) => server.start().catch(() => undefined)));
  }

  async shutdownAll(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  /** What each server offers, for the catalog. */
  listings(): Map<string, ServerListing> {
    const listings = new Map<string, ServerListing>();
    for (const { name, listing, available } of this.servers) {
      if (listing !== undefined) listings.set(name, { listing, available });
    }
    return listings;
  }

  /** Starts a config that is not saved, looks what it offers, and leaves nothing running. */
  async test(config: ServerConfig): Promise<TestResult> {
    const silent = { onStatus: () => undefined, onOffer: () => undefined };
    const server = new ManagedServer({ ...config, enabled: true }, this.#world, silent);
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
      await server.stop();
      server.forget();
    }
  }
}
