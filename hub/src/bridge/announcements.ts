// The one stream on which a legacy server speaks unasked: opened, and opened again as often as it ends, where it stopped.
// It is also how a bridge notices that its hub is gone, or back.

import { HubError } from "../errors.ts";
import type { Endpoint } from "./endpoint.ts";
import { messageBody, startPosition, type MessageBody } from "./message-body.ts";
import type { Sent } from "./sockets.ts";

export interface AnnouncementsOptions {
  readonly endpoint: Endpoint;
  /** The header lines that name the session. */
  readonly fields: string;
  onMessage(bytes: Buffer): void;
  /** The endpoint no longer knows the session, or is another one. Rejects where nothing could be done about it yet. */
  onForgotten(): Promise<void>;
}

interface End {
  /** What it was answered with; undefined where it was not. */
  readonly status: number | undefined;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** There is no such stream, or not for us. */
const NONE: readonly number[] = [401, 403, 404, 405, 501];

export class Announcements {
  readonly #options: AnnouncementsOptions;
  readonly #position = startPosition();
  #stopped = false;
  #sent: Sent | undefined;
  #wake: (() => void) | undefined;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#sent?.abort(new HubError("Cancelled", "The stream is not needed any more"));
    this.#wake?.();
  }

  async #run(): Promise<void> {
    let wasOpen = false;
    let failures = 0;
    for (;;) {
      const { status } = await this.#get();
      if (this.#stopped) return;
      if (status === 200) {
        wasOpen = true;
        failures = 0;
      } else {
        failures++;
        if (status !== undefined && NONE.includes(status) && !(wasOpen && status === 404)) return;
        // What is not kept any more cannot be asked for again.
        if (status !== undefined && status < 500) this.#position.lastEventId = undefined;
      }
      const isForgotten = status === 404 || (status === undefined && (await this.#hasMoved()));
      if (isForgotten && (await this.#isMended())) return;
      await this.#pause(failures === 0 ? this.#position.retryMs : pauseAfter(failures));
      if (this.#stopped) return;
    }
  }

  async #hasMoved(): Promise<boolean> {
    // Nowhere is not elsewhere: it is asked for again later.
    return (await this.#options.endpoint.find().catch(() => "same")) === "moved";
  }

  async #isMended(): Promise<boolean> {
    return this.#options.onForgotten().then(
      () => true,
      () => false, // the next round tries again
    );
  }

  #get(): Promise<End> {
    const { endpoint, fields } = this.#options;
    const onMessage = (bytes: Buffer) => this.#options.onMessage(bytes);
    const position = this.#position;
    const from = position.lastEventId === undefined ? "" : `last-event-id: ${position.lastEventId}\r\n`;
    return new Promise((resolve) => {
      let body: MessageBody | undefined;
      let status: number | undefined;
      const done = () => resolve({ status });
      const onOverflow = () => this.#sent?.abort(new HubError("ProtocolError", "A message is too large"));
      this.#sent = endpoint.dispatch(
        { method: "GET", fields: `accept: text/event-stream\r\n${fields}${from}` },
        {
          onHead: (code, headers) => {
            status = code;
            const reader = { inSession: false, position, onOverflow, onMessage };
            if (code === 200) body = messageBody(code, headers, reader);
          },
          onBody: (chunk) => body?.push(chunk),
          onEnd: done,
          onError: done,
        },
      );
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
}
