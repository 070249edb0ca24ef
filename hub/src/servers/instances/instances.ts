// The instances of one server: which caller has which, how many there may be, and when they end.

import { HubError, toHubError } from "../../errors.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import { sessionKey, type Caller } from "./caller.ts";
import { Instance, type HeldConnection, type InstanceOptions } from "./instance.ts";
import { InstancePool } from "./instance-pool.ts";
import type { InstanceRule } from "../resilience/resilience.ts";
import type { ForwardRequest, Upstream } from "../connection/upstream.ts";

export interface InstancesOptions extends Pick<InstanceOptions, "maxTimeouts" | "requestMs"> {
  readonly server: string;
  rule(): InstanceRule;
  /** Whether some may be opened before they are needed. */
  keepsSpares(): boolean;
  /** The pool of all servers together. */
  readonly sharedPool: InstancePool | undefined;
  /** `owner` is the instance that the connection is for. */
  open(signal: AbortSignal, owner: object, opening: InstancePurpose): Promise<Upstream>;
  /** Nothing is left of an instance. */
  onRemoved(owner: object): void;
}

/** The purpose of a new instance. */
export interface InstancePurpose {
  /** It must use the legacy era, even if its server supports both. */
  readonly legacyOnly?: boolean;
  /** The only client that will use it, if there is only one. */
  readonly client?: Caller;
  /** Whose credentials it uses, if callers have credentials of their own. */
  readonly principal?: string;
}

interface InstanceRequest extends InstancePurpose {
  readonly limitMs: number;
  /** Whether the server may send requests to the client during it, as far as is known. */
  readonly mayCallBack?: boolean;
}

/** Tried if an instance could not be opened. Undefined: the failure is final. */
type Fallback = (failure: HubError) => Promise<Reply> | undefined;

function noLongerWaits(): HubError {
  return new HubError("Cancelled", "Cancelled by the caller");
}

/** Each spare is an idle process. */
const MAX_SPARES = 3;

export class Instances {
  readonly #options: InstancesOptions;
  readonly #byKey = new Map<string, Instance>();
  readonly #ending = new Set<Promise<void>>();
  readonly #pools: readonly InstancePool[];
  /** Opened in advance for the next calls, if each call has a separate instance. */
  readonly #spares = new Map<Instance, InstancePurpose>();
  #calls = 0;
  /** Grows with each call that found no spare, shrinks with each spare that ended unused. */
  #wantedSpares = 0;

  constructor(options: InstancesOptions) {
    this.#options = options;
    const { server, sharedPool } = options;
    const own = new InstancePool(`Server "${server}"`, () => options.rule().max);
    this.#pools = sharedPool === undefined ? [own] : [own, sharedPool];
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

  /** Whether a request of the server on this instance can belong to the given request only. */
  isFree(key: string, request: { readonly mayCallBack: boolean }): boolean {
    return this.#byKey.get(key)?.isFree(request) ?? true;
  }

  /** Forwards to the instance of this key, which is opened if necessary. */
  async forward(key: string, request: ForwardRequest, options: InstanceRequest, fallback: Fallback): Promise<Reply> {
    const { limitMs, mayCallBack = true, ...purpose } = options;
    const known = this.#find(key, options.principal);
    // Its session may have ended too, and nothing would end an instance that is opened for it now.
    if (known === undefined && request.signal?.aborted === true) throw noLongerWaits();
    return this.#attempt(
      () => known ?? this.#add(key, this.#create(purpose)),
      fallback,
      (instance) => instance.forward(request, limitMs, { mayCallBack }),
    );
  }

  /** Keeps the instance of this key open, which is opened if necessary. */
  async hold(key: string, principal: string): Promise<HeldConnection> {
    return (this.#find(key, principal) ?? this.#add(key, this.#create({ principal }))).hold();
  }

  /** Forwards to an instance for this request alone. */
  async forwardOnce(
    request: ForwardRequest,
    { limitMs, ...purpose }: InstanceRequest,
    fallback: Fallback,
  ): Promise<Reply> {
    if (request.signal?.aborted === true) throw noLongerWaits();
    const find = () => this.#add(`call ${++this.#calls}`, this.#takeSpare(purpose) ?? this.#create(purpose));
    return this.#attempt(find, fallback, (instance) => {
      // Not before this one is open: they would slow each other down, or fail for the same reason.
      void instance.opened().then((isOpen) => isOpen && this.#openSpares(purpose));
      return instance.forward(request, limitMs).finally(() => void instance.end());
    });
  }

