// Something that others depend on until it ends, once.

export class Lifetime {
  readonly #held = new Set<() => void>();
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs a function at the end; at once if that was before. Returns how to forget that. */
  onceEnded(end: () => void): () => void {
    if (this.#hasEnded) {
      end();
      return () => undefined;
    }
    this.#held.add(end);
    return () => this.#held.delete(end);
  }

  end(): void {
    this.#hasEnded = true;
    const held = [...this.#held];
    this.#held.clear();
    for (const end of held) end();
  }
}
