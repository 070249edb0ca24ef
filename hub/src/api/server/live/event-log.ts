// A bounded log of recent events with ids, so that a client that reconnects gets the events that it missed.

import type { EventName } from "./topics.ts";

export interface LiveEvent {
  readonly id: number;
  readonly event: EventName;
  /** The server that the event is about; undefined: the hub. */
  readonly server: string | undefined;
  /** The text of the server-sent event. */
  frame(): string;
}

export interface EventLogOptions {
  /** Number of events kept for each event name. */
  readonly size?: number;
  /** Wall clock, in milliseconds. */
  readonly now?: () => number;
}

export class EventLog {
  readonly #size: number;
  readonly #readers = new Set<(event: LiveEvent) => void>();
  /** One for each event name: a thousand log lines of one server must not evict the failure of another. */
  readonly #rings = new Map<EventName, Ring>();
  readonly #first: number;
  #last: number;

  constructor({ size = 1000, now = Date.now }: EventLogOptions = {}) {
    this.#size = size;
    // Ids begin at the start time in microseconds, so that an id of an earlier run is smaller and recognised as too old.
    this.#first = now() * 1000;
    this.#last = this.#first;
  }

  /** The id of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** Stores the text of the event, which takes less memory than its data. */
  append(event: EventName, server: string | undefined, data: object): void {
    const id = ++this.#last;
    this.#add(new StoredEvent(id, event, server, toFrame(event, id, data), undefined));
  }

  /** For frequent events: `describe` runs only if a client reads the event. */
  appendLazily<T extends object>(event: EventName, server: string, source: T, describe: (source: T) => object): void {
    this.#add(new StoredEvent(++this.#last, event, server, source, describe));
  }

  /** For events that mean nothing to a client that missed them: they are sent to open streams and not stored. */
  send<T>(event: EventName, server: string, source: T, describe: (source: T) => object): void {
    if (this.#readers.size === 0) return;
    const id = ++this.#last;
    const live = new StoredEvent(id, event, server, toFrame(event, id, describe(source)), undefined);
    for (const read of this.#readers) read(live);
  }

  #add(live: LiveEvent): void {
    const { event } = live;
    let ring = this.#rings.get(event);
    if (ring === undefined) this.#rings.set(event, (ring = new Ring(this.#size)));
    ring.push(live);
    for (const read of this.#readers) read(live);
  }

  /** Events after an id; undefined if some of them have been evicted. */
  after(id: number, events: ReadonlySet<string>): LiveEvent[] | undefined {
    if (!(id >= this.#first && id <= this.#last)) return undefined;
    const rings = [...this.#rings].filter(([event]) => events.has(event)).map(([, ring]) => ring);
    if (rings.some((ring) => ring.evicted > id)) return undefined;
    return rings.flatMap((ring) => ring.after(id)).toSorted((a, b) => a.id - b.id);
  }

  /** Calls `read` for every new event. Returns a function that ends this. */
  follow(read: (event: LiveEvent) => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }
}

/** A class, not a closure: thousands are stored, and every call adds one. */
class StoredEvent<T> implements LiveEvent {
  readonly id: number;
  readonly event: EventName;
  readonly server: string | undefined;
  readonly #source: T;
  /** Undefined: the source is the finished text. */
  readonly #describe: ((source: T) => object) | undefined;

  constructor(
    id: number,
    event: EventName,
    server: string | undefined,
    source: T,
    describe: ((source: T) => object) | undefined,
  ) {
    this.id = id;
    this.event = event;
    this.server = server;
    this.#source = source;
    this.#describe = describe;
  }

  frame(): string {
    return this.#describe === undefined
      ? String(this.#source)
      : toFrame(this.event, this.id, this.#describe(this.#source));
  }
}

/** The last events of one name. */
class Ring {
  readonly #size: number;
  readonly #events: LiveEvent[] = [];
  #next = 0;
  /** Id of the newest evicted event. */
  evicted = 0;

  constructor(size: number) {
    this.#size = size;
  }

  push(event: LiveEvent): void {
    this.evicted = this.#events[this.#next]?.id ?? 0;
    this.#events[this.#next] = event;
    this.#next = (this.#next + 1) % this.#size;
  }

  after(id: number): LiveEvent[] {
    return this.#events.filter((event) => event.id > id);
  }
}

/** The data is always one line: JSON escapes line breaks. */
export function toFrame(event: string, id: number, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
