// One request to a server that waits for its reply, with its timeout. The object itself listens to its caller's cancellation:
// a closure would keep the whole call alive after its end.

import type { Cancellation } from "../../lib/cancellation.ts";
import type { NotificationMessage, Reply, RequestMessage } from "../rpc/jsonrpc.ts";

export interface RequestOptions {
  /** Without a reply or progress for this long, the request fails. 0: no limit (a subscription). */
  readonly timeoutMs: number;
  /** Progress restarts the timeout, but never beyond this. */
  readonly maxTotalMs?: number;
  readonly signal?: Cancellation | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Key of the caller; undefined if unknown. stdio messages carry no request id: if all open requests belong to one caller, the
   * owner of a message is guessed by activity; if not, it is not guessed.
   */
  caller?(): string | undefined;
  /** The caller is one client, so a server request that may belong to any of its requests can be sent on each of them. */
  readonly isOneClient?: boolean | undefined;
  /** The task whose result it waits for: a server request that names the task belongs to this request. */
  readonly task?: string | undefined;
  /** Messages that belong to this request: progress, logs, updates of a subscription. */
  onNotification?(message: NotificationMessage): void;
  /** A server request that belongs to this request. The timeout is paused until it is answered. */
  readonly onRequest?: (message: RequestMessage, request: OpenServerRequest) => Promise<Reply>;
}

/** A request of the server to its client, while it is open. */
export interface OpenServerRequest {
  /** Aborts when the server no longer wants a reply. */
  readonly signal: AbortSignal;
  /** Cancels the request that the server request belongs to. */
  readonly cancelOwner: () => void;
  /** It arrived on the stream of its request. */
  readonly hasOwnStream: boolean;
}

/** Ends a pending request on its own behalf: by its signal or its timeout. */
export interface PendingRequestOwner {
  cancel(request: PendingRequest): void;
  timeOut(request: PendingRequest, limitMs: number): void;
}

const MAX_TOTAL_MS = 300_000;
/** A timer that fires this late means that the process was stopped, or the machine asleep. */
const LATE_MS = 1000;
const GRACE_MS = 500;

export class PendingRequest {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
  /** Server requests that belong to it and are being answered; the timeout is paused until then. */
  openServerRequests = 0;
  pausedAt = 0;
  /** Resolves when `notifications/cancelled` has reached the server. */
  cancelSent: Promise<void> | undefined = undefined;
  readonly #owner: PendingRequestOwner;
  /** Moves on by the time that the timeout was paused. */
  #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined = undefined;
  #isSettled = false;

  constructor(
    id: number,
    method: string,
    options: RequestOptions,
    settle: Pick<PendingRequest, "resolve" | "reject"> & { readonly owner: PendingRequestOwner },
  ) {
    this.id = id;
    this.method = method;
    this.options = options;
    this.resolve = settle.resolve;
    this.reject = settle.reject;
    this.#owner = settle.owner;
  }

  get caller(): string | undefined {
    return this.options.caller?.();
  }

  /** Starts the timeout and listens to the caller's signal. */
  start(): void {
    this.restartTimer();
    this.options.signal?.addEventListener("abort", this, { once: true });
  }

  /** Stops both. */
  settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.options.signal?.removeEventListener("abort", this);
  }

  /** The caller's signal aborts. */
  handleEvent(): void {
    this.#owner.cancel(this);
  }

  pauseTimer(): void {
    if (this.openServerRequests++ > 0) return;
    clearTimeout(this.#timer);
    this.pausedAt = performance.now();
  }

  resumeTimer(): void {
    if (--this.openServerRequests > 0) return;
    this.#startedAt += performance.now() - this.pausedAt;
    if (!this.#isSettled) this.restartTimer();
  }

  restartTimer(): void {
    if (this.openServerRequests > 0) return;
    clearTimeout(this.#timer);
    const { timeoutMs, maxTotalMs = Math.max(MAX_TOTAL_MS, timeoutMs) } = this.options;
    if (timeoutMs === 0) return;
    const leftMs = Math.max(0, maxTotalMs - (performance.now() - this.#startedAt));
    const limitMs = leftMs < timeoutMs ? maxTotalMs : timeoutMs;
    const dueAt = performance.now() + Math.min(timeoutMs, leftMs);
    this.#timer = setTimeout(
      () => {
        // The whole hub was stalled: the reply may be waiting to be read.
        if (performance.now() - dueAt > LATE_MS) {
          this.#timer = setTimeout(() => this.#owner.timeOut(this, limitMs), GRACE_MS);
          return;
        }
        this.#owner.timeOut(this, limitMs);
      },
      Math.min(timeoutMs, leftMs),
    );
  }
}
