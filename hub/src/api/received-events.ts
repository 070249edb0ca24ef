// The hub's events, one by one, from the body of a response.

import type { Readable } from "node:stream";
import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { SseParser, type SseEvent } from "../wire/sse.ts";

export interface ReceivedEvent {
  /** For `lastEventId`, to go on after this one. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

const MAX_EVENT_BYTES = 16 << 20;

/** Ends when the hub ends the stream, or when the reader leaves or is told to. */
export async function* readEvents(body: Readable, signal?: AbortSignal): AsyncGenerator<ReceivedEvent> {
  let events: SseEvent[] = [];
  const parser = new SseParser({
    maxBytes: MAX_EVENT_BYTES,
    onEvent: (event) => events.push(event),
    onOverflow: () => undefined, // an event of this size is not the hub's
  });
  const leave = () => void body.destroy();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    if (signal?.aborted === true) return;
    for await (const part of body) {
      parser.push(part);
      const received = events;
      events = [];
      for (const { id = "", event, data } of received) yield { id, event, data: toData(data) };
    }
  } catch (error) {
    if (signal?.aborted === true) return;
    throw new HubError("ConnectionFailed", "The connection to the hub was lost", { cause: error });
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
  }
}

function toData(data: Buffer): unknown {
  const value: unknown = JSON.parse(data.toString());
  return isObject(value) ? value : {};
}
