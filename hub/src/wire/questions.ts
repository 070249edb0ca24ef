// What one client is being asked: ids of our own, time-outs, and which answer belongs to which question. A client can
// only answer what it was asked itself. How a question reaches it is the transport's.

import { HubError } from "../errors.ts";
import type { Cancellation } from "./cancellation.ts";
import { writeNotification, writeRequest, type Id, type Raw, type Reply } from "./jsonrpc.ts";

/** A way to the client that may close. */
export interface ClientStream {
  send(message: Buffer): void;
  /** Calls back once, when it closes; the function that comes back ends the wait. */
  onceClosed(callback: () => void): () => void;
}

export interface AskOptions {
  /** The asker gives up. */
  readonly signal?: Cancellation;
  readonly timeoutMs?: number;
}

interface Asking extends AskOptions {
  /** None where the client holds none open: then nobody can be asked. */
  readonly stream: ClientStream | undefined;
  /** The client's own request that the question is part of. */
  readonly within?: Id;
}

interface Question {
  readonly within: Id | undefined;
  settle(): void;
  resolve(reply: Reply): void;
  reject(error: HubError): void;
}

/** A person reads, thinks, and may have to look something up. */
const ANSWER_MS = 600_000;
const MAX_OPEN = 100;

export class Questions {
  readonly #open = new Map<number, Question>();
  #nextId = 1;
  #unclaimed = 0;
  #ended = false;

  /** Answers to what was never asked, or is no longer. */
  get unclaimed(): number {
    return this.#unclaimed;
  }

  async ask(method: string, params: Raw | undefined, asking: Asking): Promise<Reply> {
    const { stream, within, signal, timeoutMs = ANSWER_MS } = asking;
    if (stream === undefined || this.#ended) throw gone(method);
    if (signal?.aborted === true) throw cancelled(method);
    if (this.#open.size >= MAX_OPEN) {
      throw new HubError("Overloaded", `The client has ${MAX_OPEN} questions to answer already`);
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const giveUp = (error: HubError, reason: string) => {
        if (!this.#take(id)) return;
        stream.send(
          writeNotification("notifications/cancelled", Buffer.from(JSON.stringify({ requestId: id, reason }))),
        );
        reject(error);
      };
      const onAbort = () => giveUp(cancelled(method), "The answer is no longer needed");
      const timer = setTimeout(() => {
        const error = new HubError("Timeout", `The client did not answer ${method} within ${timeoutMs} ms`);
        giveUp(error, "The answer took too long");
      }, timeoutMs);
      const forget = stream.onceClosed(() => {
        if (this.#take(id)) reject(gone(method));
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      const settle = () => {
        clearTimeout(timer);
        forget();
        signal?.removeEventListener("abort", onAbort);
      };
      this.#open.set(id, { within, settle, resolve, reject });
      stream.send(writeRequest(id, method, params?.bytes));
    });
  }

  answer(id: Id, reply: Reply): void {
    const question = typeof id === "number" ? this.#take(id) : undefined;
    if (question === undefined) this.#unclaimed++;
    else question.resolve(reply);
  }

  /** The client's request has its answer: nobody waits for what was asked as part of it. */
  endWithin(request: Id): void {
    if (this.#open.size === 0) return;
    for (const [id, { within }] of this.#open) {
      if (within === request) this.#take(id)?.reject(new HubError("Cancelled", "The request has ended meanwhile"));
    }
  }

  /** The client is gone. */
  end(): void {
    this.#ended = true;
    for (const id of this.#open.keys()) this.#take(id)?.reject(new HubError("Cancelled", "The client has left"));
  }

  /** Removes a question. Whoever gets it settles it, so it is settled once. */
  #take(id: number): Question | undefined {
    const question = this.#open.get(id);
    this.#open.delete(id);
    question?.settle();
    return question;
  }
}

function gone(method: string): HubError {
  return new HubError("ConnectionFailed", `The client cannot be asked ${method}: it holds no stream open`);
}

function cancelled(method: string): HubError {
  return new HubError("Cancelled", `${method} is no longer asked`);
}
