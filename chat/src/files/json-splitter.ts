// Finds the values that matter in JSON of any size, without holding more than one of them: their ends are found by counting
// brackets, and only they are parsed. Where the file is laid out in lines, as exports are, damage costs one value: the
// next one is known by its indentation. What the values mean is left to others.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const COMMA = 0x2c;
const COLON = 0x3a;

/** What is done with a value: its own values are looked at, it is handed over whole, or it is passed over. */
export type Handling = "enter" | "take" | "skip";

/** Keys from the outside in; `[]` stands for an element of a list. */
export type JsonPath = readonly string[];

export interface SplitterOptions {
  /** Of one value that is taken; a larger one is refused. */
  readonly maxBytes: number;
  /** Asked once for each key, and once for all elements of a list. */
  handling(path: JsonPath): Handling;
  onValue(path: JsonPath, json: Buffer, offset: number): void;
  /** An object or list that was entered has ended. */
  onLeave(path: JsonPath): void;
  onDamage(offset: number, why: string): void;
}

interface Level {
  readonly isArray: boolean;
  readonly path: JsonPath;
  /** Of its elements, where it is a list. */
  readonly elements: Handling;
  readonly elementPath: JsonPath;
}

/** A value that is being passed over or taken. */
interface Inside {
  readonly taken: boolean;
  readonly path: JsonPath;
  /** In the window. */
  start: number;
  depth: number;
  inString: boolean;
  /** Spaces before it on its line; absent where it does not begin a line. */
  readonly indent: number | undefined;
  damaged: boolean;
}

export class JsonSplitter {
  readonly #options: SplitterOptions;
  readonly #levels: Level[] = [];
  /** What is not done with, and where in the file it begins. */
  #window: Buffer = Buffer.alloc(0);
  #windowOffset = 0;
  #at = 0;
  #key: string | undefined;
  #inside: Inside | undefined;
  /** Where the line began on which we are, in the window; below 0 where it is gone. */
  #lineStart = 0;
  #ended = false;
  #hasMore = false;

