// The last things that happened in the hub, numbered and bounded, in the form in which they are sent. Collecting starts
// with the hub, so that whoever connects later, or again, can be told what was missed.

import type { EventName } from "./topics.ts";

export interface LiveEvent {
  readonly id: number;
  readonly event: EventName;
  /** The server that it is about; none: about the hub as a whole. */
  readonly server: string | undefined;
  /** As server-sent events have it. */
  readonly frame: string;
}

export interface EventLogOptions {
  readonly size?: number;
  /** Wall clock, in milliseconds. */
  readonly now?: () => number;
}

export class EventLog {
  readonly #size: number;
  readonly #readers = new Set<(event: LiveEvent) => void>();
  #events: LiveEvent[] = [];
  /** The id before the oldest event that is still here. */
  #forgotten: number;
  #last: number;

  constructor({ size = 1000, now = Date.now }: EventLogOptions = {}) {
    this.#size = size;
    // A sequence that begins at the time of the start, in microseconds: an id that an earlier run of the hub gave is
    // always a smaller one, and is seen to be too old.
    this.#last = now() * 1000;
    this.#forgotten = this.#last;
  }

  /** The id of the newest event. */
  get last(): number {
    return this.#last;
  }

  append(event: EventName, server: string | undefined, data: object): void {
    const id = ++this.#last;
    const live = { id, event, server, frame: toFrame(event, id, data) };
    this.#events.push(live);
    // Twice the size before the older half goes: moving the rest at every event would cost more.
    if (this.#events.length >= 2 * this.#size) this.#events = this.#events.slice(-this.#size);
    this.#forgotten = Math.max(this.#forgotten, id - this.#size);
    for (const read of this.#readers) read(live);
  }

  /** What came after an id; undefined where some of it is no longer known. */
  after(id: number): LiveEvent[] | undefined {
    if (!(id >= this.#forgotten && id <= this.#last)) return undefined;
    return this.#events.filter((event) => event.id > id);
  }

  /** Every event from now on, until the function that comes back is called. */
  follow(read: (event: LiveEvent) => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }
}

/** JSON has no bare line breaks, so the data is one line whatever it says. */
export function toFrame(event: string, id: number, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
