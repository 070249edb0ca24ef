// The one direct connection of a hub to PostgreSQL. It hears what other replicas have changed: a notification only wakes it, and what
// is true are version numbers, which are read every second, too. Its advisory locks say which replicas are alive.

import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { HubError } from "../errors.ts";
import { toClientConfig, type ChangeKind } from "./database.ts";
import { toDatabaseError } from "./failures.ts";
import { describeAddress, type DatabaseAddress } from "./url.ts";

const CHECK_MS = 1000;
/** An answer that takes longer counts as lost. */
const ANSWER_MS = 2000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

interface Watcher {
  readonly isCurrent: (version: number) => boolean;
  readonly onChange: (version: number) => void;
}

export interface ChangesOptions {
  readonly address: DatabaseAddress;
  readonly checkMs?: number;
  /** Off: for tests of what happens when notifications are lost. */
  readonly listens?: boolean;
  readonly onProblem: (problem: string | undefined) => void;
}

export class Changes {
  readonly #options: ChangesOptions;
  readonly #watchers = new Map<Watcher, ChangeKind>();
  /** Locks that are wanted, and those of them that this connection has. */
  readonly #locks = new Set<string>();
  readonly #held = new Set<string>();
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  #running: Promise<void> | undefined;
  /** Ends the pause before the next check. */
  #wake: () => void = () => {};

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Calls `onChange` while the version is not current: until the change is read. Returns how to stop that. */
  watch(kind: ChangeKind, watcher: Watcher): () => void {
    const own = { ...watcher };
    this.#watchers.set(own, kind);
    this.#running ??= this.#run();
    return () => void this.#watchers.delete(own);
  }

  /**
   * Takes an advisory lock as soon as it is free, and again after each reconnection. PostgreSQL releases it when the connection ends,
   * however it ends.
   */
  hold(name: string): void {
    this.#locks.add(name);
    this.#running ??= this.#run();
    this.#wake();
  }

  holds(name: string): boolean {
    return this.#held.has(name);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#stayConnected(() => {
          pauseMs = FIRST_PAUSE_MS;
          this.#options.onProblem(undefined);
        });
      } catch (thrown) {
        const error: HubError = toDatabaseError(thrown, describeAddress(this.#options.address));
        this.#options.onProblem(`${error.message}: ${error.detail}`);
      }
      this.#abandon();
      await sleep(pauseMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined); // closing
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  /** Returns when it is closed; throws when the connection is lost. */
  async #stayConnected(onAnswer: () => void): Promise<void> {
    const { address, checkMs = CHECK_MS, listens = true } = this.#options;
    const client = new pg.Client({ ...toClientConfig(address), query_timeout: ANSWER_MS });
    this.#client = client;
    const lost = new Promise<never>((_, reject) => {
      client.on("error", reject);
      client.on("end", () => reject(new Error("The connection has ended")));
    });
    lost.catch(() => undefined); // also when nobody waits for it
    let isWoken = false;
    client.on("notification", () => {
      isWoken = true;
      this.#wake();
    });
    await client.connect();
    if (listens) await client.query("listen plugboard");
    while (!this.#closing.signal.aborted) {
      isWoken = false;
      await Promise.race([this.#check(client), lost]);
      onAnswer();
      // A lock that is asked for, or a notification that came meanwhile, must not wait.
      if (!isWoken) await Promise.race([this.#pause(checkMs), lost]);
    }
    await client.end();
  }

  async #check(client: pg.Client): Promise<void> {
    for (const name of this.#locks) {
      if (this.#held.has(name)) continue;
      const sql = "select pg_try_advisory_lock(hashtextextended($1, 0)) as taken";
      const { rows: locks } = await client.query<{ taken: boolean }>(sql, [name]);
      if (locks[0]?.taken === true) this.#held.add(name);
    }
    const { rows } = await client.query<{ kind: string; n: string }>("select kind, n from plugboard.version");
    const versions = new Map(rows.map(({ kind, n }) => [kind, Number(n)]));
    for (const [watcher, kind] of this.#watchers) {
      const version = versions.get(kind);
      if (version !== undefined && !watcher.isCurrent(version)) watcher.onChange(version);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The server may not answer, so the socket is closed without a word. */
  #abandon(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#held.clear();
    client?.removeAllListeners("notification");
    void client?.end().catch(() => undefined);
  }
}