  constructor(options: SplitterOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    if (this.#ended) return this.#afterEnd(chunk);
    this.#window = this.#window.length > 0 ? Buffer.concat([this.#rest(), chunk]) : chunk;
    this.#run(false);
  }

  /** Nothing but blanks may follow; one word on it is enough. */
  #afterEnd(chunk: Buffer): void {
    if (this.#hasMore || chunk.toString("latin1").trim() === "") return;
    this.#hasMore = true;
    this.#damage(0, "more follows after the end, and is not read");
  }

  /** Whether all that was begun has ended. */
  end(): boolean {
    this.#run(true);
    const complete = this.#inside === undefined && this.#levels.length === 0;
    if (this.#inside?.taken === true) this.#damage(this.#inside.start, "the file ends inside a value");
    return complete;
  }

  /** What is left of the window; all that counts from its beginning is moved with it. */
  #rest(): Buffer {
    const from = this.#inside?.taken === true ? this.#inside.start : this.#at;
    const rest = this.#window.subarray(from);
    this.#move(from);
    return rest;
  }

  #move(by: number): void {
    this.#windowOffset += by;
    this.#at -= by;
    this.#lineStart -= by;
    if (this.#inside !== undefined) this.#inside.start -= by;
  }

  #run(last: boolean): void {
    while (this.#at < this.#window.length && !this.#ended) {
      const [at, inside] = [this.#at, this.#inside];
      if (inside === undefined) this.#structure(last);
      else this.#value(inside, last);
      // Too little is there to go on.
      if (this.#at === at && this.#inside === inside) break;
    }
    if (this.#ended) this.#afterEnd(this.#window.subarray(this.#at));
    if (this.#at >= this.#window.length && this.#inside?.taken !== true) {
      this.#move(this.#window.length);
      this.#window = Buffer.alloc(0);
      this.#at = 0;
    }
  }

  /** Between values: keys, commas, and the beginnings and ends of what was entered. */
  #structure(last: boolean): void {
    const window = this.#window;
    const level = this.#levels.at(-1);
    for (; this.#at < window.length; this.#at++) {
      const byte = window[this.#at] ?? 0;
      switch (byte) {
        case NEWLINE:
          this.#lineStart = this.#at + 1;
          continue;
        case SPACE:
        case COMMA:
        case COLON:
        case 0x09:
        case 0x0d:
          continue;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          this.#at++;
          this.#leave(byte === CLOSE_ARRAY);
          return;
        case QUOTE:
          if (level !== undefined && !level.isArray && this.#key === undefined) return this.#readKey(last);
          return this.#begin(byte);
        default:
          return this.#begin(byte);
      }
    }
  }

  #readKey(last: boolean): void {
    const window = this.#window;
    let end = this.#at + 1;
    while (end < window.length && window[end] !== QUOTE && window[end] !== NEWLINE) {
      end += window[end] === BACKSLASH ? 2 : 1;
    }
    if (end >= window.length && !last) return;
    this.#key = window.toString("utf8", this.#at + 1, end);
    this.#at = Math.min(end + 1, window.length);
  }

  #begin(byte: number): void {
    // An object where a key should be: the one before it in the list has lost its end.
    if (byte === OPEN_OBJECT && this.#key === undefined && this.#isElement()) {
      this.#damage(this.#at, "a bracket is missing");
      this.#pop();
    }
    const level = this.#levels.at(-1);
    const key = this.#key;
    this.#key = undefined;
    const isContainer = byte === OPEN_OBJECT || byte === OPEN_ARRAY;
    const path = level === undefined ? [] : level.isArray ? level.elementPath : [...level.path, key ?? ""];
    const handling = level?.isArray === true ? level.elements : this.#options.handling(path);
    if (handling === "enter" && isContainer) return this.#enter(byte === OPEN_ARRAY, path);
    this.#inside = {
      taken: handling === "take",
      path,
      start: this.#at,
      depth: 0,
      inString: false,
      indent: isContainer ? this.#indent() : undefined,
      damaged: false,
    };
    if (isContainer) return;
    if (byte !== QUOTE) this.#scalar();
  }

  #isElement(): boolean {
    return this.#levels.at(-1)?.isArray === false && this.#levels.at(-2)?.isArray === true;
  }

