// The configured sources, as they come and go: runs them into the store, knows their states, and passes on what is new. Where
// another process on the same home runs them already, this one looks for what that one has stored, and takes over when it ends.

import { sourceNotFound } from "../errors.ts";
import type { Feed } from "../live/feed.ts";
import type { ChatStore } from "../query.ts";
import type { ChatSource, SourceState } from "../source.ts";
import { hearStates, tellStates } from "./told-states.ts";
import { Turn } from "./turn.ts";

export interface SourcesOptions {
  readonly files: { readonly lock: string; readonly states: string };
  readonly store: ChatStore;
  readonly feed: Feed;
  /** For the user, on stderr. */
  readonly log: (line: string) => void;
  readonly now: () => number;
}

export interface ConfiguredSource {
  readonly source: ChatSource;
  /** Chats that agents may write to, by id or exact name; nothing is sent where absent. */
  readonly sendTo?: readonly string[] | undefined;
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

const EXPIRY_MS = 60_000;
const LOOK_MS = 500;

export class Sources {
  readonly #options: SourcesOptions;
  #configured: ReadonlyMap<string, ConfiguredSource>;
  #states: ReadonlyMap<string, SourceState> = new Map();
  readonly #running = new Map<ChatSource, Running>();
  /** Ours to run them. */
  #isOurTurn = false;
  #turn: Turn | undefined;
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

  get(id: string): ConfiguredSource {
    const found = this.#configured.get(id);
    if (found === undefined) throw sourceNotFound(id, this.ids);
    return found;
  }

  state(id: string): SourceState {
    return this.#states.get(id) ?? { status: "connecting" };
  }

  /** They connect in the background. */
  async start(): Promise<void> {
    this.#turn = await Turn.open(this.#options.files.lock);
    if (this.#turn.take()) this.#runAll();
    else this.#follow(this.#turn);
  }

  /** Who is no longer there ends, who is new begins, the others do not notice. One change at a time. */
  async change(configured: readonly ConfiguredSource[]): Promise<void> {
    this.#configured = byId(configured);
    const staying = new Set(configured.map(({ source }) => source));
    // One with the same id begins where the one before has ended.
    await this.#end([...this.#running.keys()].filter((source) => !staying.has(source)));
    this.#states = new Map([...this.#states].filter(([id]) => this.#configured.has(id)));
    if (this.#isOurTurn) this.#beginNew();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isOurTurn = false;
    await this.#end([...this.#running.keys()]);
    await this.#turn?.close();
  }

  #runAll(): void {
    this.#options.feed.follow(false);
    this.#expire();
    this.#timer = setInterval(() => this.#expire(), EXPIRY_MS);
    this.#isOurTurn = true;
    this.#beginNew();
  }

  #beginNew(): void {
    for (const { source } of this.all) {
      if (this.#running.has(source)) continue;
      const stop = new AbortController();
      this.#running.set(source, { stop, ended: this.#run(source, stop.signal) });
    }
    tellStates(this.#options.files.states, this.#states);
  }

  async #end(leaving: readonly ChatSource[]): Promise<void> {
    const running = leaving.flatMap((source) => this.#running.get(source) ?? []);
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ ended }) => ended));
    for (const source of leaving) this.#running.delete(source);
  }

  #follow(turn: Turn): void {
    const { store, feed, files, log } = this.#options;
    feed.follow(true);
    let newest = store.newestKey();
    const look = (): void => {
      this.#states = hearStates(files.states);
      const key = store.newestKey();
      if (key > newest) feed.wake();
      newest = key;
      if (!turn.take()) return;
      clearInterval(this.#timer);
      this.#runAll();
    };
    this.#states = hearStates(files.states);
    this.#timer = setInterval(() => {
      try {
        look();
      } catch (error) {
        log(`warning: ${error instanceof Error ? error.message : String(error)}`);
      }
    }, LOOK_MS);
  }

  async #run(source: ChatSource, signal: AbortSignal): Promise<void> {
    const { store, feed, log, now } = this.#options;
    const write = (level: string) => (message: string) => log(`${level} ${source.id}: ${message}`);
    await source.run({
      sink: async (batch) => feed.publish(store.apply(source.id, batch).news),
      checkpoint: store.checkpoint(source.id),
      onState: (state) => {
        const before = this.#states.get(source.id);
        this.#states = new Map(this.#states).set(source.id, state);
        if (before?.status === state.status) return;
        tellStates(this.#options.files.states, this.#states);
        if ("message" in state) write("warning")(state.message);
      },
      signal,
      log: { info: write("info"), warn: write("warning") },
      now,
    });
  }

  /** What its sender wanted gone by now. */
  #expire(): void {
    try {
      this.#options.store.expire(this.#options.now());
    } catch (error) {
      this.#options.log(`warning: expired messages stay for now: ${error instanceof Error ? error.message : ""}`);
    }
  }
}

function byId(configured: readonly ConfiguredSource[]): ReadonlyMap<string, ConfiguredSource> {
  return new Map(configured.map((entry) => [entry.source.id, entry]));
}
