// One request to a server that waits for its answer. It listens to its caller's cancellation itself: a closure for that would
// keep all that the call is made of beyond its time.

import type { Reply } from "./jsonrpc.ts";
import type { RequestOptions } from "./peer.ts";

export class Pending {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  /** Moves on by the time that the clock stood still. */
  startedAt = performance.now();
  timer: NodeJS.Timeout | undefined = undefined;
  /** Questions of the server that are being answered, and since when: the clock stands still. */
  questions = 0;
  stoppedAt = 0;
  /** That nobody waits any more is on its way to the server. */
  cancelling: Promise<void> | undefined = undefined;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
  readonly #cancel: (pending: Pending) => void;

  constructor(
    id: number,
    method: string,
    options: RequestOptions,
    settle: Pick<Pending, "resolve" | "reject"> & { readonly cancel: (pending: Pending) => void },
  ) {
    this.id = id;
    this.method = method;
    this.options = options;
    this.resolve = settle.resolve;
    this.reject = settle.reject;
    this.#cancel = settle.cancel;
  }

  /** The caller cancels: it is its own listener. */
  handleEvent(): void {
    this.#cancel(this);
  }
}
