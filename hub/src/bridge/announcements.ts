// The one stream on which a legacy server speaks unasked: opened, and opened again as often as it ends, where it stopped.
// It is also how a bridge notices that its hub is gone, or back.

import { HubError } from "../errors.ts";
import type { Abort } from "../wire/http-connection.ts";
import type { Endpoint } from "./endpoint.ts";
import { MAX_MESSAGE_BYTES } from "./exchange.ts";
import { messageBody, startPosition, type MessageBody } from "./message-body.ts";

export interface AnnouncementsOptions {
  readonly endpoint: Endpoint;
  /** Those that name the session. */
  readonly headers: Readonly<Record<string, string>>;
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
  #abort: Abort | undefined;
  #wake: (() => void) | undefined;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#abort?.(new HubError("Cancelled", "The stream is not needed any more"));
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
    const { endpoint, headers, onMessage } = this.#options;
    const { lastEventId } = this.#position;
    const from: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return new Promise((resolve) => {
      let body: MessageBody | undefined;
      let status: number | undefined;
      const done = () => {
        this.#abort = undefined;
        resolve({ status });
      };
      endpoint.dispatch(
        { method: "GET", headers: { accept: "text/event-stream", ...headers, ...from } },
        {
          onStart: (abort) => {
            this.#abort = abort;
          },
          onResponse: (code, given, abort) => {
            status = code;
            const onOverflow = () => abort(new HubError("ProtocolError", "A message is too large"));
            const options = { maxBytes: MAX_MESSAGE_BYTES, position: this.#position, inSession: false, onOverflow };
            body = messageBody(code, given, { ...options, onMessage: code === 200 ? onMessage : () => undefined });
          },
          onData: (chunk) => body?.push(chunk),
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
