// The instances of one server whose callers do not share one: who has which, how many there may be, and their end.

import type { Isolation } from "../config/types.ts";
import { HubError } from "../errors.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import { instanceKey, sessionKey, type Caller } from "./caller.ts";
import { Instance, type InstanceOptions } from "./instance.ts";
import { Places } from "./places.ts";
import type { InstanceRule } from "./resilience.ts";
import type { Ask, Upstream } from "./upstream.ts";

export interface InstancesOptions extends Pick<InstanceOptions, "maxSilence"> {
  readonly server: string;
  readonly isolation: Isolation;
  rule(): InstanceRule;
  /** Whether some that nobody has asked for yet may stand ready. */
  keepsSpares(): boolean;
  /** Those of all servers together. */
  readonly all: Places | undefined;
  /** `owner` stands for the one that is opened. */
  open(signal: AbortSignal, owner: object): Promise<Upstream>;
  /** Nothing is left of an instance. */
  onGone(owner: object): void;
}

/** A client that calls one tool after another, or a few at once, finds them ready; each is a process that waits. */
const MAX_SPARES = 3;

export class Instances {
  readonly #options: InstancesOptions;
  readonly #byKey = new Map<string, Instance>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #places: readonly Places[];
  /** For the next calls, where each has one of its own: they need not wait for a start. */
  readonly #spares = new Set<Instance>();
  /** One more with each call that found none ready, one less with each that nobody came for. */
  #wantedSpares = 0;
  #calls = 0;

  constructor(options: InstancesOptions) {
    this.#options = options;
    const { server, all } = options;
    const own = new Places(`Server "${server}"`, () => options.rule().max);
    this.#places = all === undefined ? [own] : [own, all];
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** In the order of their start. */
  get all(): readonly Instance[] {
    return [...this.#byKey.values(), ...this.#spares];
  }

  keyOf(caller: Caller): string {
    const { isolation } = this.#options;
    return isolation === "per-call" ? `call ${++this.#calls}` : instanceKey(caller, isolation);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Asks the instance of this key, which is opened where there is none. */
  async ask(key: string, ask: Ask, limitMs: number): Promise<Reply> {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known.ask(ask, limitMs);
    // Its session may have ended with it, and nobody would end what is opened for it now.
    if (ask.signal?.aborted === true) throw new HubError("Cancelled", "The caller no longer waits");
    if (this.#options.isolation === "per-call") return this.#askOnce(key, ask, limitMs);
    const instance = this.#create();
    this.#byKey.set(key, instance);
    return instance.ask(ask, limitMs);
  }

  async #askOnce(key: string, ask: Ask, limitMs: number): Promise<Reply> {
    const instance = this.#takeSpare() ?? this.#create();
    this.#byKey.set(key, instance);
    // Not before this one is up: they would only slow each other down, or fail for the same reason.
    void instance.opened().then((isOpen) => isOpen && this.#prepareSpares());
    return instance.ask(ask, limitMs).finally(() => void instance.end());
  }

  /** One that is ready, else one that will be before a new one would. */
  #takeSpare(): Instance | undefined {
    const spares = [...this.#spares];
    const ready = spares.find(({ idleSince }) => idleSince !== undefined);
    if (ready === undefined) this.#wantedSpares = Math.min(this.#wantedSpares + 1, MAX_SPARES);
    const spare = ready ?? spares[0];
    if (spare !== undefined) this.#spares.delete(spare);
    return spare;
  }

  /** Only where there is room for them: nobody has to go for one that may never be asked. */
  #prepareSpares(): void {
    while (this.#spares.size < this.#wantedSpares && this.#options.keepsSpares()) {
      if (!this.#places.every(({ hasRoom }) => hasRoom)) return;
      const spare = this.#create();
      this.#spares.add(spare);
      void spare.opened();
    }
  }

  sessionEnded(session: string): void {
    void this.#byKey.get(sessionKey(session))?.end();
  }

  /** Resolves when nothing of any of them is left. */
  async endAll(): Promise<void> {
    for (const instance of this.all) void instance.end();
    await Promise.all(this.#leaving);
  }

  async drain(limitMs: number): Promise<void> {
    for (const spare of this.#spares) void spare.end();
    await Promise.all(this.all.map((instance) => instance.drain(limitMs)));
  }

  async setLogLevel(level: string): Promise<void> {
    await Promise.all(this.all.map((instance) => instance.setLogLevel(level)));
  }

  #create(): Instance {
    const options = this.#options;
    const instance: Instance = new Instance({
      open: async (signal) => {
        await room;
        signal.throwIfAborted();
        return options.open(signal, instance);
      },
      idleMs: () => options.rule().idleMs,
      maxSilence: () => options.maxSilence(),
      onEnd: (gone) => this.#forget(instance, gone),
    });
    const room = this.#roomFor(instance);
    return instance;
  }

  /** Throws where there is none, else resolves when there is. */
  #roomFor(newcomer: Instance): Promise<unknown> {
    try {
      return Promise.all(this.#places.map((places) => places.take(newcomer)));
    } catch (error) {
      for (const places of this.#places) places.leave(newcomer, Promise.resolve());
      throw error;
    }
  }

  #forget(instance: Instance, gone: Promise<void>): void {
    if (this.#spares.delete(instance)) this.#wantedSpares = Math.max(0, this.#wantedSpares - 1);
    for (const [key, known] of this.#byKey) if (known === instance) this.#byKey.delete(key);
    for (const places of this.#places) places.leave(instance, gone);
    this.#leaving.add(gone);
    void gone.then(() => {
      this.#leaving.delete(gone);
      this.#options.onGone(instance);
    });
  }
}
