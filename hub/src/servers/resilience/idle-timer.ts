// Calls back when a server that is started on demand has been idle for a while.

export interface IdleTimerOptions {
  idleMs(): number;
  /** It runs and is not in use. */
  isIdle(): boolean;
  onIdle(): void;
}

export class IdleTimer {
  readonly #options: IdleTimerOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  /** A use has ended, or the server has just started. */
  restart(): void {
    this.cancel();
    if (!this.#options.isIdle()) return;
    this.#timer = setTimeout(() => {
      if (this.#options.isIdle()) this.#options.onIdle();
    }, this.#options.idleMs()).unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
