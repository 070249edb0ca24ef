// The events of a session's streams, for clients that lost their connection and resume. Bounded: all sessions of an endpoint share
// one buffer, and the oldest events are evicted.

interface LoggedEvent {
  readonly stream: number;
  readonly sequence: number;
  readonly message: Buffer;
}

interface StoredEvent extends LoggedEvent {
  readonly owner: EventLog;
}

const MAX_BYTES = 16 << 20;
const MAX_EVENTS_OF_SESSION = 256;
/** Memory overhead of an event, without its bytes. */
const OVERHEAD_BYTES = 256;
/** Smaller buffers may be slices of Node's shared pool, which would be retained as a whole. */
const OWN_MEMORY_BYTES = 4096;

/** The buffer that the logs of all sessions share. */
export class EventBuffer {
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #events = new Set<StoredEvent>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  add(event: StoredEvent): void {
    this.#events.add(event);
    this.#bytes += event.message.length + OVERHEAD_BYTES;
    for (const oldest of this.#events) {
      if (this.#bytes <= this.#maxBytes) break;
      oldest.owner.drop(oldest);
    }
  }

  delete(event: StoredEvent): void {
    if (this.#events.delete(event)) this.#bytes -= event.message.length + OVERHEAD_BYTES;
  }
}

/** The events of one session. */
export class EventLog {
  readonly #buffer: EventBuffer;
  /** Oldest first. */
  readonly #events = new Set<StoredEvent>();
  #closed = false;

  constructor(buffer: EventBuffer) {
    this.#buffer = buffer;
  }

  add({ stream, sequence, message }: LoggedEvent): void {
    if (this.#closed) return;
    const event = { stream, sequence, message: withOwnMemory(message), owner: this };
    this.#events.add(event);
    this.#buffer.add(event);
    const [oldest] = this.#events;
    if (this.#events.size > MAX_EVENTS_OF_SESSION && oldest !== undefined) this.drop(oldest);
  }

  /** The events of a stream after a sequence number. */
  after(stream: number, sequence: number): readonly LoggedEvent[] {
    return [...this.#events].filter((event) => event.stream === stream && event.sequence > sequence);
  }

  drop(event: StoredEvent): void {
    this.#events.delete(event);
    this.#buffer.delete(event);
  }

  /** The session has ended. */
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
