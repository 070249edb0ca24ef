// What the log knows of calls besides their payloads, some hundred of them as one row: when, which route, how long. The
// database costs by the row, and whoever looks for calls looks at all of them. Each call is so many digits, so that both
// SQLite (see call-schema.ts) and this file find any of them at once; four digits are a word, read and written as one number.

const WORD_DIGITS = 4;
const WORD = 10 ** WORD_DIGITS;

/** Where its numbers stand in a head. */
export const HEAD = {
  bytes: 36,
  at: { from: 0, digits: 4 * WORD_DIGITS },
  route: { from: 16, digits: 2 * WORD_DIGITS },
  durationUs: { from: 24, digits: 3 * WORD_DIGITS },
} as const;

/** With the rest of its row just what a page of the database holds. */
export const MAX_HEADS = 220;

/** Four digits as they stand in a head, by the number that they say. */
const WORDS = Uint32Array.from({ length: WORD }, (_, value) =>
  Buffer.from(String(value).padStart(WORD_DIGITS, "0")).readUInt32LE(),
);

/** Of a pack without calls, so that each one that comes is earlier and later. */
export const NO_TIMES = { earliest: Number.MAX_SAFE_INTEGER, latest: 0 } as const;

export class HeadPackWriter {
  /** Used again and again. */
  readonly #bytes = new Uint8Array(MAX_HEADS * HEAD.bytes);
  readonly #view = viewOf(this.#bytes);
  #first = 0;
  #count = 0;
  #earliest: number = NO_TIMES.earliest;
  #latest: number = NO_TIMES.latest;

  /** The id of the first call. */
  get first(): number {
    return this.#first;
  }

  /** The id of the call that comes next. */
  get next(): number {
    return this.#first + this.#count;
  }

  get isFull(): boolean {
    return this.#count === MAX_HEADS;
  }

  get earliest(): number {
    return this.#earliest;
  }

  get latest(): number {
    return this.#latest;
  }

  /** Good until the next call. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#count * HEAD.bytes);
  }

  /** Begins a pack without calls. */
  start(first: number): void {
    this.#first = first;
    this.#count = 0;
    this.#earliest = NO_TIMES.earliest;
    this.#latest = NO_TIMES.latest;
  }

  /** Goes on with one, or with a part of it: from its `from`-th call up to its `to`-th. */
  startWith(pack: HeadPack, from = 0, to = pack.count): void {
    this.start(pack.first + from);
    const count = Math.min(to - from, MAX_HEADS);
    this.#bytes.set(pack.bytes.subarray(from * HEAD.bytes, (from + count) * HEAD.bytes));
    this.#count = count;
    for (let index = from; index < from + count; index++) this.#cover(pack.at(index));
  }

  /** Whole numbers that fit: see HEAD. */
  add(at: number, route: number, durationUs: number): void {
    const head = this.#count++ * HEAD.bytes;
    this.#write(head + HEAD.at.from, HEAD.at.digits, at);
    this.#write(head + HEAD.route.from, HEAD.route.digits, route);
    this.#write(head + HEAD.durationUs.from, HEAD.durationUs.digits, durationUs);
    this.#cover(at);
  }

  #write(from: number, digits: number, value: number): void {
    let rest = value;
    for (let place = from + digits - WORD_DIGITS; place >= from; place -= WORD_DIGITS) {
      const above = Math.floor(rest / WORD);
      this.#view.setUint32(place, WORDS[rest - above * WORD] ?? 0, true);
      rest = above;
    }
  }

  #cover(at: number): void {
    if (at < this.#earliest) this.#earliest = at;
    if (at > this.#latest) this.#latest = at;
  }
}

export class HeadPack {
  readonly first: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  /** As read from a file, which may be damaged: anything can stand there, and becomes some number. */
  constructor(first: unknown, bytes: unknown) {
    this.first = Number(first);
    this.bytes = bytes instanceof Uint8Array ? bytes : new Uint8Array();
    this.#view = viewOf(this.bytes);
    this.count = Math.floor(this.bytes.length / HEAD.bytes);
  }

  /** When the call with this number in the pack began, in milliseconds since the epoch. */
  at(index: number): number {
    const from = index * HEAD.bytes + HEAD.at.from;
    return (
      ((this.#word(from) * WORD + this.#word(from + 4)) * WORD + this.#word(from + 8)) * WORD + this.#word(from + 12)
    );
  }

  route(index: number): number {
    const from = index * HEAD.bytes + HEAD.route.from;
    return this.#word(from) * WORD + this.#word(from + 4);
  }

  durationUs(index: number): number {
    const from = index * HEAD.bytes + HEAD.durationUs.from;
    return (this.#word(from) * WORD + this.#word(from + 4)) * WORD + this.#word(from + 8);
  }

  /** Two digits beside each other become one number, and two of those again: a third of the time of one after the other. */
  #word(at: number): number {
    const digits = this.#view.getUint32(at, true) & 0x0f_0f_0f_0f;
    const pairs = (digits * 10 + (digits >>> 8)) & 0x00_ff_00_ff;
    return (pairs * 100 + (pairs >>> 16)) & 0xffff;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
