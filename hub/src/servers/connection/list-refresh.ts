// Debounces the refresh of a server's lists: one reading for a burst of announcements, another one for those that arrive during
// it, and a retry with backoff after a failure.

import { setTimeout as sleep } from "node:timers/promises";

/** Doubles while announcements keep coming, up to the maximum. */
const DEBOUNCE_MS = 100;
const MAX_DEBOUNCE_MS = 10_000;
/** After the first failure, the second, and so on. */
const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000, 60_000] as const;

export interface ListRefreshOptions {
  /** The start in progress: an announcement during a start may be too late for the first reading. */
  started(): Promise<void> | undefined;
  /** Never rejects. False: it failed and may succeed later. */
  read(): Promise<boolean>;
}

export class ListRefresh {
  readonly #options: ListRefreshOptions;
  #isOutdated = false;
  #isRunning = false;

  constructor(options: ListRefreshOptions) {
    this.#options = options;
  }

  request(): void {
    this.#isOutdated = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let failures = 0;
    let debounceMs = DEBOUNCE_MS;
    while (this.#isOutdated || failures > 0) {
      await sleep(RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? debounceMs, undefined, { ref: false });
      debounceMs = Math.min(MAX_DEBOUNCE_MS, debounceMs * 2);
      await this.#options.started();
      this.#isOutdated = false;
      failures = (await this.#options.read()) ? 0 : failures + 1;
    }
    this.#isRunning = false;
  }
}
