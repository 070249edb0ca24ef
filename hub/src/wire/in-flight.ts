// A table of what comes and goes with every call: open requests, sessions in use, calls being recorded. Like a Map, and for the
// collector's sake none: a Map that is added to and deleted from moves to a new table all the time, and each table
// that it has left still points to the next. Once one of them has grown old, all that follow, and what was under way in
// them, outlive their time: in a small trial collecting garbage took eleven times as long.

type Key = string | number;

/** The order of its values is not told. */
export class InFlight<K extends Key, V> {
  /** Whole numbers, which nearly all ids are, have a table of their own. */
  readonly #numbered = new Numbered<V>();
  // No prototype: every key is only a key.
  #named: Record<string, V> | undefined;
  #nameCount = 0;

  get size(): number {
    return this.#numbered.size + this.#nameCount;
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  get(key: K): V | undefined {
    return typeof key === "number" ? this.#numbered.get(key) : this.#named?.[nameOf(key)];
  }

  set(key: K, value: V): void {
    if (typeof key === "number") return this.#numbered.set(key, value);
    const named: Record<string, V> = (this.#named ??= Object.create(null));
    const name = nameOf(key);
    if (named[name] === undefined) this.#nameCount++;
    named[name] = value;
  }

  /** Whether it was there. */
  delete(key: K): boolean {
    if (typeof key === "number") return this.#numbered.delete(key);
    const name = nameOf(key);
    if (this.#named?.[name] === undefined) return false;
    delete this.#named[name];
    this.#nameCount--;
    return true;
  }

  clear(): void {
    this.#numbered.clear();
    this.#named = undefined;
    this.#nameCount = 0;
  }

  values(): V[] {
    return [...this.#numbered.values(), ...Object.values(this.#named ?? {})];
  }
}

function nameOf(key: Key): string {
  return String(key);
}

const FIRST_PLACES = 16;

/**
 * By number, in two lists: each entry stands at the place that the lower bits of its number say, or at the next free one after it.
 * Ids that are counted up, as most are, hardly ever meet.
 */
class Numbered<V> {
  #keys: number[] = [];
  #values: (V | undefined)[] = [];
  #mask = -1;
  size = 0;

  get(key: number): V | undefined {
    return this.size === 0 ? undefined : this.#values[this.#find(key)];
  }

  set(key: number, value: V): void {
    // A quarter is free at least, so that looking ends soon.
    if (this.size * 4 >= this.#keys.length * 3) this.#grow();
    const place = this.#find(key);
    if (this.#values[place] === undefined) this.size++;
    this.#keys[place] = key;
    this.#values[place] = value;
  }

  delete(key: number): boolean {
    if (this.size === 0) return false;
    let free = this.#find(key);
    if (this.#values[free] === undefined) return false;
    this.size--;
    // Those behind it that stand here only because of it move up: no gap may hide them.
    for (let at = (free + 1) & this.#mask; this.#values[at] !== undefined; at = (at + 1) & this.#mask) {
      const wanted = placeOf(this.#keys[at] ?? 0) & this.#mask;
      if (((at - wanted) & this.#mask) < ((at - free) & this.#mask)) continue;
      this.#keys[free] = this.#keys[at] ?? 0;
      this.#values[free] = this.#values[at];
      free = at;
    }
    this.#values[free] = undefined;
    return true;
  }

  clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#mask = -1;
    this.size = 0;
  }

  values(): V[] {
    return this.#values.filter((value) => value !== undefined);
  }

  /** Where it stands, or would. */
  #find(key: number): number {
    let at = placeOf(key) & this.#mask;
    while (this.#values[at] !== undefined && this.#keys[at] !== key) at = (at + 1) & this.#mask;
    return at;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    const places = Math.max(FIRST_PLACES, 2 * keys.length);
    this.#keys = Array.from({ length: places }, () => 0);
    this.#values = Array.from({ length: places }, () => undefined);
    this.#mask = places - 1;
    this.size = 0;
    for (const [at, value] of values.entries()) if (value !== undefined) this.set(keys[at] ?? 0, value);
  }
}

/** Of a number beyond 32 bits both halves count. */
function placeOf(key: number): number {
  return (key ^ (key / 0x1_0000_0000)) | 0;
}
