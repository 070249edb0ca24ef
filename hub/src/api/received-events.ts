// The hub's events, one by one, from the body of a response.

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
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<ReceivedEvent> {
  let events: SseEvent[] = [];
  const parser = new SseParser({
    maxBytes: MAX_EVENT_BYTES,
    onEvent: (event) => events.push(event),
    onOverflow: () => undefined, // an event of this size is not the hub's
  });
  const reader = body.getReader();
  const leave = () => reader.cancel().catch(() => undefined); // gone already
  // Not left to fetch: Node's forgets the signal of a response whose request has been collected as garbage.
  const onAbort = () => void leave();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal?.aborted === true) return;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.push(Buffer.from(value));
      const received = events;
      events = [];
      for (const { id = "", event, data } of received) yield { id, event, data: toData(data) };
    }
  } catch (error) {
    if (signal?.aborted === true) return;
    throw new HubError("ConnectionFailed", "The connection to the hub was lost", { cause: error });
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await leave();
  }
}

function toData(data: Buffer): unknown {
  const value: unknown = JSON.parse(data.toString());
  return isObject(value) ? value : {};
}