  #enter(isArray: boolean, path: JsonPath): void {
    const elementPath = [...path, "[]"];
    this.#levels.push({
      isArray,
      path,
      elementPath,
      elements: isArray ? this.#options.handling(elementPath) : "skip",
    });
    this.#at++;
  }

  /** A number, or one of the three words: up to what ends it. */
  #scalar(): void {
    const inside = this.#inside;
    if (inside === undefined) return;
    this.#inside = { ...inside, depth: -1 };
  }

  #leave(isArray: boolean): void {
    const level = this.#levels.at(-1);
    if (level === undefined) return this.#damage(this.#at - 1, "a bracket closes what was not opened");
    // The other bracket: one is missing, and this one closes what is around.
    if (level.isArray !== isArray) {
      this.#damage(this.#at - 1, "a bracket is missing");
      if (this.#levels.at(-2)?.isArray !== isArray) return;
      this.#pop();
    }
    this.#pop();
  }

  #pop(): void {
    this.#key = undefined;
    const level = this.#levels.pop();
    if (level !== undefined) this.#options.onLeave(level.path);
    if (this.#levels.length === 0) this.#ended = true;
  }

  /** The hot loop: nothing but ends of strings, brackets and lines matters here. */
  #value(inside: Inside, last: boolean): void {
    if (inside.depth < 0) return this.#skipScalar(inside, last);
    const window = this.#window;
    const end = window.length;
    let at = this.#at;
    let { depth, inString } = inside;
    for (; at < end; at++) {
      const byte = window[at];
      if (inString) {
        if (byte === BACKSLASH) {
          if (at + 1 >= end && !last) break;
          at++;
        } else if (byte === QUOTE) {
          inString = false;
          if (depth === 0) return this.#finish(inside, at + 1);
        } else if (byte === NEWLINE) {
          // No string goes over a line: its end was lost.
          inString = false;
          inside.damaged = true;
          if (depth === 0) return this.#finish(inside, at);
          at--;
        }
      } else if (byte === QUOTE) {
        inString = true;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (--depth > 0) continue;
        if (!this.#isEarly(inside, at)) return this.#finish(inside, at + 1);
        inside.damaged = true;
        depth = 1;
      } else if (byte === NEWLINE && inside.indent !== undefined) {
        const { indent } = inside;
        if (at + indent + 1 >= end && !last) break;
        const next = window[at + 1 + indent];
        this.#lineStart = at + 1;
        if (window[at + indent] === CLOSE_ARRAY && isBlank(window, at + 1, indent - 1)) {
          return this.#abandon(inside, at);
        }
        if (next === OPEN_OBJECT && isBlank(window, at + 1, indent)) return this.#abandon(inside, at);
        if (next === CLOSE_OBJECT && depth !== 1 && isBlank(window, at + 1, indent)) {
          inside.damaged = true;
          return this.#finish(inside, at + 2 + indent);
        }
      }
    }
    inside.depth = depth;
    inside.inString = inString;
    this.#at = at;
    if (inside.taken && at - inside.start > this.#options.maxBytes) this.#refuse(inside);
  }

  /** It began a line, and so its end should stand below its beginning. */
  #isEarly({ indent, start }: Inside, at: number): boolean {
    return indent !== undefined && this.#lineStart > start && at - this.#lineStart !== indent;
  }

  #skipScalar(inside: Inside, last: boolean): void {
    const window = this.#window;
    let at = this.#at;
    while (at < window.length && !endsScalar(window[at] ?? 0)) at++;
    this.#at = at;
    if (at < window.length || last) return this.#finish(inside, at);
    if (inside.taken && at - inside.start > this.#options.maxBytes) this.#refuse(inside);
  }

  #finish(inside: Inside, end: number): void {
    this.#inside = undefined;
    // A value that has no byte of its own, such as a stray letter, must not stop us.
    this.#at = Math.max(end, inside.start + 1);
    if (!inside.taken) return;
    if (inside.damaged) return this.#damage(inside.start, "a value is damaged");
    if (end - inside.start > this.#options.maxBytes) return this.#damage(inside.start, "a value is too large");
    this.#options.onValue(inside.path, this.#window.subarray(inside.start, end), this.#windowOffset + inside.start);
  }

  /** Its own end was lost: the line says that what is around it goes on. */
  #abandon(inside: Inside, at: number): void {
    this.#inside = undefined;
    this.#at = at;
    this.#key = undefined;
    if (inside.taken) this.#damage(inside.start, "a value does not end");
  }

  /** Too large to be held: it is passed over from here on. */
  #refuse(inside: Inside): void {
    this.#damage(inside.start, "a value is too large");
    this.#inside = { ...inside, taken: false };
  }

  #damage(at: number, why: string): void {
    this.#options.onDamage(this.#windowOffset + at, why);
  }

  #indent(): number | undefined {
    const indent = this.#at - this.#lineStart;
    if (this.#lineStart < 0 || indent > MAX_INDENT) return undefined;
    return isBlank(this.#window, this.#lineStart, indent) ? indent : undefined;
  }
}

/** Deeper is no layout. */
const MAX_INDENT = 64;

function isBlank(window: Buffer, from: number, length: number): boolean {
  for (let at = from; at < from + length; at++) if (window[at] !== SPACE) return false;
  return true;
}

function endsScalar(byte: number): boolean {
  switch (byte) {
    case COMMA:
    case CLOSE_OBJECT:
    case CLOSE_ARRAY:
    case OPEN_OBJECT:
    case OPEN_ARRAY:
    case QUOTE:
    case SPACE:
    case NEWLINE:
    case 0x09:
    case 0x0d:
      return true;
    default:
      return false;
  }
}
