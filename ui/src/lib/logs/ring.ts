// The last lines of a log, with numbers that never change: a line that leaves the ring does not rename the others.

export class LineRing<Line> {
  readonly #limit: number;
  #lines: Line[] = [];
  #start = 0;
  /** Number of the oldest line that is kept. Lines that are read later from before it have smaller numbers. */
  #first = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#lines.length - this.#start;
  }

  /** The number of the oldest line. */
  get first(): number {
    return this.#first;
  }

  at(index: number): Line | undefined {
    return index < 0 ? undefined : this.#lines[this.#start + index];
  }

  /** Adds newer lines. Returns how many old ones left. */
  append(lines: readonly Line[]): number {
    for (const line of lines) this.#lines.push(line);
    const dropped = Math.max(0, this.length - this.#limit);
    this.#start += dropped;
    this.#first += dropped;
    // Removing from the front one by one would move all lines each time.
    if (this.#start > this.#limit) {
      this.#lines = this.#lines.slice(this.#start);
      this.#start = 0;
    }
    return dropped;
  }

  /** Adds older lines as far as there is room. Returns how many were taken. */
  prepend(lines: readonly Line[]): number {
    const room = Math.max(0, this.#limit - this.length);
    const taken = room >= lines.length ? lines : lines.slice(lines.length - room);
    this.#lines = [...taken, ...this.#lines.slice(this.#start)];
    this.#start = 0;
    this.#first -= taken.length;
    return taken.length;
  }

  toArray(): Line[] {
    return this.#lines.slice(this.#start);
  }
}
