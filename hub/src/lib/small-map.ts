// A map for the few requests that are open at a time, in two arrays. A Map replaces its hash table all the time when entries are
// added and removed, and each old table refers to the next: once one of them is in the old generation, all later ones and the
// finished calls in them survive until a full collection. Measured on calls through the hub with 16 in flight: 73 µs of CPU time
// per call with Map, 64 with a table that does not replace itself.

export class SmallMap<K extends string | number, V> {
  #keys: K[] = [];
  #values: V[] = [];

  get size(): number {
    return this.#keys.length;
  }

  has(key: K): boolean {
    return this.#keys.includes(key);
  }

  get(key: K): V | undefined {
    const index = this.#keys.indexOf(key);
    return index < 0 ? undefined : this.#values[index];
  }

  set(key: K, value: V): void {
    const index = this.#keys.indexOf(key);
    if (index >= 0) {
      this.#values[index] = value;
    } else {
      this.#keys.push(key);
      this.#values.push(value);
    }
  }

  /** Moves the last entry into the gap, so the order of entries is not kept. */
  delete(key: K): boolean {
    const index = this.#keys.indexOf(key);
    if (index < 0) return false;
    const last = this.#keys.length - 1;
    this.#keys.copyWithin(index, last).pop();
    this.#values.copyWithin(index, last).pop();
    return true;
  }

  clear(): void {
    this.#keys = [];
    this.#values = [];
  }

  /** A copy: entries may be deleted while it is iterated. */
  values(): V[] {
    return [...this.#values];
  }
}
