// Server-sent events, read as the standard says: any line end, comments, several data lines, ids that stay. What was there in
// one piece is given together.

import { SourceFailure } from "./failure.ts";

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  /** Of this event, or the last one that had an id. */
  readonly id: string | undefined;
}

const MAX_CHARACTERS = 16 * 1024 * 1024;

export async function* readEvents(body: AsyncIterable<Uint8Array>, onBytes: () => void): AsyncGenerator<SseEvent[]> {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  for await (const bytes of body) {
    onBytes();
    const events = parser.push(decoder.decode(bytes, { stream: true }));
    if (events.length > 0) yield events;
  }
}

export class SseParser {
  #rest = "";
  #data: string[] = [];
  #size = 0;
  #event = "";
  #id: string | undefined;
  #endedWithReturn = false;

  push(given: string): SseEvent[] {
    const text = this.#endedWithReturn && given.startsWith("\n") ? given.slice(1) : given;
    if (given !== "") this.#endedWithReturn = given.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length + this.#size > MAX_CHARACTERS) throw new SourceFailure("refused", "An event has no end");
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): SseEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "data") {
      this.#data.push(value);
      this.#size += value.length + 1;
    }
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const [event, data] = [this.#event, this.#data];
    [this.#event, this.#data, this.#size] = ["", [], 0];
    return data.length === 0 ? undefined : { event: event || "message", data: data.join("\n"), id: this.#id };
  }
}
