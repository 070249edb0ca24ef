// A message with the same key is sent once, on networks that do not see to it themselves. It is remembered in memory, for the
// last thousand: a repeat after a restart is the network's to refuse.

import { ChatError } from "../errors.ts";

const MAX_KEYS = 1000;

export interface Sent {
  readonly id: string;
  readonly at: number;
}

export class SentOnce {
  readonly #sent = new Map<string, Promise<Sent>>();

  /** A repeat gets the first one's answer. One that was certainly not sent may be tried again. */
  send(key: string, send: () => Promise<Sent>): Promise<Sent> {
    const known = this.#sent.get(key);
    if (known !== undefined) return known;
    const sent = send().catch((error: unknown) => {
      if (!isUncertain(error)) this.#sent.delete(key);
      throw error;
    });
    this.#sent.set(key, sent);
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_KEYS && oldest !== undefined) this.#sent.delete(oldest);
    return sent;
  }
}

/** It went out, and no answer came: whether it arrived is not known, so it is not sent again. */
function isUncertain(error: unknown): boolean {
  return error instanceof ChatError && error.code === "TIMEOUT";
}
