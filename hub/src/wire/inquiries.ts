// What a server is asking us just now: each question has a signal that aborts when the server takes it back, or when the
// request that it belongs to ends. Who answers is the caller's.

import { toHubError } from "../errors.ts";
import { failure, isId, RPC, type Id, type Reply } from "./jsonrpc.ts";

interface Inquiry {
  readonly controller: AbortController;
  /** The request of ours that the question belongs to. */
  readonly within: number;
  isTakenBack: boolean;
}

const MAX_OPEN = 100;

export class Inquiries {
  readonly #open = new Map<Id, Inquiry>();

  /** The answer to send, which may be that there is none. Undefined where the server does not want one any more. */
  async answer(id: Id, within: number, find: (signal: AbortSignal) => Promise<Reply>): Promise<Reply | undefined> {
    if (this.#open.has(id)) return failure({ code: RPC.invalidRequest, message: `Request id ${id} is still in use` });
    if (this.#open.size >= MAX_OPEN) {
      return failure({ code: RPC.internalError, message: `${MAX_OPEN} questions wait for their answer already` });
    }
    const inquiry: Inquiry = { controller: new AbortController(), within, isTakenBack: false };
    this.#open.set(id, inquiry);
    try {
      const reply = await find(inquiry.controller.signal);
      return inquiry.isTakenBack ? undefined : reply;
    } catch (thrown) {
      const { meaning, message } = toHubError(thrown);
      return inquiry.isTakenBack ? undefined : failure({ code: meaning.rpc, message });
    } finally {
      this.#open.delete(id);
    }
  }

  /** The server takes a question back. Whether there was such a one. */
  cancel(id: unknown): boolean {
    const inquiry = isId(id) ? this.#open.get(id) : undefined;
    if (inquiry === undefined) return false;
    inquiry.isTakenBack = true;
    inquiry.controller.abort();
    return true;
  }

  /** A request of ours has ended, and with it what was asked because of it. */
  endWithin(request: number): void {
    if (this.#open.size === 0) return;
    for (const { controller, within } of this.#open.values()) if (within === request) controller.abort();
  }
}
