// The calls that have begun and not ended. Each knows its place, so that none has to be looked for.

import type { CallEnd, CallStart, OpenCall } from "../calls/log.ts";
import type { StoredOpening } from "../calls/stored-call.ts";

type OnFinish = (record: OpenRecord, end: CallEnd) => Promise<void> | undefined;

const NOWHERE = -1;

/** All that is known of one call: there is one for each, so it is one object. */
export class OpenRecord implements OpenCall {
  readonly id: number;
  readonly call: CallStart;
  begun: Promise<void> | undefined = undefined;
  /** What is on record of its beginning; nothing before the end of the turn that it came in. */
  opening: StoredOpening | undefined = undefined;
  end: CallEnd | undefined = undefined;
  /** Where it stands; nowhere once it has ended. */
  place = NOWHERE;
  readonly #onFinish: OnFinish;

  constructor(id: number, call: CallStart, onFinish: OnFinish) {
    this.id = id;
    this.call = call;
    this.#onFinish = onFinish;
  }

  finish(end: CallEnd): Promise<void> | undefined {
    return this.#onFinish(this, end);
  }
}

export class OpenRecords implements Iterable<OpenRecord> {
  readonly #records: OpenRecord[] = [];

  get size(): number {
    return this.#records.length;
  }

  add(record: OpenRecord): void {
    record.place = this.#records.length;
    this.#records.push(record);
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