  async #attempt(
    find: () => Instance,
    fallback: Fallback,
    forward: (instance: Instance) => Promise<Reply>,
  ): Promise<Reply> {
    let instance: Instance | undefined;
    try {
      instance = find();
      return await forward(instance);
    } catch (thrown) {
      const failed = instance === undefined ? toHubError(thrown) : instance.failure;
      const reply = failed === undefined ? undefined : fallback(failed);
      if (reply === undefined) throw thrown;
      return reply;
    }
  }

  #find(key: string, principal: string | undefined): Instance | undefined {
    const known = this.#byKey.get(key);
    if (known === undefined || known.principal === principal) return known;
    throw new HubError("Unexpected", "A connection with the credentials of another caller was chosen");
  }

  #add(key: string, instance: Instance): Instance {
    this.#byKey.set(key, instance);
    return instance;
  }

  /** A spare that is open, or else one that is opening: it is ready before a new one would be. */
  #takeSpare({ legacyOnly, principal }: InstancePurpose): Instance | undefined {
    const spares = [...this.#spares].flatMap(([spare, purpose]) =>
      purpose.legacyOnly === legacyOnly && purpose.principal === principal ? [spare] : [],
    );
    const ready = spares.find(({ idleSince }) => idleSince !== undefined);
    if (ready === undefined) this.#wantedSpares = Math.min(this.#wantedSpares + 1, MAX_SPARES);
    const spare = ready ?? spares[0];
    if (spare !== undefined) this.#spares.delete(spare);
    return spare;
  }

  /** Only if there is a free slot: no instance is evicted for a spare, which may never be used. */
  #openSpares(purpose: InstancePurpose): void {
    while (this.#spares.size < this.#wantedSpares && this.#options.keepsSpares()) {
      if (!this.#pools.every(({ hasRoom }) => hasRoom)) return;
      const spare = this.#create(purpose);
      this.#spares.set(spare, purpose);
      void spare.opened();
    }
  }

  sessionEnded(session: string): void {
    void this.#byKey.get(sessionKey(session))?.end();
  }

  /** Ends all that use the credentials of a principal. */
  endOf(principal: string): void {
    for (const instance of this.all) if (instance.principal === principal) void instance.end();
  }

  /** Resolves when nothing of any of them is left. */
  async endAll(): Promise<void> {
    for (const instance of this.all) void instance.end();
    await Promise.all(this.#ending);
  }

  async drain(limitMs: number): Promise<void> {
    for (const spare of this.#spares.keys()) void spare.end();
    await Promise.all(this.all.map((instance) => instance.drain(limitMs)));
  }

  async setLogLevel(level: string): Promise<void> {
    await Promise.all(this.all.map((instance) => instance.setLogLevel(level)));
  }

  #create(purpose: InstancePurpose): Instance {
    const options = this.#options;
    const instance: Instance = new Instance({
      principal: purpose.principal,
      open: async (signal) => {
        await room;
        signal.throwIfAborted();
        return options.open(signal, instance, purpose);
      },
      idleMs: () => options.rule().idleMs,
      maxTimeouts: () => options.maxTimeouts(),
      requestMs: () => options.requestMs(),
      onEnd: (gone) => this.#forget(instance, gone),
    });
    const room = this.#roomFor(instance);
    return instance;
  }

  /** Throws if every instance is busy. Resolves when an evicted one has ended. */
  #roomFor(instance: Instance): Promise<unknown> {
    try {
      return Promise.all(this.#pools.map((pool) => pool.acquire(instance)));
    } catch (error) {
      for (const pool of this.#pools) pool.release(instance, Promise.resolve());
      throw error;
    }
  }

  #forget(instance: Instance, gone: Promise<void>): void {
    if (this.#spares.delete(instance)) this.#wantedSpares = Math.max(0, this.#wantedSpares - 1);
    for (const [key, known] of this.#byKey) if (known === instance) this.#byKey.delete(key);
    for (const pool of this.#pools) pool.release(instance, gone);
    this.#ending.add(gone);
    void gone.then(() => {
      this.#ending.delete(gone);
      this.#options.onRemoved(instance);
    });
  }
}
