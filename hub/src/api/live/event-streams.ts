// The readers of live events: each gets what it missed, then what comes, until it leaves or does not keep up.

import type { ServerResponse } from "node:http";
import { HubError } from "../../errors.ts";
import { SSE_KEEP_ALIVE } from "../../wire/sse.ts";
import { toFrame, type EventLog, type LiveEvent } from "./event-log.ts";

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2000;
const MAX_STREAMS = 100;
/** A reader that leaves this much unread is cut off: its memory is ours, and it can come back and be told. */
const MAX_UNREAD_BYTES = 1 << 20;

export interface Subscription {
  readonly events: ReadonlySet<string>;
  /** Of the events about one server, only this one's. */
  readonly server: string | undefined;
  /** The Last-Event-ID of a reader that comes back. */
  readonly lastEventId: string | undefined;
}

export class EventStreams {
  readonly #log: EventLog;
  readonly #open = new Set<ServerResponse>();
  #heartbeat: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(log: EventLog) {
    this.#log = log;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Answers a request with a stream that stays open. */
  add(response: ServerResponse, { events, server, lastEventId }: Subscription): void {
    if (this.#closed) throw new HubError("ServerNotRunning", "The hub is stopping");
    if (this.#open.size >= MAX_STREAMS) {
      const hint = "Close some of them, or read several topics from one";
      throw new HubError("RateLimited", `There are ${MAX_STREAMS} event streams already`, { hint });
    }
    const wanted = (event: LiveEvent) =>
      events.has(event.event) && (server === undefined || event.server === undefined || event.server === server);
    response.writeHead(200, HEADERS);
    response.write([`retry: ${RETRY_MS}\n\n`, ...this.#missed(lastEventId, events, wanted)].join(""));
    const unfollow = this.#log.follow((event) => {
      if (wanted(event)) write(response, event.frame());
    });
    this.#open.add(response);
    this.#heartbeat ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    response.once("close", () => {
      unfollow();
      this.#open.delete(response);
      if (this.#open.size === 0) this.#rest();
    });
  }

  /** Ends every stream, and says why. */
  close(): void {
    this.#closed = true;
    for (const response of this.#open) response.end(toFrame("hub.stopping", this.#log.last, {}));
    this.#rest();
  }

  /** What came since the reader was last here; a reset where that is not known: it must look at everything anew. */
  #missed(
    lastEventId: string | undefined,
    events: ReadonlySet<string>,
    wanted: (event: LiveEvent) => boolean,
  ): string[] {
    if (lastEventId === undefined) return [];
    const missed = this.#log.after(/^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : -1, events);
    if (missed === undefined) return [toFrame("reset", this.#log.last, { reason: "The events since then are gone" })];
    return missed.filter(wanted).map((event) => event.frame());
  }

  #beat(): void {
    for (const response of this.#open) write(response, SSE_KEEP_ALIVE);
  }

  #rest(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

function write(response: ServerResponse, text: string): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  else response.write(text);
}
