// Collects chunks into one buffer. Large chunks are kept until the end, so that each byte is copied once; small ones are merged as they
// arrive, since each buffer object takes some hundred bytes.

const SMALL_BYTES = 1024;
const MAX_BLOCK_BYTES = 64 << 10;
/** Fewer bytes are copied in a loop: the call of a native copy costs more. */
const FEW_BYTES = 32;
const NO_BYTES = Buffer.alloc(0);

export class Chunks {
  #pieces: Buffer[] = [];
  /** Holds small chunks. Its first `#used` bytes follow all pieces. */
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
    // A single chunk is not copied at all.
    if (this.#size === 0 || length >= SMALL_BYTES) {
      this.#flushBlock();
      this.#pieces.push(length === source.length ? source : source.subarray(from, to));
    } else {
      this.#copy(source, from, to);
    }
    this.#size += length;
  }

  /** Gives all bytes and clears the collection. */
  take(): Buffer {
    this.#flushBlock();
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
      this.#flushBlock();
      // Doubles the size: small data stays small.
      this.#block = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#size, SMALL_BYTES), MAX_BLOCK_BYTES));
    }
    if (to - from > FEW_BYTES) source.copy(this.#block, this.#used, from, to);
    else for (let at = from; at < to; at++) this.#block[this.#used + at - from] = source[at] ?? 0;
    this.#used += to - from;
  }

  /** Turns the used part of the block into a piece. */
  #flushBlock(): void {
    if (this.#used === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
