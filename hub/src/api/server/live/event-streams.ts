// Event streams of clients: each gets the events that it missed, then new ones. A client that cannot keep up is cut off.

import type { ServerResponse } from "node:http";
import { HubError } from "../../../errors.ts";
import { SSE_KEEP_ALIVE } from "@plugboard/shared/streams/sse";
import { toFrame, type EventLog, type LiveEvent } from "./event-log.ts";

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2000;
const MAX_STREAMS = 100;
/** A client with more unread bytes is cut off, since they are in our memory. It can reconnect with Last-Event-ID. */
const MAX_UNREAD_BYTES = 1 << 20;

export interface Subscription {
  readonly events: ReadonlySet<string>;
  /** Leaves out events about other servers. */
  readonly server: string | undefined;
  /** From a client that reconnects. */
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

  /** The id of the newest event. */
  get lastId(): number {
    return this.#log.last;
  }

  /** Answers a request with a stream that stays open. */
  add(response: ServerResponse, { events, server, lastEventId }: Subscription): void {
    if (this.#closed) throw new HubError("ServerNotRunning", "The hub is stopping");
    if (this.#open.size >= MAX_STREAMS) {
      const hint = "Close some of them, or read several topics from one stream";
      throw new HubError("RateLimited", `There are ${MAX_STREAMS} event streams already`, { hint });
    }
    const matches = (event: LiveEvent) =>
      events.has(event.event) && (server === undefined || event.server === undefined || event.server === server);
    response.writeHead(200, HEADERS);
    response.write([`retry: ${RETRY_MS}\n\n`, ...this.#missed(lastEventId, events, matches)].join(""));
    const unfollow = this.#log.follow((event) => {
      if (matches(event)) write(response, event.frame());
    });
    this.#open.add(response);
    this.#heartbeat ??= setInterval(() => this.#sendHeartbeats(), HEARTBEAT_MS).unref();
    response.once("close", () => {
      unfollow();
      this.#open.delete(response);
      if (this.#open.size === 0) this.#stopHeartbeat();
    });
  }

  /** Ends all streams with a last event. */
  close(): void {
    this.#closed = true;
    for (const response of this.#open) response.end(toFrame("hub.stopping", this.#log.last, {}));
    this.#stopHeartbeat();
  }

  /** Events since the last id; a `reset` if some are no longer stored: the client has to read everything again. */
  #missed(
    lastEventId: string | undefined,
    events: ReadonlySet<string>,
    matches: (event: LiveEvent) => boolean,
  ): string[] {
    if (lastEventId === undefined) return [];
    const missed = this.#log.after(/^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : -1, events);
    if (missed === undefined) return [toFrame("reset", this.#log.last, { reason: "The events since then are gone" })];
    return missed.filter(matches).map((event) => event.frame());
  }

  #sendHeartbeats(): void {
    for (const response of this.#open) write(response, SSE_KEEP_ALIVE);
  }

  #stopHeartbeat(): void {
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
