// Follows events of the running hub until the user interrupts.

import type { HubClient } from "../../api/client/client.ts";
import { HubError } from "../../errors.ts";
import type { RunningHub } from "./find-hub.ts";
import type { Io } from "../io.ts";

type EventOptions = NonNullable<Parameters<HubClient["events"]>[0]>;
type HubEvent = ReturnType<HubClient["events"]> extends AsyncIterable<infer E> ? E : never;

const INTERRUPTED = 130;

/** Calls `onEvent` for each event. Returns the exit code when interrupted, and throws when the hub exits. */
export async function followed(
  io: Io,
  { client, url }: RunningHub,
  options: Omit<EventOptions, "signal">,
  onEvent: (event: HubEvent) => void | Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  io.onSignal(() => stop.abort());
  try {
    for await (const event of client.events({ ...options, signal: stop.signal })) {
      if (stop.signal.aborted) break;
      await onEvent(event);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  if (stop.signal.aborted) return INTERRUPTED;
  throw new HubError("ConnectionFailed", `Lost the connection to the hub at ${url}`, { hint: "plugboard start" });
}
