// Bytes that come in pieces and are wanted whole. A large piece is kept as it came, so that much data costs one copy in the
// end and not one per piece; small ones are put together as they come, since each costs some hundred bytes by itself.

const SMALL_BYTES = 1024;
const MAX_BLOCK_BYTES = 64 << 10;
/** Fewer are copied sooner here than by a native copy, which costs something to call. */
const FEW_BYTES = 32;
const NO_BYTES = Buffer.alloc(0);

export class Pieces {
  #pieces: Buffer[] = [];
  /** Where small ones go. The first `#used` bytes of it come after all pieces. */
  #block = NO_BYTES;
  #used = 0;
  #size = 0;

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  /** Adds a buffer, or the part of one that begins at `from` and ends before `to`. */
  add(source: Buffer, from = 0, to = source.length): void {
    const length = to - from;
    if (length === 0) return;
    // The first one may be the only one, and is then not copied at all.
    if (this.#size === 0 || length >= SMALL_BYTES) {
      this.#settle();
      this.#pieces.push(length === source.length ? source : source.subarray(from, to));
    } else {
      this.#copy(source, from, to);
    }
    this.#size += length;
  }

  /** All of them as one, and none are left. */
  take(): Buffer {
    this.#settle();
    const [only] = this.#pieces;
    const whole = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#size);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#pieces = [];
    this.#block = NO_BYTES;
    this.#used = 0;
    this.#size = 0;
  }

  #copy(source: Buffer, from: number, to: number): void {
    if (this.#used + to - from > this.#block.length) {
      this.#settle();
      // As much as there is already: what takes little stays small.
      this.#block = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#size, SMALL_BYTES), MAX_BLOCK_BYTES));
    }
    if (to - from > FEW_BYTES) source.copy(this.#block, this.#used, from, to);
    else for (let at = from; at < to; at++) this.#block[this.#used + at - from] = source[at] ?? 0;
    this.#used += to - from;
  }

  /** What is in the block becomes a piece; the rest of the block is for those to come. */
  #settle(): void {
    if (this.#used === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
