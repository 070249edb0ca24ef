// What was said on the streams of a session, for a client that lost its connection and comes back. Bounded: the space is
// shared by all sessions of an endpoint, and what was said longest ago makes room.

interface LoggedEvent {
  readonly stream: number;
  readonly sequence: number;
  readonly message: Buffer;
}

interface Kept extends LoggedEvent {
  readonly owner: EventLog;
}

const MAX_BYTES = 16 << 20;
const MAX_EVENTS_OF_SESSION = 256;
/** What one costs beside its bytes. */
const OVERHEAD_BYTES = 256;
/** Smaller buffers share their memory with others, which would be kept too. */
const OWN_MEMORY_BYTES = 4096;

/** The space that the logs of many sessions share. */
export class EventSpace {
  readonly #maxBytes: number;
  /** The oldest first. */
  readonly #events = new Set<Kept>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  add(event: Kept): void {
    this.#events.add(event);
    this.#bytes += event.message.length + OVERHEAD_BYTES;
    for (const oldest of this.#events) {
      if (this.#bytes <= this.#maxBytes) break;
      oldest.owner.drop(oldest);
    }
  }

  delete(event: Kept): void {
    if (this.#events.delete(event)) this.#bytes -= event.message.length + OVERHEAD_BYTES;
  }
}

/** The events of one session. */
export class EventLog {
  readonly #space: EventSpace;
  /** The oldest first. */
  readonly #events = new Set<Kept>();
  #closed = false;

  constructor(space: EventSpace) {
    this.#space = space;
  }

  add({ stream, sequence, message }: LoggedEvent): void {
    if (this.#closed) return;
    const event = { stream, sequence, message: withOwnMemory(message), owner: this };
    this.#events.add(event);
    this.#space.add(event);
    const [oldest] = this.#events;
    if (this.#events.size > MAX_EVENTS_OF_SESSION && oldest !== undefined) this.drop(oldest);
  }

  /** What is left of a stream after one of its events. */
  after(stream: number, sequence: number): readonly LoggedEvent[] {
    return [...this.#events].filter((event) => event.stream === stream && event.sequence > sequence);
  }

  drop(event: Kept): void {
    this.#events.delete(event);
    this.#space.delete(event);
  }

  /** Nobody comes back to it. */
  close(): void {
    this.#closed = true;
    for (const event of this.#events) this.drop(event);
  }
}

function withOwnMemory(message: Buffer): Buffer {
  if (message.length >= OWN_MEMORY_BYTES) return message;
  const own = Buffer.allocUnsafeSlow(message.length);
  message.copy(own);
  return own;
}
