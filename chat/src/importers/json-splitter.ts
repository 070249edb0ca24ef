// Splits JSON of any size into the values that an importer needs, with at most one value in memory: value ends are found by
// counting brackets, parsing is left to JSON.parse. In indented files, as exports are, damage costs one value: the next one is
// found by its indentation.
//
// @streamparser/json is not used: it stops at the first damaged byte, cannot skip a value beyond the size limit, rejects the
// `\x0B` escapes of Telegram, and needs 2.4 times the processor time (57 against 138 MB/s on a Telegram export of 75 MB).

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

/** Visit the members of a value, emit it as a whole, or ignore it. */
export type Handling = "enter" | "take" | "skip";

/** Keys from the root; `[]` means an array element. */
export type JsonPath = readonly string[];

export interface SplitterOptions {
  /** Size limit of an emitted value; a larger one is skipped. */
  readonly maxBytes: number;
  /** Called once per key, and once for all elements of an array. */
  handling(path: JsonPath): Handling;
  onValue(path: JsonPath, json: Buffer, offset: number): void;
  /** An entered object or array has ended. */
  onLeave(path: JsonPath): void;
  onDamage(offset: number, why: string): void;
}

interface Level {
  readonly isArray: boolean;
  readonly path: JsonPath;
  /** For arrays: handling of the elements. */
  readonly elements: Handling;
  readonly elementPath: JsonPath;
}

/** The value that is being skipped or taken. */
interface CurrentValue {
  readonly taken: boolean;
  readonly path: JsonPath;
  /** Index in the window. */
  start: number;
  depth: number;
  inString: boolean;
  /** Spaces before it on its line; undefined if it does not begin a line. */
  readonly indent: number | undefined;
  damaged: boolean;
}

export class JsonSplitter {
  readonly #options: SplitterOptions;
  readonly #levels: Level[] = [];
  /** Unprocessed bytes, and their offset in the file. */
  #window: Buffer = Buffer.alloc(0);
  #windowOffset = 0;
  #at = 0;
  #key: string | undefined;
  #current: CurrentValue | undefined;
  /** Start of the current line in the window; negative if no longer in it. */
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

  /** Reports data after the end of the document once. */
  #afterEnd(chunk: Buffer): void {
    if (this.#hasMore || chunk.toString("latin1").trim() === "") return;
    this.#hasMore = true;
    this.#damage(0, "ignored data after the end");
  }

  /** Whether the document is complete. */
  end(): boolean {
    this.#run(true);
    const complete = this.#current === undefined && this.#levels.length === 0;
    if (this.#current?.taken === true) this.#damage(this.#current.start, "the file ends inside a value");
    return complete;
  }

  /** The unprocessed rest of the window; shifts all indices. */
  #rest(): Buffer {
    const from = this.#current?.taken === true ? this.#current.start : this.#at;
    const rest = this.#window.subarray(from);
    this.#move(from);
    return rest;
  }

  #move(by: number): void {
    this.#windowOffset += by;
    this.#at -= by;
    this.#lineStart -= by;
    if (this.#current !== undefined) this.#current.start -= by;
  }

  #run(last: boolean): void {
    while (this.#at < this.#window.length && !this.#ended) {
      const [at, inside] = [this.#at, this.#current];
      if (inside === undefined) this.#structure(last);
      else this.#value(inside, last);
      // More input is needed.
      if (this.#at === at && this.#current === inside) break;
    }
    if (this.#ended) this.#afterEnd(this.#window.subarray(this.#at));
    if (this.#at >= this.#window.length && this.#current?.taken !== true) {
      this.#move(this.#window.length);
      this.#window = Buffer.alloc(0);
      this.#at = 0;
    }
  }

  /** Between values: keys, commas, and the brackets of entered values. */
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
    // An object in place of a key: the previous array element has lost its end.
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
    this.#current = {
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

  /** A number, true, false or null. */
  #scalar(): void {
    const inside = this.#current;
    if (inside === undefined) return;
    this.#current = { ...inside, depth: -1 };
  }

  #leave(isArray: boolean): void {
    const level = this.#levels.at(-1);
    if (level === undefined) return this.#damage(this.#at - 1, "unexpected closing bracket");
    // A bracket is missing, and this one closes the outer level.
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

  /** The hot loop: looks at quotes, brackets and newlines only. */
  #value(inside: CurrentValue, last: boolean): void {
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
          // Strings cannot span lines: the closing quote is missing.
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
    if (inside.taken && at - inside.start > this.#options.maxBytes) this.#rejectTooLarge(inside);
  }

  /** A value that begins a line must end at the same indentation. */
  #isEarly({ indent, start }: CurrentValue, at: number): boolean {
    return indent !== undefined && this.#lineStart > start && at - this.#lineStart !== indent;
  }

  #skipScalar(inside: CurrentValue, last: boolean): void {
    const window = this.#window;
    let at = this.#at;
    while (at < window.length && !endsScalar(window[at] ?? 0)) at++;
    this.#at = at;
    if (at < window.length || last) return this.#finish(inside, at);
    if (inside.taken && at - inside.start > this.#options.maxBytes) this.#rejectTooLarge(inside);
  }

  #finish(inside: CurrentValue, end: number): void {
    this.#current = undefined;
    // Always advance, even after a stray byte.
    this.#at = Math.max(end, inside.start + 1);
    if (!inside.taken) return;
    if (inside.damaged) return this.#damage(inside.start, "a value is damaged");
    if (end - inside.start > this.#options.maxBytes)
      return this.#damage(
        inside.start,
        `a value is larger than ${this.#options.maxBytes} bytes (--max line_bytes=… raises the limit)`,
      );
    this.#options.onValue(inside.path, this.#window.subarray(inside.start, end), this.#windowOffset + inside.start);
  }

  /** The end of the value is missing: the next line belongs to the outer level. */
  #abandon(inside: CurrentValue, at: number): void {
    this.#current = undefined;
    this.#at = at;
    this.#key = undefined;
    if (inside.taken) this.#damage(inside.start, "a value does not end");
  }

  /** Too large for memory: skip the rest of it. */
  #rejectTooLarge(inside: CurrentValue): void {
    this.#damage(
      inside.start,
      `a value is larger than ${this.#options.maxBytes} bytes (--max line_bytes=… raises the limit)`,
    );
    this.#current = { ...inside, taken: false };
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

/** Deeper indentation is not treated as layout. */
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
