// Mutates valid examples. The same seed gives the same inputs.

export type Random = (below: number) => number;

/** Numbers below a bound, the same ones in every run (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Bytes and words that are significant to parsers. */
const TELLING = [
  ...Array.from('{}[]":,\\/0-.eE \t\r\n;=?&%+*#', (letter) => Buffer.from(letter)),
  ...[0x00, 0x7f, 0x80, 0xc3, 0xed, 0xff].map((byte) => Buffer.from([byte])),
  ..."\r\n \r\n\r\n \ufeff \u2028 null true \\u0000 \\ud800 %00 %ff %25 1e999 -0 9007199254740993 __proto__"
    .split(" ")
    .map((word) => Buffer.from(word)),
];

export class Mutator {
  readonly #corpus: readonly Buffer[];
  readonly #random: Random;

  constructor(corpus: readonly (string | Buffer)[], random: Random) {
    this.#corpus = corpus.map((example) => Buffer.from(example));
    this.#random = random;
  }

  /** One of the examples with up to four mutations; sometimes unchanged, sometimes random. */
  next(): Buffer {
    const random = this.#random;
    if (random(50) === 0) return noise(random, 300);
    let bytes = this.#example();
    for (let left = random(1 + random(5)); left > 0; left--) bytes = this.#mutate(bytes);
    return bytes;
  }

  #example(): Buffer {
    return this.#corpus[this.#random(this.#corpus.length)] ?? Buffer.alloc(0);
  }

  #mutate(bytes: Buffer): Buffer {
    const random = this.#random;
    const at = random(bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + random(random(4) === 0 ? 64 : 4));
    const before = bytes.subarray(0, at);
    switch (random(8)) {
      case 0:
        return flipped(bytes, random);
      case 1:
        return Buffer.concat([before, bytes.subarray(end)]);
      case 2:
        return Buffer.concat([
          bytes.subarray(0, end),
          ...repeated(bytes.subarray(at, end), random),
          bytes.subarray(end),
        ]);
      case 3:
        return Buffer.concat([before, this.#piece(), bytes.subarray(at)]);
      case 4:
        return Buffer.concat([before, this.#piece(), bytes.subarray(end)]);
      case 5:
        return random(4) === 0 ? before : Buffer.concat([before, noise(random, 4), bytes.subarray(at)]);
      case 6:
        return Buffer.concat([bytes.subarray(end), before]);
      default: {
        const other = this.#example();
        return Buffer.concat([before, other.subarray(random(other.length + 1))]);
      }
    }
  }

  #piece(): Buffer {
    return TELLING[this.#random(TELLING.length)] ?? Buffer.alloc(0);
  }
}

function flipped(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  const at = random(copy.length || 1);
  copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
  return copy;
}

function repeated(piece: Buffer, random: Random): Buffer[] {
  return Array.from({ length: random(8) === 0 ? random(100) : 1 }, () => piece);
}

function noise(random: Random, most: number): Buffer {
  return Buffer.from(Array.from({ length: random(most) }, () => random(256)));
}

/** The same bytes in chunks, as a socket may deliver them, including empty chunks and single bytes. */
export function cutUp(bytes: Buffer, random: Random): Buffer[] {
  const most = [1, 3, 17, 200][random(4)] ?? 1;
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + random(most + 1);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}
