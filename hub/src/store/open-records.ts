// The calls that have begun and not ended, as the journal has them. Each knows its place, so that none has to be looked for.

import type { StoredStart } from "../calls/stored-call.ts";

export interface OpenRecord {
  readonly id: number;
  /** What is on record of it; nothing before the end of the turn that it came in. */
  start: StoredStart | undefined;
  /** Where it stands; nowhere once it has ended. */
  place: number;
}

const NOWHERE = -1;

export class OpenRecords implements Iterable<OpenRecord> {
  readonly #records: OpenRecord[] = [];

  get size(): number {
    return this.#records.length;
  }

  add(id: number): OpenRecord {
    const record = { id, start: undefined, place: this.#records.length };
    this.#records.push(record);
    return record;
  }

  /** Whether it was there. */
  remove(record: OpenRecord): boolean {
    const { place } = record;
    if (place === NOWHERE) return false;
    record.place = NOWHERE;
    const last = this.#records.pop();
    if (last !== undefined && last !== record) {
      last.place = place;
      this.#records[place] = last;
    }
    return true;
  }

  removeId(id: number): void {
    const found = this.#records.find((record) => record.id === id);
    if (found !== undefined) this.remove(found);
  }

  [Symbol.iterator](): Iterator<OpenRecord> {
    return this.#records.values();
  }
}
