// Something that others depend on until it ends, once.

/** "expired": the same goes on under another lifetime, if its owner has one by then. "revoked": nothing goes on. */
export type LifetimeEnd = "revoked" | "expired";

export class Lifetime {
  readonly #held = new Set<(why: LifetimeEnd) => void>();
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs a function at the end; at once if that was before. Returns how to forget that. */
  onceEnded(end: (why: LifetimeEnd) => void): () => void {
    if (this.#hasEnded) {
      end("revoked");
      return () => undefined;
    }
    this.#held.add(end);
    return () => this.#held.delete(end);
  }

  end(why: LifetimeEnd = "revoked"): void {
    this.#hasEnded = true;
    const held = [...this.#held];
    this.#held.clear();
    for (const end of held) end(why);
  }
}
