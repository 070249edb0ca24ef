// Sends a running server a real request from time to time (RS-3), so that a silent failure is found before a caller meets it.

export interface HealthOptions {
  /** Read each time. 0: no checks. */
  intervalMs(): number;
  /** Never rejects. */
  check(): Promise<void>;
}

export class Health {
  readonly #options: HealthOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** The first check is after the interval. */
  start(): void {
    this.stop();
    const intervalMs = this.#options.intervalMs();
    if (intervalMs === 0) return;
    const timer = setTimeout(() => {
      void this.#options.check().then(() => {
        if (this.#timer === timer) this.start();
      });
    }, intervalMs).unref();
    this.#timer = timer;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
