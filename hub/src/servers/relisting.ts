// When a server's lists are read again: a burst of announcements is answered with one new listing; what comes while that is
// read, with another; a listing that fails is tried again. Reading, and what follows from it, is the server's.

import { setTimeout as sleep } from "node:timers/promises";

/** Doubles while the announcements do not stop, up to the longest. */
const GATHER_MS = 100;
const MAX_GATHER_MS = 10_000;
/** After one failure, two, and so on. */
const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000, 60_000] as const;

export interface RelistingOptions {
  /** What is announced during a start may have come too late for its first listing: settled when it is over. */
  started(): Promise<void> | undefined;
  /** Never rejects; false where it failed and may succeed later. */
  read(): Promise<boolean>;
}

export class Relisting {
  readonly #options: RelistingOptions;
  #isOutdated = false;
  #isUnderWay = false;

  constructor(options: RelistingOptions) {
    this.#options = options;
  }

  /** The server says that one of its lists changed. */
  announced(): void {
    this.#isOutdated = true;
    if (!this.#isUnderWay) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isUnderWay = true;
    let failures = 0;
    let gatherMs = GATHER_MS;
    while (this.#isOutdated || failures > 0) {
      await sleep(RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? gatherMs, undefined, { ref: false });
      gatherMs = Math.min(MAX_GATHER_MS, gatherMs * 2);
      await this.#options.started();
      this.#isOutdated = false;
      failures = (await this.#options.read()) ? 0 : failures + 1;
    }
    this.#isUnderWay = false;
  }
}
