// JSON without loss: a number that JavaScript would round is kept as its text, and `__proto__` is a member like any other.

/** A number whose text says more than a JavaScript number can hold, for example 9007199254740993 or 1.10. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Json = string | number | boolean | null | NumberText | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** The text is not JSON. `at` is the index of the first character that does not fit. */
export class JsonSyntaxError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const MAX_DEPTH = 500;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NUMBER_ALONE = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
}

/** @example toNumber("5") === 5; toNumber("9007199254740993") // a NumberText; toNumber("5 apples") === undefined */
export function toNumber(text: string): number | NumberText | undefined {
  if (!NUMBER_ALONE.test(text)) return undefined;
  const value = Number(text);
  return String(value) === text ? value : new NumberText(text);
}

/** A copy with `name` set. The other members keep their order. */
export function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const copy: JsonObject = { ...object };
  if (value === undefined) delete copy[name];
  else setMember(copy, name, value);
  return copy;
}

export function memberOf(value: unknown, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

// An assignment to `__proto__` would change the prototype instead.
function setMember(object: JsonObject, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}

/** Throws JsonSyntaxError. */
export function parseJson(text: string): Json {
  return new Parser(text).parse();
}

/** @example toJsonText({ a: 1 }, 2) */
export function toJsonText(value: Json, indent = 0): string {
  return write(value, indent, "\n");
}

function write(value: Json, indent: number, newline: string): string {
  if (value instanceof NumberText) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = newline + " ".repeat(indent);
  const members = Array.isArray(value)
    ? value.map((item) => write(item, indent, inner))
    : Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}:${indent > 0 ? " " : ""}${write(member, indent, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) return open + close;
  return indent > 0
    ? `${open}${inner}${members.join(`,${inner}`)}${newline}${close}`
    : open + members.join(",") + close;
}

/** Numbers as JavaScript has them, for a validator. */
export function toPlain(value: Json): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (!isObject(value)) return value;
  const plain: JsonObject = {};
  // The result is only read as unknown data.
  for (const [name, member] of Object.entries(value)) setMember(plain, name, toPlain(member) as Json);
  return plain;
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Json {
    const value = this.#value(0);
    this.#skipBlanks();
    if (this.#at < this.#text.length) this.#fail("unexpected text after the value");
    return value;
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) this.#fail("nested too deeply");
    this.#skipBlanks();
    switch (this.#text[this.#at] ?? "") {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): JsonObject {
    const object: JsonObject = {};
    this.#at++;
    this.#skipBlanks();
    if (this.#take("}")) return object;
    do {
      this.#skipBlanks();
      if (this.#text[this.#at] !== '"') this.#fail("expected a name in double quotes");
      const name = this.#string();
      this.#skipBlanks();
      if (!this.#take(":")) this.#fail("expected a colon");
      setMember(object, name, this.#value(depth + 1));
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail("expected a comma or }");
    return object;
  }

  #array(depth: number): Json[] {
    const items: Json[] = [];
    this.#at++;
    this.#skipBlanks();
    if (this.#take("]")) return items;
    do {
      items.push(this.#value(depth + 1));
      this.#skipBlanks();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail("expected a comma or ]");
    return items;
  }

  #string(): string {
    const from = this.#at;
    let end = from;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) this.#fail("the string does not end");
    } while (this.#isEscaped(end));
    this.#at = end + 1;
    try {
      // A slice from quote to quote is a string or an error.
      return JSON.parse(this.#text.slice(from, this.#at)) as string;
    } catch {
      this.#at = from;
      return this.#fail("not a valid string");
    }
  }

  /** An odd number of backslashes before a quote make it a part of the string. */
  #isEscaped(quote: number): boolean {
    let before = quote;
    while (this.#text[before - 1] === "\\") before--;
    return (quote - before) % 2 === 1;
  }

  #number(): number | NumberText {
    NUMBER.lastIndex = this.#at;
    const text = NUMBER.exec(this.#text)?.[0];
    if (text === undefined) return this.#fail("expected a value");
    this.#at += text.length;
    return toNumber(text) ?? this.#fail("expected a value");
  }

  #word<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail("expected a value");
    this.#at += word.length;
    return value;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipBlanks(): void {
    while (this.#at < this.#text.length && " \t\n\r".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #fail(message: string): never {
    throw new JsonSyntaxError(message, this.#at);
  }
}
