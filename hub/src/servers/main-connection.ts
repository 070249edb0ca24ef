// Opens and closes the main connection of one managed server: one start at a time for all callers. lifecycle.ts decides when to
// start and restart; the dialer opens connections.

import { HubError, toHubError } from "../errors.ts";
import type { Dialer } from "./connection/dialer.ts";
import type { ConnectOptions, Upstream } from "./connection/upstream.ts";
import type { Instances } from "./instances/instances.ts";
import { ListReader } from "./list-reader.ts";
import type { Offer } from "./offer.ts";
import { explainAuthError, isAuthError } from "./resilience/auth-errors.ts";
import { redactError } from "./server-redaction.ts";
import type { ServerState } from "./server-state.ts";
import type { ServerSubscriptions } from "./server-subscriptions.ts";

/** Longer than most requests may take: each has its own time limit. */
const FINISH_MS = 600_000;

export interface MainConnectionParts {
  readonly state: ServerState;
  readonly offer: Offer;
  readonly dialer: Dialer;
  readonly subscriptions: ServerSubscriptions;
  readonly instances: Instances;
  /** The server sends a request to its client. */
  readonly onClientRequest: NonNullable<ConnectOptions["onClientRequest"]>;
}

interface MainConnectionEvents {
  /** It is connected. Sets the status. */
  onUp(): void;
  /** It did not start, or the connection is lost. Sets the status. */
  onDown(error: HubError): void;
  /** It is being stopped: no start may follow by itself. */
  onStop(): void;
  /** A resource subscription has ended. */
  onUnsubscribed(): void;
}

export class MainConnection {
  readonly #parts: MainConnectionParts;
  readonly #state: ServerState;
  readonly #events: MainConnectionEvents;
  readonly #lists: ListReader;
  #starting: { readonly done: Promise<void>; readonly abort: AbortController } | undefined;
  #stopping: Promise<void> | undefined;
  /** Settles when nothing is left of a connection that was lost. */
  #closing: Promise<void> | undefined;
  /** Connections whose server refuses our credentials, until their open requests are answered. */
  readonly #refused = new Map<Upstream, Promise<void>>();
  #stopCount = 0;

  constructor(parts: MainConnectionParts, events: MainConnectionEvents) {
    this.#parts = parts;
    this.#state = parts.state;
    this.#events = events;
    this.#lists = new ListReader(parts.state, parts.offer, {
      started: () => this.#starting?.done.catch(() => undefined),
      onRefused: (upstream, error) => this.lose(upstream, error),
    });
  }

  get isStarting(): boolean {
    return this.#starting?.abort.signal.aborted === false;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Number of stops, so that a waiting caller can detect one. */
  get stopCount(): number {
    return this.#stopCount;
  }

  /** Joins the start in progress, or begins one. */
  start(): Promise<void> {
    if (this.#starting?.abort.signal.aborted === false) return this.#starting.done;
    if (this.#state.isRunning && !this.isStopping) return Promise.resolve();
    const abort = new AbortController();
    const done = this.#start(abort.signal).finally(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    const starting = { done, abort };
    this.#starting = starting;
    return done;
  }

  /** Stops it, or the start in progress. Nothing of it is left when this resolves. */
  stop(): Promise<void> {
    this.#stopCount++;
    this.#events.onStop();
    this.#starting?.abort.abort();
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  /** Discards the connection. No effect if it is not the current one. */
  lose(upstream: Upstream, error: HubError): void {
    if (this.#state.upstream !== upstream) return; // stopped by us
    this.#disconnect();
    if (isAuthError(error)) this.#finish(upstream);
    else this.#closing = upstream.close();
    this.#events.onDown(redactError(error, this.#state.redact));
  }

  /**
   * A server that refuses our credentials still answers. An open request gets its own answer: its result if it was accepted before,
   * otherwise the refusal, which says what its caller has to do.
   */
  #finish(upstream: Upstream): void {
    const finished = upstream
      .drain(FINISH_MS)
      .then(() => upstream.close())
      .finally(() => this.#refused.delete(upstream));
    this.#refused.set(upstream, finished);
  }

  /** Reads the lists as a client would, to find out whether the server answers. */
  check(upstream: Upstream): Promise<void> {
    return this.#lists.check(upstream);
  }

  /** Another connection with the same credentials has announced changed lists. */
  listsMayHaveChanged(): void {
    if (this.#state.upstream !== undefined) this.#lists.changed();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const state = this.#state;
    // Without an await if nothing is being stopped: the status must be "starting" at once.
    if (this.#stopping !== undefined) await this.#stopping;
    if (signal.aborted) throw new HubError("Cancelled", "The start was cancelled");
    state.apply({ type: "start", at: Date.now() });
    await this.#closing;
    try {
      this.#running(await this.#open(signal));
    } catch (thrown) {
      const error = explainAuthError(redactError(toHubError(thrown), state.redact), state.config);
      if (signal.aborted) state.apply({ type: "stopped" });
      else this.#events.onDown(error);
      throw error;
    }
  }

  #open(signal: AbortSignal): Promise<Upstream> {
    const { dialer, subscriptions, onClientRequest } = this.#parts;
    const state = this.#state;
    return dialer.open({
      signal,
      owner: state,
      onListChanged: () => this.#lists.changed(),
      onResourceUpdated: (params) =>
        state.upstream !== undefined && subscriptions.shared.updated(state.upstream, params),
      onGap: () => state.upstream !== undefined && subscriptions.shared.gap(state.upstream),
      onTaskNotification: (notification) => state.events.onTaskNotification(notification),
      onClientRequest,
      onStage: (stage) => state.apply({ type: "stage", stage }),
      onFlood: () => state.reportFlood(),
      onPackage: (inUse) => void (state.package = inUse),
      ready: (upstream, startSignal) => this.#lists.readFirst(upstream, startSignal),
    });
  }

  #running(upstream: Upstream): void {
    const state = this.#state;
    state.upstream = upstream;
    this.#events.onUp();
    upstream.follow();
    // It has the credentials of one of the people: a subscription here would tell all others what that person sees.
    if (!state.isPerUser) this.#parts.subscriptions.shared.attach(upstream, () => this.#events.onUnsubscribed());
    if (state.logLevel !== undefined) void upstream.setLogLevel(state.logLevel).catch(() => undefined); // only logs depend on it
    void upstream.lost.then((error) => this.lose(upstream, error));
  }

  async #stop(): Promise<void> {
    if (this.#starting !== undefined) await this.#starting.done.catch(() => undefined); // its caller gets the reason
    const upstream = this.#disconnect();
    const refused = [...this.#refused].flatMap(([each, finished]) => [each.close(), finished]);
    await Promise.all([upstream?.close(), ...refused, this.#parts.instances.endAll(), this.#closing]);
    // A start in progress may have failed in the meantime and scheduled another one.
    this.#events.onStop();
    this.#state.apply({ type: "stopped" });
  }

  /** Takes the connection out of use. The caller closes it. */
  #disconnect(): Upstream | undefined {
    const { upstream } = this.#state;
    this.#state.upstream = undefined;
    if (upstream !== undefined) this.#parts.subscriptions.shared.detach(upstream);
    return upstream;
  }
}
