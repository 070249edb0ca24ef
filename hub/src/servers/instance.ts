// One process or connection of a server that one caller has for itself: opened by its first request, ended when nobody asks
// it any more. It is not started again: the next request of its caller gets a new one.

import { HubError, toHubError } from "../errors.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import type { Occupant } from "./places.ts";
import type { Ask, Upstream } from "./upstream.ts";
import { within } from "./within.ts";

export interface InstanceOptions {
  open(signal: AbortSignal): Promise<Upstream>;
  idleMs(): number;
  /** How many requests in a row may time out before it is taken for stuck. */
  maxSilence(): number;
  /** Called once, at once: it takes no more requests. `gone` resolves when nothing of it is left. */
  onEnd(gone: Promise<void>): void;
}

export class Instance implements Occupant {
  /** Wall clock, for people. */
  readonly since = Date.now();
  readonly #options: InstanceOptions;
  readonly #abort = new AbortController();
  #opening: Promise<Upstream> | undefined;
  #upstream: Upstream | undefined;
  #underWay = 0;
  /** Those under way in which the server may ask back. */
  #mayAsk = 0;
  #idleSince: number | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #silences = 0;
  #failure: HubError | undefined;
  #gone: Promise<void> | undefined;

  constructor(options: InstanceOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#upstream?.pid;
  }

  get idleSince(): number | undefined {
    return this.#idleSince;
  }

  /** Whether a request can come to it without making it unknown whose a question is. */
  isFree({ mayAsk }: { readonly mayAsk: boolean }): boolean {
    return this.#gone === undefined && (mayAsk ? this.#underWay : this.#mayAsk) === 0;
  }

  async ask(ask: Ask, limitMs: number, { mayAsk = true }: { readonly mayAsk?: boolean } = {}): Promise<Reply> {
    if (mayAsk) this.#mayAsk++;
    this.#underWay++;
    this.#idleSince = undefined;
    try {
      const upstream = this.#upstream ?? (await within((this.#opening ??= this.#open()), ask.signal, limitMs));
      const reply = await upstream.ask(ask);
      this.#silences = 0;
      return reply;
    } catch (thrown) {
      if (toHubError(thrown).kind === "Timeout" && ++this.#silences >= this.#options.maxSilence()) void this.end();
      throw thrown;
    } finally {
      if (mayAsk) this.#mayAsk--;
      this.#underWay--;
      if (this.#underWay === 0) this.#rest();
    }
  }

  /** Why it could not be opened. */
  get failure(): HubError | undefined {
    return this.#failure;
  }

  /** Opens it before anybody asks. Whether it is open; it rests until somebody does. */
  async opened(): Promise<boolean> {
    try {
      await (this.#opening ??= this.#open());
      if (this.#underWay === 0) this.#rest();
      return true;
    } catch {
      return false; // whoever asks is told why
    }
  }

  async setLogLevel(level: string): Promise<void> {
    await this.#upstream?.setLogLevel(level);
  }

  /** Resolves when what it was asked is answered, or has had its time; also what waits for its start. */
  async drain(limitMs: number): Promise<void> {
    if (this.#opening === undefined) return;
    const upstream = await within(this.#opening, undefined, limitMs).catch(() => undefined); // whoever asked has the reason
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
    this.#abort.abort(new HubError("ServerNotRunning", "Server unavailable", { detail: "It was being stopped" }));
    const upstream = await this.#opening?.catch(() => undefined); // whoever asked has the reason
    await upstream?.close().catch(() => undefined); // nothing can be done about it
  }

  #rest(): void {
    if (this.#gone !== undefined) return;
    this.#idleSince = performance.now();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#idleSince !== undefined) void this.end();
    }, this.#options.idleMs()).unref();
  }
}
