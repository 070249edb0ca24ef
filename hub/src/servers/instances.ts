// The instances of one server whose callers do not share one: who has which, how many there may be, and their end.

import { HubError, toHubError } from "../errors.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import { sessionKey, type Caller } from "./caller.ts";
import { Instance, type InstanceOptions } from "./instance.ts";
import { Places } from "./places.ts";
import type { InstanceRule } from "./resilience.ts";
import type { Ask, Upstream } from "./upstream.ts";

export interface InstancesOptions extends Pick<InstanceOptions, "maxSilence"> {
  readonly server: string;
  rule(): InstanceRule;
  /** Whether some that nobody has asked for yet may stand ready. */
  keepsSpares(): boolean;
  /** Those of all servers together. */
  readonly all: Places | undefined;
  /** `owner` stands for the one that is opened. */
  open(signal: AbortSignal, owner: object, opening: Opening): Promise<Upstream>;
  /** Nothing is left of an instance. */
  onGone(owner: object): void;
}

/** What a new instance is for. */
export interface Opening {
  /** It must speak the legacy era, whatever else its server knows. */
  readonly legacyOnly?: boolean;
  /** The only client that will use it, where that is so. */
  readonly client?: Caller;
}

interface InstanceAsk extends Opening {
  readonly limitMs: number;
  /** Whether the server may ask back in the course of it, as far as is known. */
  readonly mayAsk?: boolean;
}

/** Another answer where an instance could not be opened, if there is one. */
type Otherwise = (failed: HubError) => Promise<Reply> | undefined;

function noLongerWaits(): HubError {
  return new HubError("Cancelled", "The caller no longer waits");
}

/** A client that calls one tool after another, or a few at once, finds them ready; each is a process that waits. */
const MAX_SPARES = 3;

export class Instances {
  readonly #options: InstancesOptions;
  readonly #byKey = new Map<string, Instance>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #places: readonly Places[];
  /** For the next calls, where each has one of its own: they need not wait for a start. */
  readonly #spares = new Map<Instance, Opening>();
  #calls = 0;
  /** One more with each call that found none ready, one less with each that nobody came for. */
  #wantedSpares = 0;

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
    return [...this.#byKey.values(), ...this.#spares.keys()];
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Whether whoever asks the instance of this key is alone there, as far as questions go. */
  isFree(key: string, request: { readonly mayAsk: boolean }): boolean {
    return this.#byKey.get(key)?.isFree(request) ?? true;
  }

  /** Asks the instance of this key, which is opened where there is none. `otherwise` may know better where that fails. */
  async ask(key: string, ask: Ask, asking: InstanceAsk, otherwise: Otherwise): Promise<Reply> {
    const { limitMs, mayAsk = true, ...opening } = asking;
    const known = this.#byKey.get(key);
    // Its session may have ended with it, and nobody would end what is opened for it now.
    if (known === undefined && ask.signal?.aborted === true) throw noLongerWaits();
    return this.#attempt(
      () => known ?? this.#add(key, this.#create(opening)),
      otherwise,
      (instance) => instance.ask(ask, limitMs, { mayAsk }),
    );
  }

  /** Asks one that is there for this request alone. */
  async askOnce(ask: Ask, { limitMs, ...opening }: InstanceAsk, otherwise: Otherwise): Promise<Reply> {
    if (ask.signal?.aborted === true) throw noLongerWaits();
    const find = () => this.#add(`call ${++this.#calls}`, this.#takeSpare(opening) ?? this.#create(opening));
    return this.#attempt(find, otherwise, (instance) => {
      // Not before this one is up: they would only slow each other down, or fail for the same reason.
      void instance.opened().then((isOpen) => isOpen && this.#prepareSpares(opening));
      return instance.ask(ask, limitMs).finally(() => void instance.end());
    });
  }

  async #attempt(
    find: () => Instance,
    otherwise: Otherwise,
    ask: (instance: Instance) => Promise<Reply>,
  ): Promise<Reply> {
    let instance: Instance | undefined;
    try {
      instance = find();
      return await ask(instance);
    } catch (thrown) {
      const failed = instance === undefined ? toHubError(thrown) : instance.failure;
      const another = failed === undefined ? undefined : otherwise(failed);
      if (another === undefined) throw thrown;
      return another;
    }
  }

  #add(key: string, instance: Instance): Instance {
    this.#byKey.set(key, instance);
    return instance;
  }

  /** One that is ready, else one that will be before a new one would. */
  #takeSpare({ legacyOnly }: Opening): Instance | undefined {
    const spares = [...this.#spares].flatMap(([spare, opening]) => (opening.legacyOnly === legacyOnly ? [spare] : []));
    const ready = spares.find(({ idleSince }) => idleSince !== undefined);
    if (ready === undefined) this.#wantedSpares = Math.min(this.#wantedSpares + 1, MAX_SPARES);
    const spare = ready ?? spares[0];
    if (spare !== undefined) this.#spares.delete(spare);
    return spare;
  }

  /** Only where there is room for them: nobody has to go for one that may never be asked. */
  #prepareSpares(opening: Opening): void {
    while (this.#spares.size < this.#wantedSpares && this.#options.keepsSpares()) {
      if (!this.#places.every(({ hasRoom }) => hasRoom)) return;
      const spare = this.#create(opening);
      this.#spares.set(spare, opening);
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
    for (const spare of this.#spares.keys()) void spare.end();
    await Promise.all(this.all.map((instance) => instance.drain(limitMs)));
  }

  async setLogLevel(level: string): Promise<void> {
    await Promise.all(this.all.map((instance) => instance.setLogLevel(level)));
  }

  #create(opening: Opening): Instance {
    const options = this.#options;
    const instance: Instance = new Instance({
      open: async (signal) => {
        await room;
        signal.throwIfAborted();
        return options.open(signal, instance, opening);
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
