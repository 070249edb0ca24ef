// Idempotent sending for networks without idempotency keys. The last thousand keys are kept in memory only.

import { evictOldest } from "@plugboard/shared/evict";
import { ChatError } from "../errors.ts";

const MAX_KEYS = 1000;

export interface SentMessage {
  readonly id: string;
  readonly at: number;
}

export class IdempotentSender {
  readonly #sent = new Map<string, Promise<SentMessage>>();

  /** A repeated key gets the first result. A key that was certainly not sent may be retried. */
  send(key: string, send: () => Promise<SentMessage>): Promise<SentMessage> {
    const known = this.#sent.get(key);
    if (known !== undefined) return known;
    const sent = send().catch((error: unknown) => {
      if (!isUncertain(error)) this.#sent.delete(key);
      throw error;
    });
    this.#sent.set(key, sent);
    evictOldest(this.#sent, MAX_KEYS);
    return sent;
  }
}

/** Sent without a response: it may have arrived, so it is not sent again. */
function isUncertain(error: unknown): boolean {
  return error instanceof ChatError && error.code === "TIMEOUT";
}
