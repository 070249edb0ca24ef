// The queue of installs: a few run at a time, since npm keeps a core busy and thirty of them at once finish none in time.
// Which package is installed, and how, is packages.ts's.

import { availableParallelism } from "node:os";
import { Slots } from "../slots.ts";

/** Where an install stands among those that were asked for together. */
export interface QueuePlace {
  /** Beginning with 1, in the order in which they are installed. */
  readonly position: number;
  readonly total: number;
}

interface Entry {
  readonly key: string;
  readonly position: number;
  isUnderWay: boolean;
}

/** Called with where the install of a key stands, whenever that changes. */
type Watcher = (stage: "queued" | "installing") => void;

const MIN_AT_ONCE = 2;
const MAX_AT_ONCE = 4;
/** After so long an install no longer keeps others waiting (LC-7): it compiles something, or hangs. */
const HEAVY_MS = 60_000;
/** Whoever waits has a signal of its own; Node's timers want a number. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export interface InstallQueueOptions {
  readonly atOnce?: number;
  readonly heavyMs?: number;
}

export class InstallQueue {
  readonly #slots: Slots;
  readonly #heavyMs: number;
  readonly #entries = new Set<Entry>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** Since the queue was last empty. */
  #total = 0;

  constructor({ atOnce = defaultAtOnce(), heavyMs = HEAVY_MS }: InstallQueueOptions = {}) {
    this.#slots = new Slots("The install queue", () => ({ max: atOnce, maxWaiting: Infinity }));
    this.#heavyMs = heavyMs;
  }

  /** Runs the work when it is its turn. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const entry: Entry = { key, position: ++this.#total, isUnderWay: false };
    this.#entries.add(entry);
    try {
      const turn = this.#slots.take({ signal, limitMs: NO_LIMIT_MS });
      if (turn !== undefined) {
        this.#tell(entry);
        await turn;
      }
      return await this.#runNow(entry, work);
    } finally {
      this.#entries.delete(entry);
      if (this.#entries.size === 0) this.#total = 0;
    }
  }

  /** Undefined where nothing of the key is queued or under way. */
  placeOf(key: string): QueuePlace | undefined {
    const entry = this.#find(key);
    return entry === undefined ? undefined : { position: entry.position, total: this.#total };
  }

  /** Tells how the install of a key stands now and from now on, until the function that comes back is called. */
  watch(key: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(key) ?? new Set<Watcher>();
    this.#watchers.set(key, watchers.add(watcher));
    const entry = this.#find(key);
    if (entry !== undefined) watcher(stageOf(entry));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(key);
    };
  }

  async #runNow<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    let isHeld = true;
    const release = () => {
      clearTimeout(timer);
      if (isHeld) this.#slots.give();
      isHeld = false;
    };
    const timer = setTimeout(release, this.#heavyMs).unref();
    entry.isUnderWay = true;
    this.#tell(entry);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #find(key: string): Entry | undefined {
    return [...this.#entries].find((entry) => entry.key === key);
  }

  #tell(entry: Entry): void {
    for (const watcher of this.#watchers.get(entry.key) ?? []) watcher(stageOf(entry));
  }
}

function stageOf({ isUnderWay }: Entry): "queued" | "installing" {
  return isUnderWay ? "installing" : "queued";
}

function defaultAtOnce(): number {
  return Math.min(MAX_AT_ONCE, Math.max(MIN_AT_ONCE, availableParallelism()));
}
