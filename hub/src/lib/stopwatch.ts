// Measures the total time of several waits. Overlapping waits count once.

export class Stopwatch {
  #running = 0;
  #startedAt = 0;
  #totalMs = 0;

  /** Includes a wait that is still running. */
  get totalMs(): number {
    return this.#totalMs + (this.#running > 0 ? performance.now() - this.#startedAt : 0);
  }

  async during<T>(wait: Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#startedAt = performance.now();
    try {
      return await wait;
    } finally {
      if (--this.#running === 0) this.#totalMs += performance.now() - this.#startedAt;
    }
  }
}
