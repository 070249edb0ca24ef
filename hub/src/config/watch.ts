// Notices when somebody saves a file of the config folder. What the files then say is for others to read.

import { watch, type FSWatcher } from "node:fs";
import { mkdir } from "node:fs/promises";

/** Editors save in several steps (a temp file, a rename, a chmod); they are one change. */
const CALM_MS = 150;
/** Where somebody saves without a pause, what stands there is looked at this often all the same. */
const MAX_WAIT_MS = 2000;

export class FolderWatch {
  readonly #onChange: () => void;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the first save was noticed that nobody was told of yet. */
  #noticedAt: number | undefined;

  private constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches the folder, not the files: a save by rename would leave a watched file behind. */
  static async open(folder: string, names: readonly string[], onChange: () => void): Promise<FolderWatch> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const self = new FolderWatch(onChange);
    self.#watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || names.includes(name)) self.#schedule();
    });
    // The folder itself went away: there is nothing to notice any more, and the config in force stays.
    self.#watcher.on("error", () => self.close());
    return self;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  #schedule(): void {
    const now = performance.now();
    this.#noticedAt ??= now;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#noticedAt = undefined;
        this.#onChange();
      },
      Math.max(0, Math.min(CALM_MS, this.#noticedAt + MAX_WAIT_MS - now)),
    );
  }
}
