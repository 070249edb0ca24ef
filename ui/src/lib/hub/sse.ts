// Server-sent events, read from a fetch response: EventSource cannot send the headers that the hub demands.

export interface ServerEvent {
  /** "message" if the stream names none. */
  readonly event: string;
  readonly data: string;
  /** The last one of the stream so far. */
  readonly id: string | undefined;
}

/** Calls back for every event until the stream ends; rejects if it breaks. `onBytes` hears of keep-alives too. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: ServerEvent) => void,
  onBytes?: () => void,
): Promise<void> {
  const parser = new EventParser(onEvent);
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes?.();
    parser.push(value);
  }
}

/** Chunks may end anywhere, also between the two characters of a line end. */
export class EventParser {
  readonly #onEvent: (event: ServerEvent) => void;
  /** The line that has not ended. One of several megabytes comes in many chunks, which are joined once. */
  #rest: string[] = [];
  #event = "";
  #data: string[] = [];
  #id: string | undefined;
  #retryMs: number | undefined;

  constructor(onEvent: (event: ServerEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Where a reconnect goes on. */
  get lastId(): string | undefined {
    return this.#id;
  }

  /** How long the server asks to wait before a reconnect. */
  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  push(chunk: string): void {
    if (!/[\r\n]/.test(chunk) && this.#rest.at(-1)?.endsWith("\r") !== true) {
      this.#rest.push(chunk);
      return;
    }
    const text = this.#rest.join("") + chunk;
    // A carriage return at the end may be the first half of a line end.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = [(lines.pop() ?? "") + text.slice(end)];
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.#retryMs = Number(value);
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event === "" ? "message" : this.#event;
    this.#data = [];
    this.#event = "";
    if (data.length > 0) this.#onEvent({ event, data: data.join("\n"), id: this.#id });
  }
}
