// Resource subscriptions at a server where each caller has credentials of its own. Those of a caller live on the connection with
// that caller's credentials, which stays open for them. One that is lost is opened again; one whose credentials have ended, when
// there are new ones.

import { toHubError } from "../../errors.ts";
import type { RawParams } from "../../protocol/rpc/jsonrpc.ts";
import type { Source } from "../connection/resource-subscription.ts";
import {
  UpstreamSubscriptions,
  type OnUpdate,
  type Watch,
  type WatchBudget,
} from "../connection/upstream-subscriptions.ts";
import { isAuthError } from "../resilience/auth-errors.ts";
import { instanceKey, type Caller } from "./caller.ts";
import type { HeldConnection } from "./instance.ts";

/** Opens the caller's own connection, or finds it. Rejects with the reason if there is none. */
type Hold = (caller: Caller) => Promise<HeldConnection>;

const REOPEN_MS = [0, 1000, 2000, 5000, 10_000, 30_000] as const;
/** A connection that lasted so long has not failed to open. */
const STABLE_MS = 60_000;

export class PersonalSubscriptions {
  readonly #budget: WatchBudget;
  readonly #byKey = new Map<string, CallerSubscriptions>();
  #hold: Hold | undefined;

  constructor(budget: WatchBudget) {
    this.#budget = budget;
  }

  /** From now on this server has the connections. Those of its predecessor end with it. */
  moveTo(hold: Hold): void {
    this.#hold = hold;
  }

  add(caller: Caller, uri: string, onUpdate: OnUpdate): Watch {
    const key = instanceKey(caller, "per-principal");
    const own = this.#byKey.get(key) ?? this.#create(key, caller);
    const watch = own.add(uri, onUpdate);
    this.#byKey.set(key, own);
    return watch;
  }

  /** A resource changed, as the caller of this connection sees it. */
  updated(source: Source, params: RawParams | undefined): void {
    for (const own of this.#byKey.values()) own.subscriptions.updated(source, params);
  }

  /** Notifications may have been lost. */
  gap(source: Source): void {
    for (const own of this.#byKey.values()) own.subscriptions.gap(source);
  }

  /** The server runs again, or there are new credentials: whatever is not connected tries again. */
  retry(): void {
    for (const own of this.#byKey.values()) own.retry();
  }

  #create(key: string, caller: Caller): CallerSubscriptions {
    return new CallerSubscriptions({
      subscriptions: new UpstreamSubscriptions(this.#budget),
      hold: async () => {
        if (this.#hold === undefined) throw new Error("No server has these subscriptions");
        return this.#hold(caller);
      },
      onGone: () => this.#byKey.delete(key),
    });
  }
}

interface CallerOptions {
  readonly subscriptions: UpstreamSubscriptions;
  hold(): Promise<HeldConnection>;
  /** Nothing is subscribed or connected any more. */
  onGone(): void;
}

class CallerSubscriptions {
  readonly subscriptions: UpstreamSubscriptions;
  readonly #options: CallerOptions;
  /** Kept until the connection ends, so that what is being unsubscribed is not subscribed again before that. */
  #source: Source | undefined;
  #held: HeldConnection | undefined;
  #opening: Promise<void> | undefined;
  #openedAt = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CallerOptions) {
    this.subscriptions = options.subscriptions;
    this.#options = options;
  }

  add(uri: string, onUpdate: OnUpdate): Watch {
    const { opened, release } = this.subscriptions.add(uri, onUpdate);
    return {
      opened: async () => {
        await this.#connect();
        return opened();
      },
      release: () => {
        release();
        if (this.#isUnused) this.#rest();
      },
    };
  }

  retry(): void {
    if (this.#isUnused || this.#source !== undefined) return;
    this.#failures = 0;
    this.#reopen();
  }

  get #isUnused(): boolean {
    return this.subscriptions.size === 0;
  }

  #connect(): Promise<void> {
    if (this.#held !== undefined) return Promise.resolve();
    clearTimeout(this.#timer);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const held = await this.#options.hold();
    if (this.#isUnused) return held.release();
    this.#held = held;
    const { upstream, ended } = held;
    if (this.#source === upstream) return;
    this.#source = upstream;
    this.#openedAt = performance.now();
    if (ended.aborted) return this.#lost(upstream);
    ended.addEventListener("abort", () => this.#lost(upstream), { once: true });
    this.subscriptions.attach(upstream, () => undefined);
  }

  #reopen(): void {
    void this.#connect().catch((thrown: unknown) => {
      // Without credentials nothing helps but new ones.
      if (!isAuthError(toHubError(thrown))) this.#reopenLater();
    });
  }

  #reopenLater(): void {
    if (this.#isUnused) return;
    const delayMs = REOPEN_MS[Math.min(this.#failures++, REOPEN_MS.length - 1)];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#reopen(), delayMs).unref();
  }

  #lost(source: Source): void {
    if (this.#source !== source) return;
    this.#source = undefined;
    this.subscriptions.detach(source);
    this.#rest();
    if (performance.now() - this.#openedAt > STABLE_MS) this.#failures = 0;
    this.#reopenLater();
  }

  /** The connection may end when it is idle. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#held?.release();
    this.#held = undefined;
    if (this.#isUnused && this.#source === undefined) this.#options.onGone();
  }
}
