// One process or connection of a server that serves one caller: opened by its first request, ended when it has been idle for a
// while. It is not restarted: the next request of its caller opens a new one.

import { HubError, toHubError } from "../../errors.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { PooledInstance } from "./instance-pool.ts";
import type { ForwardRequest, Upstream } from "../connection/upstream.ts";

export interface InstanceOptions {
  /** Whose credentials it uses, if callers have credentials of their own. */
  readonly principal?: string | undefined;
  open(signal: AbortSignal): Promise<Upstream>;
  idleMs(): number;
  /** After this many timeouts in a row it counts as hung and is ended. */
  maxTimeouts(): number;
  /** The server's own time limit. A timeout counts only if the request had that much time. */
  requestMs(): number;
  /** Called once, when it accepts no more requests. `gone` resolves when it has ended completely. */
  onEnd(gone: Promise<void>): void;
}

/** A connection that stays open until it is released, also without requests. */
export interface HeldConnection {
  readonly upstream: Upstream;
  /** Aborts when it ends by itself. */
  readonly ended: AbortSignal;
  release(): void;
}

export class Instance implements PooledInstance {
  /** Wall clock. */
  readonly since = Date.now();
  readonly #options: InstanceOptions;
  readonly #abort = new AbortController();
  #opening: Promise<Upstream> | undefined;
  #upstream: Upstream | undefined;
  #inFlight = 0;
  #holds = 0;
  /** Open requests during which the server may send requests to the client. */
  #mayCallBack = 0;
  #idleSince: number | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #timeouts = 0;
  #failure: HubError | undefined;
  #gone: Promise<void> | undefined;

  constructor(options: InstanceOptions) {
    this.#options = options;
  }

  get principal(): string | undefined {
    return this.#options.principal;
  }

  get pid(): number | undefined {
    return this.#upstream?.pid;
  }

  get idleSince(): number | undefined {
    return this.#idleSince;
  }

  /** Whether a request can be added without making it unclear which client a request of the server is for. */
  isFree({ mayCallBack }: { readonly mayCallBack: boolean }): boolean {
    if (this.#gone !== undefined || (mayCallBack ? this.#inFlight : this.#mayCallBack) > 0) return false;
    // Its callers have no session, so they may be different ones: a cancelled call may still send requests.
    return !mayCallBack || this.#upstream?.isContested(undefined) !== true;
  }

  async forward(
    request: ForwardRequest,
    limitMs: number,
    { mayCallBack = true }: { readonly mayCallBack?: boolean } = {},
  ): Promise<Reply> {
    if (mayCallBack) this.#mayCallBack++;
    this.#inFlight++;
    this.#idleSince = undefined;
    try {
      const upstream =
        this.#upstream ?? (await waitForStart((this.#opening ??= this.#open()), request.signal, limitMs));
      const reply = await upstream.forward(request);
      this.#timeouts = 0;
      return reply;
    } catch (thrown) {
      if (toHubError(thrown).kind === "Timeout") this.#timedOut(request);
      throw thrown;
    } finally {
      if (mayCallBack) this.#mayCallBack--;
      this.#inFlight--;
      this.#becomeIdle();
    }
  }

  /** Keeps it open until that is released. Rejects with the reason if it cannot be opened. */
  async hold(): Promise<HeldConnection> {
    this.#holds++;
    this.#idleSince = undefined;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds--;
      this.#becomeIdle();
    };
    try {
      return { upstream: await (this.#opening ??= this.#open()), ended: this.#abort.signal, release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  #timedOut({ timeoutMs }: ForwardRequest): void {
    if (timeoutMs !== undefined && timeoutMs < this.#options.requestMs()) return;
    if (++this.#timeouts >= this.#options.maxTimeouts()) void this.end();
  }

  /** Why it could not be opened. */
  get failure(): HubError | undefined {
    return this.#failure;
  }

  /** Opens it before its first request. Resolves to whether that worked. */
  async opened(): Promise<boolean> {
    try {
      await (this.#opening ??= this.#open());
      this.#becomeIdle();
      return true;
    } catch {
      return false; // its first request fails with the reason
    }
  }

  async setLogLevel(level: string): Promise<void> {
    await this.#upstream?.setLogLevel(level);
  }

  /** Resolves when open requests are answered, or after the time limit; includes requests that wait for its start. */
  async drain(limitMs: number): Promise<void> {
    if (this.#opening === undefined) return;
    const upstream = await waitForStart(this.#opening, undefined, limitMs).catch(() => undefined); // its caller gets the reason
    await upstream?.drain(limitMs);
  }

  end(): Promise<void> {
    if (this.#gone === undefined) {
      this.#gone = this.#close();
      this.#options.onEnd(this.#gone);
    }
    return this.#gone;
  }

  async #open(): Promise<Upstream> {
    try {
      const upstream = await this.#options.open(this.#abort.signal);
      this.#upstream = upstream;
      void upstream.lost.then(() => this.end());
      return upstream;
    } catch (thrown) {
      this.#failure = toHubError(thrown);
      void this.end();
      throw thrown;
    }
  }

  async #close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#idleSince = undefined;
    this.#abort.abort(new HubError("ServerNotRunning", "Server unavailable", { detail: "It is being stopped" }));
    const upstream = await this.#opening?.catch(() => undefined); // its caller gets the reason
    await upstream?.close().catch(() => undefined); // nothing can be done about it
  }

  #becomeIdle(): void {
    if (this.#gone !== undefined || this.#inFlight > 0 || this.#holds > 0) return;
    this.#idleSince = performance.now();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#idleSince !== undefined) void this.end();
    }, this.#options.idleMs()).unref();
  }
}

/** Waits for a start on behalf of a caller, no longer than the caller does. The start itself continues. */
export function waitForStart<T>(start: Promise<T>, signal: Cancellation | undefined, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      leave();
      reject(new HubError("Cancelled", "Cancelled by the caller"));
    };
    const timer = setTimeout(() => {
      leave();
      reject(new HubError("ServerStarting", `The server is still starting after ${Math.round(limitMs)} ms`));
    }, limitMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    start.then(resolve, reject).finally(leave);
    if (signal?.aborted === true) onAbort();
  });
}
