// When a server's lists are read again: a burst of announcements is answered with one new listing; what comes while that is
// read, with another. Reading, and what follows from it, is the server's.

import { setTimeout as sleep } from "node:timers/promises";

const GATHER_MS = 100;

export interface RelistingOptions {
  /** What is announced during a start may have come too late for its first listing: settled when it is over. */
  started(): Promise<void> | undefined;
  /** Never rejects. */
  read(): Promise<void>;
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
    while (this.#isOutdated) {
      await sleep(GATHER_MS, undefined, { ref: false });
      await this.#options.started();
      this.#isOutdated = false;
      await this.#options.read();
    }
    this.#isUnderWay = false;
  }
}
