// The open requests of a server to us. Each has a signal that aborts when the server cancels it, or when the request of ours that
// it belongs to ends. The caller finds the answers.

import { toHubError } from "../../errors.ts";
import { failure, isId, RPC, type Id, type Reply } from "../rpc/jsonrpc.ts";

interface OpenRequest {
  readonly controller: AbortController;
  /** The request of ours that it belongs to. */
  readonly parentId: number;
  isCancelled: boolean;
}

const MAX_OPEN = 100;

export class ServerRequests {
  readonly #open = new Map<Id, OpenRequest>();

  /** The reply to send, an error if `find` rejects. Undefined if the server cancelled its request. */
  async answer(id: Id, parentId: number, find: (signal: AbortSignal) => Promise<Reply>): Promise<Reply | undefined> {
    if (this.#open.has(id)) return failure({ code: RPC.invalidRequest, message: `Request id ${id} is still in use` });
    if (this.#open.size >= MAX_OPEN) {
      return failure({ code: RPC.internalError, message: `Too many open requests (${MAX_OPEN})` });
    }
    const request: OpenRequest = { controller: new AbortController(), parentId, isCancelled: false };
    this.#open.set(id, request);
    try {
      const reply = await find(request.controller.signal);
      return request.isCancelled ? undefined : reply;
    } catch (thrown) {
      const { meaning, message } = toHubError(thrown);
      return request.isCancelled ? undefined : failure({ code: meaning.rpc, message });
    } finally {
      this.#open.delete(id);
    }
  }

  /** The server cancels a request. Returns whether it was open. */
  cancel(id: unknown): boolean {
    const request = isId(id) ? this.#open.get(id) : undefined;
    if (request === undefined) return false;
    request.isCancelled = true;
    request.controller.abort();
    return true;
  }

  /** A request of ours has ended: aborts the server requests that belong to it. */
  abortWithin(request: number): void {
    if (this.#open.size === 0) return;
    for (const { controller, parentId: within } of this.#open.values()) if (within === request) controller.abort();
  }
}
