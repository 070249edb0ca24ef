// Brings what was committed to the disk, a second later at most, off the event loop. SQLite in its NORMAL mode does it
// only when it folds the log into the database, which on a quiet hub can be days later.

import { open } from "node:fs/promises";
import { errorCode } from "../atomic.ts";

/** What a loss of power can cost at most, besides what the disk itself loses. */
const DELAY_MS = 1000;

export class WalSync {
  readonly #path: string;
  readonly #onMissing: () => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `onMissing` is told where somebody has removed the files under our hands. */
  constructor(databasePath: string, onMissing: () => void) {
    this.#path = `${databasePath}-wal`;
    this.#onMissing = onMissing;
  }

  /** Something was committed. */
  touch(): void {
    this.#timer ??= setTimeout(() => void this.#sync(), DELAY_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #sync(): Promise<void> {
    this.#timer = undefined;
    try {
      // SQLite keeps no lock on this file, so closing it again drops none.
      const file = await open(this.#path, "r+");
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      // Any other failure is SQLite's to report when it syncs by itself.
      if (errorCode(error) === "ENOENT" && !this.#closed) this.#onMissing();
    }
  }
}
