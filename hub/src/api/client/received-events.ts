// Reads events of the hub from the body of a response.

import type { Readable } from "node:stream";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { sseEvents } from "@plugboard/shared/streams/sse";

export interface ReceivedEvent {
  /** Pass it as `lastEventId` to resume after this event. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

const MAX_EVENT_BYTES = 16 << 20;

/** Ends when the hub ends the stream, when the consumer stops, or when the signal is aborted. */
export async function* readEvents(body: Readable, signal?: AbortSignal): AsyncGenerator<ReceivedEvent> {
  const close = () => void body.destroy();
  signal?.addEventListener("abort", close, { once: true });
  try {
    if (signal?.aborted === true) return;
    for await (const events of sseEvents(body, { maxBytes: MAX_EVENT_BYTES })) {
      for (const { id = "", event, data } of events) yield { id, event, data: toData(data) };
    }
  } catch (error) {
    if (signal?.aborted === true) return;
    throw new HubError("ConnectionFailed", "The connection to the hub was lost", { cause: error });
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}

function toData(data: Buffer): unknown {
  const value: unknown = JSON.parse(data.toString());
  return isObject(value) ? value : {};
}
