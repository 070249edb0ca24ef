// A client of the event stream that parses server-sent events by itself.

import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import type { ManagedHub } from "../support/api.ts";
import { onLines } from "../support/streams.ts";

export interface EventReader {
  readonly status: number;
  /** Every line so far, comments included. */
  readonly lines: string[];
  /** Waits for the next event that matches. */
  next(matches?: (event: SentEvent) => boolean): Promise<SentEvent>;
  readonly ended: Promise<unknown>;
  close(): void;
}

export interface SentEvent {
  readonly id: string;
  readonly event: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into events of any form
  readonly data: any;
}

interface ReaderOptions {
  /** With `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
}

export async function openEventReader(
  managed: ManagedHub,
  { query, headers, onLine }: ReaderOptions,
): Promise<EventReader> {
  const outgoing = request(`${managed.url}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${managed.token}`, ...headers },
    agent: false,
  }).end();
  outgoing.on("error", () => {});
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const lines: string[] = [];
  const events: SentEvent[] = [];
  const waiting = new Set<() => void>();
  let event = { id: "", event: "", data: undefined as unknown };
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  let isOver = false;
  onLines(response, (line) => {
    onLine(line);
    lines.push(line);
    const [, field = "", value = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
    if (field === "id" || field === "event") event = { ...event, [field]: value };
    if (field === "data") event = { ...event, data: JSON.parse(value) };
    if (line === "" && event.event !== "") {
      events.push(event);
      event = { id: "", event: "", data: undefined };
    }
    wake();
  });
  response.on("error", () => {}); // the test closes the stream in the middle
  const ended = new Promise<void>((resolve) => response.once("close", resolve)).then(() => {
    isOver = true;
    wake();
  });
  return {
    status: response.statusCode ?? 0,
    lines,
    ended,
    next: async (matches = () => true) => {
      for (;;) {
        const index = events.findIndex(matches);
        const [found] = index < 0 ? [] : events.splice(0, index + 1).slice(-1);
        if (found !== undefined) return found;
        if (isOver) throw new Error(`The stream ended before the event: ${lines.join("\n")}`);
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
    close: () => outgoing.destroy(),
  };
}
