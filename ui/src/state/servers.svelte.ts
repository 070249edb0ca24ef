// All servers, without their tools, kept up to date by events.

import type { Server } from "$api/server.ts";
import { Problem, api } from "../lib/hub/api.ts";
import { applyStatus, withServer, withoutServer, type CircuitEvent, type StatusEvent } from "../lib/servers/merge.ts";
import { live } from "./live.svelte.ts";

/** Details that no event carries are read again after an event, but not more often than this. */
const DETAILS_MS = 1000;
/** More changed servers than this are read with one request for all. */
const SINGLE_READS = 5;

type Servers = ReadonlyMap<string, Server>;

class ServersStore {
  all: Servers = $state.raw(new Map());
  isLoaded = $state(false);
  problem: Problem | undefined = $state.raw();
  /** Removed by the person, but not yet by the hub. */
  #hidden: ReadonlySet<string> = $state.raw(new Set());
  readonly list = $derived([...this.all.values()].filter(({ config }) => !this.#hidden.has(config.name)));
  #users = 0;
  #stop: (() => void) | undefined;
  #loading: Promise<void> | undefined;
  /** Events that came while the list was read: it may be older than they are. */
  #missed: ((servers: Servers) => Servers)[] = [];
  #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  get isEmpty(): boolean {
    return this.all.size === 0;
  }

  /** By name; ids work too. */
  find(name: string): Server | undefined {
    return this.all.get(name) ?? this.list.find(({ config }) => config.id === name);
  }

  /** Keeps the store up to date while a screen shows it: `$effect(() => servers.use())`. */
  use(): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#stop = this.#follow();
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.#stop?.();
    };
  }

  load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** After a change that this page made itself: no need to wait for the event. */
  put(server: Server): void {
    this.#change((servers) => withServer(servers, server));
  }

  remove(name: string): void {
    this.#change((servers) => withoutServer(servers, name));
  }

  hide(name: string): void {
    this.#hidden = new Set([...this.#hidden, name]);
  }

  unhide(name: string): void {
    this.#hidden = new Set([...this.#hidden].filter((each) => each !== name));
  }

  /** One server again, with all its details. */
  async read(name: string): Promise<void> {
    try {
      this.put(await api.get<Server>(`/servers/${encodeURIComponent(name)}?view=summary`));
    } catch (error) {
      // Removed meanwhile, or the hub is away: the list says so.
      if (!(error instanceof Problem)) throw error;
    }
  }

  #follow(): () => void {
    // Events first, then the list: nothing falls in between.
    const offs = [
      live.on<StatusEvent>("server.status", (event) => {
        this.#change((servers) => applyStatus(servers, event));
        this.#readSoon(event.server);
      }),
      live.on<CircuitEvent>("server.circuit", ({ server }) => this.#readSoon(server)),
      live.on<{ server: string }>("server.tools", ({ server }) => this.#readSoon(server)),
      live.on("config.reloaded", () => void this.load()),
      live.onFresh(() => void this.load()),
    ];
    void this.load();
    return () => {
      for (const off of offs) off();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#changed.clear();
    };
  }

  #change(apply: (servers: Servers) => Servers): void {
    this.all = apply(this.all);
    if (this.#loading !== undefined) this.#missed.push(apply);
  }

  async #read(): Promise<void> {
    try {
      const list = await api.get<Server[]>("/servers?view=summary");
      const fresh: Servers = new Map(list.map((server) => [server.config.name, server]));
      this.all = this.#missed.reduce((servers, apply) => apply(servers), fresh);
      this.isLoaded = true;
      this.problem = undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    } finally {
      this.#missed = [];
    }
  }

  #readSoon(server: string): void {
    this.#changed.add(server);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // One that has been removed meanwhile has no details.
      const names = [...this.#changed].filter((name) => this.all.has(name));
      this.#changed.clear();
      void this.#readDetails(names);
    }, DETAILS_MS);
  }

  async #readDetails(names: readonly string[]): Promise<void> {
    if (names.length > SINGLE_READS) return this.load();
    await Promise.all(names.map((name) => this.read(name)));
  }
}

export const servers = new ServersStore();
