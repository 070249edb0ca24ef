// A table of what comes and goes with every call: open requests, sessions in use, calls being recorded. Like a Map, and for the
// collector's sake none: a Map that is added to and deleted from moves to a new table all the time, and each table
// that it has left still points to the next. Once one of them has grown old, all that follow, and what was under way in
// them, outlive their time: in a small trial collecting garbage took eleven times as long.

type Key = string | number;

/** The order of its values is not told. */
export class InFlight<K extends Key, V> {
  // No prototype: every key is only a key.
  #values: Record<Key, V> = Object.create(null);
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
    this.#values = Object.create(null);
    this.#size = 0;
  }

  values(): V[] {
    return Object.values(this.#values);
  }
}

/** The text "1" and the number 1 are two keys. */
function nameOf(key: Key): Key {
  return typeof key === "number" ? key : `"${key}`;
}
