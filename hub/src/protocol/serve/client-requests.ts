// The open requests of the hub to one client: ids, timeouts, and matching of replies. A client can only reply to requests that were
// sent to itself. The transport delivers them.

import { HubError } from "../../errors.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { writeNotification, writeRequest, type Id, type Raw, type Reply } from "../rpc/jsonrpc.ts";

/** A stream to the client. */
export interface ClientStream {
  send(message: Buffer): void;
  /** Calls back once, when it closes. Returns a function that removes the callback. */
  onceClosed(callback: () => void): () => void;
}

export interface AskOptions {
  /** Aborts when the reply is no longer needed. */
  readonly signal?: Cancellation;
  readonly timeoutMs?: number;
}

interface SendOptions extends AskOptions {
  /** Undefined if the client has no open stream: it cannot receive requests then. */
  readonly stream: ClientStream | undefined;
  /** The client's own request that it belongs to. */
  readonly parentId?: Id;
}

interface PendingClientRequest {
  readonly parentId: Id | undefined;
  cleanUp(): void;
  resolve(reply: Reply): void;
  reject(error: HubError): void;
}

/** Users may have to look something up. */
export const REPLY_TIMEOUT_MS = 600_000;
const MAX_OPEN = 100;

export class ClientRequests {
  readonly #open = new Map<number, PendingClientRequest>();
  #nextId = 1;
  #unclaimed = 0;
  #ended = false;

  /** Replies that match no open request. */
  get unclaimed(): number {
    return this.#unclaimed;
  }

  async ask(method: string, params: Raw | undefined, options: SendOptions): Promise<Reply> {
    const { stream, parentId, signal, timeoutMs = REPLY_TIMEOUT_MS } = options;
    if (stream === undefined || this.#ended) throw unreachable(method);
    if (signal?.aborted === true) throw cancelled(method);
    if (this.#open.size >= MAX_OPEN) {
      throw new HubError("Overloaded", `The client has ${MAX_OPEN} open requests already`);
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const abandon = (error: HubError, reason: string) => {
        if (!this.#take(id)) return;
        stream.send(
          writeNotification("notifications/cancelled", Buffer.from(JSON.stringify({ requestId: id, reason }))),
        );
        reject(error);
      };
      const onAbort = () => abandon(cancelled(method), "The reply is no longer needed");
      const timer = setTimeout(() => {
        const error = new HubError("Timeout", `The client did not answer ${method} within ${timeoutMs} ms`);
        abandon(error, "The request timed out");
      }, timeoutMs);
      const removeCallback = stream.onceClosed(() => {
        if (this.#take(id)) reject(unreachable(method));
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      const cleanUp = () => {
        clearTimeout(timer);
        removeCallback();
        signal?.removeEventListener("abort", onAbort);
      };
      this.#open.set(id, { parentId, cleanUp, resolve, reject });
      stream.send(writeRequest(id, method, params?.bytes));
    });
  }

  answer(id: Id, reply: Reply): void {
    const request = typeof id === "number" ? this.#take(id) : undefined;
    if (request === undefined) this.#unclaimed++;
    else request.resolve(reply);
  }

  /** The client's own request has ended: the requests that belong to it are no longer needed. */
  endWithin(request: Id): void {
    if (this.#open.size === 0) return;
    for (const [id, { parentId: within }] of this.#open) {
      if (within === request) this.#take(id)?.reject(new HubError("Cancelled", "The client's request has ended"));
    }
  }

  /** The client has disconnected. */
  end(): void {
    this.#ended = true;
    for (const id of this.#open.keys())
      this.#take(id)?.reject(new HubError("Cancelled", "The client has disconnected"));
  }

  /** Removes a request. The caller that gets it settles it, so it is settled once. */
  #take(id: number): PendingClientRequest | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    request?.cleanUp();
    return request;
  }
}

function unreachable(method: string): HubError {
  return new HubError("ConnectionFailed", `Cannot send ${method} to the client: it has no stream open`);
}

function cancelled(method: string): HubError {
  return new HubError("Cancelled", `${method} was cancelled`);
}
