// The queue of installs. A few run at a time: npm keeps a core busy, and thirty at once would all exceed their time limit.

import { availableParallelism } from "node:os";
import { Semaphore } from "../../lib/semaphore.ts";

/** The position of an install since the queue was last empty. */
export interface QueuePosition {
  /** From 1. */
  readonly position: number;
  readonly total: number;
}

interface Entry {
  readonly key: string;
  readonly position: number;
  isRunning: boolean;
}

/** Called whenever the stage of an install changes. */
type Watcher = (stage: "queued" | "installing") => void;

const MIN_AT_ONCE = 2;
const MAX_AT_ONCE = 4;
/** After this time an install frees its slot (LC-7): it compiles something, or hangs. */
const SLOW_MS = 60_000;
/** Callers cancel by their signal. This is the maximum of Node's timers. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export interface InstallQueueOptions {
  readonly atOnce?: number;
  readonly slowMs?: number;
}

export class InstallQueue {
  readonly #semaphore: Semaphore;
  readonly #slowMs: number;
  readonly #entries = new Set<Entry>();
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** Since the queue was last empty. */
  #total = 0;

  constructor({ atOnce = defaultAtOnce(), slowMs = SLOW_MS }: InstallQueueOptions = {}) {
    this.#semaphore = new Semaphore("The install queue", () => ({ max: atOnce, maxWaiting: Infinity }));
    this.#slowMs = slowMs;
  }

  /** Runs the work when a slot is free. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const entry: Entry = { key, position: ++this.#total, isRunning: false };
    this.#entries.add(entry);
    try {
      const slot = this.#semaphore.acquire({ signal, limitMs: NO_LIMIT_MS });
      if (slot !== undefined) {
        this.#notify(entry);
        await slot;
      }
      return await this.#runNow(entry, work);
    } finally {
      this.#entries.delete(entry);
      if (this.#entries.size === 0) this.#total = 0;
    }
  }

  /** Undefined if no install of the key is queued or running. */
  positionOf(key: string): QueuePosition | undefined {
    const entry = this.#find(key);
    return entry === undefined ? undefined : { position: entry.position, total: this.#total };
  }

  /** Reports the stage of an install now and on every change, until the returned function is called. */
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
      if (isHeld) this.#semaphore.release();
      isHeld = false;
    };
    const timer = setTimeout(release, this.#slowMs).unref();
    entry.isRunning = true;
    this.#notify(entry);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #find(key: string): Entry | undefined {
    return [...this.#entries].find((entry) => entry.key === key);
  }

  #notify(entry: Entry): void {
    for (const watcher of this.#watchers.get(entry.key) ?? []) watcher(stageOf(entry));
  }
}

function stageOf({ isRunning }: Entry): "queued" | "installing" {
  return isRunning ? "installing" : "queued";
}

function defaultAtOnce(): number {
  return Math.min(MAX_AT_ONCE, Math.max(MIN_AT_ONCE, availableParallelism()));
}
