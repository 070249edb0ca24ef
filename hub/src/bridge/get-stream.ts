// The GET stream of a legacy session, on which the server sends unsolicited messages. Reopened whenever it ends, from the last
// event. Its end also shows the bridge that the hub has stopped or restarted.

import { HubError } from "../errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Headers, PendingRequest } from "./http-client.ts";
import { messageBody, startPosition, type MessageBody } from "./message-body.ts";

export interface GetStreamOptions {
  readonly endpoint: Endpoint;
  /** The headers that name the session. */
  readonly headers: Headers;
  readonly onMessage: (bytes: Buffer) => void;
  /** The endpoint no longer knows the session, or is another one. Rejects if no new session could be opened yet. */
  onSessionLost(): Promise<void>;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 10_000;
/** The server has no such stream, or not for us. */
const UNAVAILABLE: readonly number[] = [401, 403, 404, 405, 501];

export class GetStream {
  readonly #options: GetStreamOptions;
  readonly #position = startPosition();
  #isStopped = false;
  #pending: PendingRequest | undefined;
  #wake: (() => void) | undefined;

  constructor(options: GetStreamOptions) {
    this.#options = options;
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pending?.abort(new HubError("Cancelled", "The stream is not needed any more"));
    this.#wake?.();
  }

  async #run(): Promise<void> {
    let wasOpen = false;
    let failures = 0;
    for (;;) {
      const status = await this.#get();
      if (this.#isStopped) return;
      if (status === 200) {
        wasOpen = true;
        failures = 0;
      } else {
        failures++;
        if (status !== undefined && UNAVAILABLE.includes(status) && !(wasOpen && status === 404)) return;
        // The server refuses this event id: start again without one.
        if (status !== undefined && status < 500) this.#position.lastEventId = undefined;
      }
      const isLost = status === 404 || (status === undefined && (await this.#hasMoved()));
      if (isLost && (await this.#isReplaced())) return;
      await this.#sleep(failures === 0 ? this.#position.retryMs : backoff(failures));
      if (this.#isStopped) return;
    }
  }

  async #hasMoved(): Promise<boolean> {
    // An endpoint that cannot be found has not moved: the next round looks again.
    return (await this.#options.endpoint.relocate().catch(() => "same")) === "moved";
  }

  async #isReplaced(): Promise<boolean> {
    return this.#options.onSessionLost().then(
      () => true,
      () => false, // the next round tries again
    );
  }

  /** Reads one response to its end. Gives its status, or undefined if there was no response. */
  #get(): Promise<number | undefined> {
    const { endpoint, headers, onMessage } = this.#options;
    const position = this.#position;
    const from = position.lastEventId === undefined ? {} : { "last-event-id": position.lastEventId };
    return new Promise((resolve) => {
      let body: MessageBody | undefined;
      let status: number | undefined;
      const done = () => resolve(status);
      const onOverflow = () => this.#pending?.abort(new HubError("ProtocolError", "A message is too large"));
      this.#pending = endpoint.send(
        { method: "GET", headers: { accept: "text/event-stream", ...headers, ...from } },
        {
          onHead: (code, received) => {
            status = code;
            if (code !== 200) return;
            body = messageBody(code, received, { inSession: false, position, onOverflow, onMessage });
          },
          onBody: (chunk) => body?.push(chunk),
          onEnd: done,
          onError: done,
        },
      );
    });
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function backoff(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS);
}
