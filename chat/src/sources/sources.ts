// Runs the configured sources into the store, tracks their states and publishes new messages. If another process on the same
// home runs them, polls the store for its changes and takes over when it ends.

import type { SendRules } from "../config/schema.ts";
import { sourceNotFound } from "../errors.ts";
import type { Feed } from "../live/feed.ts";
import type { ChatStore } from "../model/store-port.ts";
import type { ChatSource, SourceState } from "../model/source.ts";
import { readSharedStates, writeSharedStates } from "./shared-states.ts";
import { LeaderLock } from "./leader-lock.ts";

export interface SourcesOptions {
  readonly files: { readonly lock: string; readonly states: string };
  readonly store: ChatStore;
  readonly feed: Feed;
  /** Writes to stderr. */
  readonly log: (line: string) => void;
  readonly now: () => number;
}

export interface ConfiguredSource {
  readonly source: ChatSource;
  /** Absent: sending is not allowed. */
  readonly send?: SendRules | undefined;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

const EXPIRY_MS = 60_000;
const POLL_MS = 500;

/** The sources as one client sees them. */
export type SourceView = Pick<Sources, "ids" | "all" | "get" | "state">;

export class Sources {
  readonly #options: SourcesOptions;
  #configured: ReadonlyMap<string, ConfiguredSource>;
  #states: ReadonlyMap<string, SourceState> = new Map();
  readonly #running = new Map<ChatSource, Running>();
  /** Whether this process runs the sources. */
  #isLeader = false;
  #lock: LeaderLock | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(configured: readonly ConfiguredSource[], options: SourcesOptions) {
    this.#configured = byId(configured);
    this.#options = options;
  }

  get ids(): readonly string[] {
    return [...this.#configured.keys()];
  }

  get all(): readonly ConfiguredSource[] {
    return [...this.#configured.values()];
  }

  /** Whether this process runs the sources, not another one on the same home. */
  get isRunning(): boolean {
    return this.#isLeader;
  }

  /** Ids are case-insensitive. */
  get(id: string): ConfiguredSource {
    const found = this.#configured.get(id) ?? this.#configured.get(this.#idLike(id) ?? "");
    if (found === undefined) throw sourceNotFound(id, this.ids);
    return found;
  }

  /** Undefined if ambiguous. */
  #idLike(id: string): string | undefined {
    const [only, ...others] = this.ids.filter((known) => known.toLowerCase() === id.toLowerCase());
    return others.length === 0 ? only : undefined;
  }

  state(id: string): SourceState {
    return this.#states.get(id) ?? { status: "connecting" };
  }

  /** Connecting happens in the background. */
  async start(): Promise<void> {
    this.#lock = await LeaderLock.open(this.#options.files.lock);
    if (this.#lock.acquire()) this.#lead();
    else this.#follow(this.#lock);
  }

  /** Stops removed sources, starts new ones and leaves the others alone. Must not run concurrently. */
  async change(configured: readonly ConfiguredSource[]): Promise<void> {
    this.#configured = byId(configured);
    const staying = new Set(configured.map(({ source }) => source));
    // Wait, since a new source with the same id continues from the checkpoint of the old one.
    await this.#stopRunning([...this.#running.keys()].filter((source) => !staying.has(source)));
    this.#states = new Map([...this.#states].filter(([id]) => this.#configured.has(id)));
    if (this.#isLeader) this.#startNew();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isLeader = false;
    await this.#stopRunning([...this.#running.keys()]);
    await this.#lock?.close();
  }

  #lead(): void {
    this.#options.feed.setFollower(false);
    this.#expire();
    this.#timer = setInterval(() => this.#expire(), EXPIRY_MS);
    this.#isLeader = true;
    this.#startNew();
  }

  #startNew(): void {
    for (const { source } of this.all) {
      if (this.#running.has(source)) continue;
      const stop = new AbortController();
      this.#running.set(source, { stop, ended: this.#run(source, stop.signal) });
    }
    writeSharedStates(this.#options.files.states, this.#states);
  }

  async #stopRunning(leaving: readonly ChatSource[]): Promise<void> {
    const running = leaving.flatMap((source) => this.#running.get(source) ?? []);
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ ended }) => ended));
    for (const source of leaving) this.#running.delete(source);
  }

  #follow(lock: LeaderLock): void {
    const { store, feed, files, log } = this.#options;
    feed.setFollower(true);
    let newest = store.newestKey();
    const poll = (): void => {
      this.#states = readSharedStates(files.states);
      const key = store.newestKey();
      if (key > newest) feed.wake();
      newest = key;
      if (!lock.acquire()) return;
      clearInterval(this.#timer);
      this.#lead();
    };
    this.#states = readSharedStates(files.states);
    this.#timer = setInterval(() => {
      try {
        poll();
      } catch (error) {
        log(`warning: ${error instanceof Error ? error.message : String(error)}`);
      }
    }, POLL_MS);
  }

  async #run(source: ChatSource, signal: AbortSignal): Promise<void> {
    const { store, feed, log, now } = this.#options;
    const write = (level: string) => (message: string) => log(`${level} ${source.id}: ${message}`);
    await source.run({
      sink: async (batch) => feed.publish(store.apply(source.id, batch).liveKeys),
      checkpoint: store.checkpoint(source.id),
      onState: (state) => {
        const before = this.#states.get(source.id);
        this.#states = new Map(this.#states).set(source.id, state);
        if (before?.status === state.status) return;
        writeSharedStates(this.#options.files.states, this.#states);
        if ("message" in state) write("warning")(state.message);
      },
      signal,
      log: { info: write("info"), warn: write("warning") },
      now,
    });
  }

  /** Deletes messages past their expiry. */
  #expire(): void {
    try {
      this.#options.store.expire(this.#options.now());
    } catch (error) {
      this.#options.log(`warning: expired messages were not deleted: ${error instanceof Error ? error.message : ""}`);
    }
  }
}

function byId(configured: readonly ConfiguredSource[]): ReadonlyMap<string, ConfiguredSource> {
  return new Map(configured.map((entry) => [entry.source.id, entry]));
}
