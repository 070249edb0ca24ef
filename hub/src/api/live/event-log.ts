// The last things that happened in the hub, numbered and bounded, in the form in which they are sent. Collecting starts
// with the hub, so that whoever connects later, or again, can be told what was missed.

import type { EventName } from "./topics.ts";

export interface LiveEvent {
  readonly id: number;
  readonly event: EventName;
  /** The server that it is about; none: about the hub as a whole. */
  readonly server: string | undefined;
  /** As server-sent events have it. */
  frame(): string;
}

export interface EventLogOptions {
  /** How many of each kind are kept. */
  readonly size?: number;
  /** Wall clock, in milliseconds. */
  readonly now?: () => number;
}

export class EventLog {
  readonly #size: number;
  readonly #readers = new Set<(event: LiveEvent) => void>();
  /** One for each kind: a thousand lines of a talkative server must not push out that another one failed. */
  readonly #rings = new Map<EventName, Ring>();
  readonly #first: number;
  #last: number;

  constructor({ size = 1000, now = Date.now }: EventLogOptions = {}) {
    this.#size = size;
    // A sequence that begins at the time of the start, in microseconds: an id that an earlier run of the hub gave is
    // always a smaller one, and is seen to be too old.
    this.#first = now() * 1000;
    this.#last = this.#first;
  }

  /** The id of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** The text of it is kept, which takes less room than what it says. */
  append(event: EventName, server: string | undefined, data: object): void {
    const id = ++this.#last;
    this.#add(new Kept(id, event, server, toFrame(event, id, data), undefined));
  }

  /** What happens often: `describe` is asked for its data when somebody reads it, and hardly anybody does. */
  appendLazily<T extends object>(event: EventName, server: string, what: T, describe: (what: T) => object): void {
    this.#add(new Kept(++this.#last, event, server, what, describe));
  }

  #add(live: LiveEvent): void {
    const { event } = live;
    let ring = this.#rings.get(event);
    if (ring === undefined) this.#rings.set(event, (ring = new Ring(this.#size)));
    ring.push(live);
    for (const read of this.#readers) read(live);
  }

  /** What came after an id, of these kinds; undefined where some of it is no longer known. */
  after(id: number, events: ReadonlySet<string>): LiveEvent[] | undefined {
    if (!(id >= this.#first && id <= this.#last)) return undefined;
    const rings = [...this.#rings].filter(([event]) => events.has(event)).map(([, ring]) => ring);
    if (rings.some((ring) => ring.forgotten > id)) return undefined;
    return rings.flatMap((ring) => ring.after(id)).toSorted((a, b) => a.id - b.id);
  }

  /** Every event from now on, until the function that comes back is called. */
  follow(read: (event: LiveEvent) => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }
}

/** Thousands are kept, one more with every call: no closure belongs to them. */
class Kept<T> implements LiveEvent {
  readonly id: number;
  readonly event: EventName;
  readonly server: string | undefined;
  readonly #what: T;
  /** None where it is a frame already. */
  readonly #describe: ((what: T) => object) | undefined;

  constructor(
    id: number,
    event: EventName,
    server: string | undefined,
    what: T,
    describe: ((what: T) => object) | undefined,
  ) {
    this.id = id;
    this.event = event;
    this.server = server;
    this.#what = what;
    this.#describe = describe;
  }

  frame(): string {
    return this.#describe === undefined ? String(this.#what) : toFrame(this.event, this.id, this.#describe(this.#what));
  }
}

/** The last events of one kind. */
class Ring {
  readonly #size: number;
  readonly #events: LiveEvent[] = [];
  #next = 0;
  /** The id of the newest event that is gone. */
  forgotten = 0;

  constructor(size: number) {
    this.#size = size;
  }

  push(event: LiveEvent): void {
    this.forgotten = this.#events[this.#next]?.id ?? 0;
    this.#events[this.#next] = event;
    this.#next = (this.#next + 1) % this.#size;
  }

  after(id: number): LiveEvent[] {
    return this.#events.filter((event) => event.id > id);
  }
}

/** JSON has no bare line breaks, so the data is one line whatever it says. */
export function toFrame(event: string, id: number, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
