// Bytes that come in pieces and are wanted whole. A piece is kept as it came, so that much data costs one copy in the end
// and not one per piece; many small ones are put together early, since each costs some hundred bytes by itself.

const BATCH = 64;
const SMALL_BYTES = 1024;

export class Pieces {
  #settled: Buffer[] = [];
  /** Those that came last, and their bytes together. */
  #recent: Buffer[] = [];
  #recentSize = 0;
  #size = 0;

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#recent.push(piece);
    this.#recentSize += piece.length;
    this.#size += piece.length;
    if (this.#recent.length === BATCH) this.#settle();
  }

  /** All of them as one, and none are left. */
  take(): Buffer {
    const all = this.#settled.length === 0 ? this.#recent : [...this.#settled, ...this.#recent];
    const [only] = all;
    const whole = all.length === 1 && only !== undefined ? only : Buffer.concat(all, this.#size);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#settled = [];
    this.#recent = [];
    this.#recentSize = 0;
    this.#size = 0;
  }

  #settle(): void {
    if (this.#recentSize < BATCH * SMALL_BYTES) this.#settled.push(Buffer.concat(this.#recent, this.#recentSize));
    else for (const piece of this.#recent) this.#settled.push(piece);
    this.#recent = [];
    this.#recentSize = 0;
  }
}
