// Whether a server that is started on demand sleeps: not running until somebody calls it, and still offered, since what it
// offers is known. Falls asleep when nobody has used it for a while. Stopping and starting are the server's.

export interface SlumberOptions {
  idleMs(): number;
  /** It runs, and nobody uses it. */
  isIdle(): boolean;
  /** It has fallen asleep. */
  onAsleep(): void;
}

export class Slumber {
  readonly #options: SlumberOptions;
  #isAsleep = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SlumberOptions) {
    this.#options = options;
  }

  get isAsleep(): boolean {
    return this.#isAsleep;
  }

  /** It was never awake: what it offers is known from an earlier run of the hub. */
  begin(): void {
    this.#isAsleep = true;
  }

  /** Somebody has just used it, or it has just started: the time begins anew. */
  whenIdle(): void {
    clearTimeout(this.#timer);
    if (!this.#options.isIdle()) return;
    this.#timer = setTimeout(() => {
      if (!this.#options.isIdle()) return;
      this.#isAsleep = true;
      this.#options.onAsleep();
    }, this.#options.idleMs()).unref();
  }

  /** It is awake, or does not come back by a call. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isAsleep = false;
  }
}
