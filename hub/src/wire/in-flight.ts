// A table of what comes and goes with every call: open requests, sessions in use, calls being recorded. Like a Map, and for the
// collector's sake none: a Map that is added to and deleted from moves to a new table all the time, and each table
// that it has left still points to the next. Once one of them has grown old, all that follow, and what was under way in
// them, outlive their time: in a small trial collecting garbage took eleven times as long.

type Key = string | number;

const LARGEST_INDEX = 2 ** 32 - 2;

/** The order of its values is not told. */
export class InFlight<K extends Key, V> {
  #values: Record<Key, V> = emptyTable();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: K): boolean {
    return this.#values[nameOf(key)] !== undefined;
  }

  get(key: K): V | undefined {
    return this.#values[nameOf(key)];
  }

  set(key: K, value: V): void {
    const name = nameOf(key);
    if (this.#values[name] === undefined) this.#size++;
    this.#values[name] = value;
  }

  /** Whether it was there. */
  delete(key: K): boolean {
    const name = nameOf(key);
    if (this.#values[name] === undefined) return false;
    delete this.#values[name];
    this.#size--;
    return true;
  }

  clear(): void {
    this.#values = emptyTable();
    this.#size = 0;
  }

  values(): V[] {
    return Object.values(this.#values);
  }
}

/**
 * Without a prototype: every key is only a key. And it had a number beyond all others, so that numbers are looked up like
 * names: else there would be a place for every number up to the largest, and a client that counts its requests would make
 * its table larger with each of them, to three kilobytes.
 */
function emptyTable<V>(): Record<Key, V> {
  const values: Record<Key, V> = Object.create(null);
  Reflect.set(values, LARGEST_INDEX, undefined);
  Reflect.deleteProperty(values, LARGEST_INDEX);
  return values;
}

/** The text "1" and the number 1 are two keys. */
function nameOf(key: Key): Key {
  return typeof key === "number" ? key : `"${key}`;
}
