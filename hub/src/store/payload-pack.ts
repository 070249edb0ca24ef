// The parameters and results of calls that are entered together, as one row: the database costs by the row, and a payload is
// asked for far less often than it is written. The bytes of all of them stand one after the other, and beside them, as JSON
// that SQLite can read too (see call-schema.ts), how many each has: two numbers for each call, null where there is nothing.

export interface PayloadPack {
  readonly sizes: string;
  readonly bytes: Uint8Array;
}

export interface Payload {
  readonly params: Uint8Array | null;
  readonly result: Uint8Array | null;
}

/** With its sizes and the head of its row just what a page of the database holds. */
const FULL_BYTES = 7500;
const FIRST_BYTES = 2 * FULL_BYTES;

export class PackWriter {
  /** Used again and again. */
  #bytes = new Uint8Array(FIRST_BYTES);
  #at = 0;
  #sizes = "";
  #calls = 0;

  /** The calls in it. */
  get calls(): number {
    return this.#calls;
  }

  get isFull(): boolean {
    return this.#at + this.#sizes.length >= FULL_BYTES;
  }

  add(params: Uint8Array | null, result: Uint8Array | null): void {
    this.#sizes += `${this.#calls === 0 ? "" : ","}${this.#put(params)},${this.#put(result)}`;
    this.#calls++;
  }

  /** What was added since the last time. Good until the next one is added. */
  take(): PayloadPack {
    const pack = { sizes: `[${this.#sizes}]`, bytes: this.#bytes.subarray(0, this.#at) };
    this.#at = 0;
    this.#sizes = "";
    this.#calls = 0;
    return pack;
  }

  #put(bytes: Uint8Array | null): number | null {
    if (bytes === null) return null;
    const end = this.#at + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.#bytes.subarray(0, this.#at));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#at);
    this.#at = end;
    return bytes.length;
  }
}

const NOTHING: Payload = { params: null, result: null };

export class PackReader {
  /** Where each of them begins and ends; undefined where there is nothing. */
  readonly #spans: readonly ({ readonly start: number; readonly end: number } | undefined)[];
  readonly #bytes: Uint8Array;

  /** As read from a file, which may be damaged: anything can stand there. */
  constructor(sizes: unknown, bytes: unknown) {
    this.#bytes = bytes instanceof Uint8Array ? bytes : new Uint8Array();
    let at = 0;
    this.#spans = parsed(sizes).map((size) => {
      if (typeof size !== "number" || !(size >= 0)) return undefined;
      const start = at;
      at += size;
      return { start, end: at };
    });
  }

  /** Of the call with this number in the pack. */
  get(index: number): Payload {
    if (!(index >= 0)) return NOTHING;
    return { params: this.#part(2 * index), result: this.#part(2 * index + 1) };
  }

  #part(index: number): Uint8Array | null {
    const span = this.#spans[index];
    return span === undefined ? null : this.#bytes.subarray(span.start, span.end);
  }
}

function parsed(sizes: unknown): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(String(sizes));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
