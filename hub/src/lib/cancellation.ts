// A cheap signal for the cancellation of a request. An AbortSignal can be used in its place, but creating one costs more CPU time than
// everything else that the hub does for a small call.

/** A listener, in both forms of EventTarget. */
export type CancelListener = (() => void) | { handleEvent(): void };

/** The part of AbortSignal that the hub uses. */
export interface Cancellation {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: CancelListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: CancelListener): void;
}

/** Signal and controller in one. Calls each listener once, in the order of registration. */
export class Cancellable implements Cancellation {
  aborted = false;
  /** It was not the caller who cancelled: the caller still waits for a reply. */
  isOverruled = false;
  /** Requests rarely have more than one listener: the connection to the server. */
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

  /** Cancels on behalf of another than the caller. */
  overrule(): void {
    if (this.aborted) return;
    this.isOverruled = true;
    this.abort();
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

/** A signal that follows another one, and that can be cancelled by itself. */
export function follow(cancellation: Cancellation | undefined): Cancellable {
  const own = new Cancellable();
  if (cancellation?.aborted === true) own.abort();
  else cancellation?.addEventListener("abort", () => own.abort(), { once: true });
  return own;
}

/** For APIs that need a real AbortSignal: timers, sockets, `AbortSignal.any`. */
export function toAbortSignal(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  const controller = new AbortController();
  if (cancellation.aborted) controller.abort();
  else cancellation.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}
