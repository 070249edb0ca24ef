// Waits for messages of an HTTP event stream or of a process's stdout.

import { request } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

// eslint-disable-next-line typescript/no-explicit-any -- tests look into messages of any form
type Message = any;

export class Messages {
  readonly all: Message[] = [];
  readonly #waiting = new Set<() => void>();
  #ended = false;

  push(message: Message): void {
    this.all.push(message);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Resolves to the first message that matches. */
  async find(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.all.find(fits);
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`The stream ended without it: ${JSON.stringify(this.all)}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Resolves when there are more messages than this number. */
  async more(than: number): Promise<void> {
    while (this.all.length <= than && !this.#ended) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

export interface OpenStream {
  readonly status: number;
  readonly messages: Messages;
  close(): void;
}

/** Opens an event stream and keeps it open. */
export function openStream(
  url: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: unknown },
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const accept = "application/json, text/event-stream";
    const all = { accept, "content-type": "application/json", ...headers };
    const outgoing = request(url, { method, headers: all, agent: false }, (response) => {
      const messages = new Messages();
      onLines(response, (line) => {
        // An event without data only carries an id.
        if (/^data: *\S/.test(line)) messages.push(JSON.parse(line.slice("data:".length)));
      });
      response.on("close", () => messages.end());
      response.on("error", () => messages.end());
      resolve({ status: response.statusCode ?? 0, messages, close: () => outgoing.destroy() });
    });
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Calls back for every line of a stream. */
export function onLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}

/** Resolves when a connection has ended, also by a reset. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on("error", () => {}).once("close", () => resolve());
  });
}
