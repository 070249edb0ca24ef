// Watches a folder for changed files.

import { watch, type FSWatcher } from "node:fs";
import { mkdir } from "node:fs/promises";

/** Debounce, because editors save in several steps: temp file, rename, chmod. */
const DEBOUNCE_MS = 150;
/** Upper bound of the debounce when saves never pause. */
const MAX_WAIT_MS = 2000;

export class FolderWatch {
  readonly #onChange: () => void;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the first event that was not reported yet. */
  #firstEventAt: number | undefined;

  private constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches the folder, not the files: a watch on a file does not survive a save by rename. */
  static async open(folder: string, isWatched: (name: string) => boolean, onChange: () => void): Promise<FolderWatch> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const self = new FolderWatch(onChange);
    self.#watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || isWatched(name)) self.#schedule();
    });
    // The folder was removed: stop watching and keep what was read.
    self.#watcher.on("error", () => self.close());
    return self;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #schedule(): void {
    const now = performance.now();
    this.#firstEventAt ??= now;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#firstEventAt = undefined;
        this.#onChange();
      },
      Math.max(0, Math.min(DEBOUNCE_MS, this.#firstEventAt + MAX_WAIT_MS - now)),
    );
  }
}
