// Whether this thread has much to do: then what can wait should.

/** How long the event loop has been waiting and not waiting, in milliseconds since it began. */
interface LoopTime {
  readonly idle: number;
  readonly active: number;
}

const BUSY_SHARE = 0.75;

export class LoopLoad {
  readonly #measure: () => LoopTime;
  #last: LoopTime;

  constructor(measure: () => LoopTime = () => performance.eventLoopUtilization()) {
    this.#measure = measure;
    this.#last = measure();
  }

  /** Since it was asked last. */
  isBusy(): boolean {
    const now = this.#measure();
    const idle = now.idle - this.#last.idle;
    const active = now.active - this.#last.active;
    this.#last = now;
    return active > BUSY_SHARE * (active + idle);
  }
}
