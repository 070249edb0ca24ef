// Whether somebody still wants an answer: what every request carries. An AbortSignal says the same, and may stand in for one;
// but making one costs more than all else that the hub does for a small call, so that requests have this instead.

/** Who hears of it: as with an EventTarget, a function or an object that has one. */
export type CancelListener = (() => void) | { handleEvent(): void };

/** What is asked of a signal. An AbortSignal is one. */
export interface Cancellation {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: CancelListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: CancelListener): void;
}

/** Signal and controller in one. Listeners hear of it once, in the order in which they came. */
export class Cancellable implements Cancellation {
  aborted = false;
  /** Nearly always one: the connection that the request went out on. */
  #listener: CancelListener | undefined;
  #more: CancelListener[] | undefined;

  addEventListener(_type: "abort", listener: CancelListener): void {
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#more ??= []).push(listener);
  }

  removeEventListener(_type: "abort", listener: CancelListener): void {
    if (this.#listener === listener) this.#listener = this.#more?.shift();
    else if (this.#more !== undefined) this.#more = this.#more.filter((other) => other !== listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const listeners = [this.#listener, ...(this.#more ?? [])];
    this.#listener = this.#more = undefined;
    for (const listener of listeners) {
      if (typeof listener === "function") listener();
      else listener?.handleEvent();
    }
  }
}

/** For what takes nothing else: timers, sockets, `AbortSignal.any`. */
export function toAbortSignal(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  const controller = new AbortController();
  if (cancellation.aborted) controller.abort();
  else cancellation.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}
