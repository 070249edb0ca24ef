// The resources of one server that somebody wants to hear of, over all clients and groups. Each is subscribed to once,
// however many watch it, and again on every new connection. What clients call the URIs is left to mcp/subscriptions.ts.

import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { failure, rawParams, RPC, type RawParams, type Reply } from "../wire/jsonrpc.ts";
import type { Hello } from "./handshake.ts";
import { listenTo, subscribeTo, type Source, type Subscription } from "./resource-subscription.ts";

/** The params of `notifications/resources/updated`, with the URI that the server knows. */
export type OnUpdate = (params: RawParams) => void;

export interface Watch {
  /** The server's own answer: it may refuse. Rejects where it cannot be asked. */
  readonly opened: () => Promise<Reply>;
  readonly release: () => void;
}

interface Entry {
  readonly uri: string;
  readonly watchers: Set<OnUpdate>;
  subscription: Subscription | undefined;
  /** It was confirmed at some time: whoever watches it relies on hearing of changes. */
  isEstablished: boolean;
}

/** How many may be watched at once, over all servers of a hub. */
export class WatchBudget {
  #left: number;

  constructor(max = 10_000) {
    this.#left = max;
  }

  take(): void {
    if (this.#left === 0) throw tooMany("The hub");
    this.#left--;
  }

  give(): void {
    this.#left++;
  }
}

/** Of one server: each may be a stream of its own. */
const MAX_URIS = 500;

export class ResourceWatches {
  readonly #budget: WatchBudget;
  readonly #entries = new Map<string, Entry>();
  /** Subscriptions that are being ended: the same one must not be opened before that. */
  readonly #closing = new Map<string, { readonly subscription: Subscription; readonly done: Promise<void> }>();
  #source: Source | undefined;
  #onIdle: () => void = () => undefined;

  constructor(budget = new WatchBudget()) {
    this.#budget = budget;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts from now on; the server is asked with `opened`. */
  add(uri: string, onUpdate: OnUpdate): Watch {
    if (!this.#entries.has(uri) && this.#entries.size >= MAX_URIS) throw tooMany("The server");
    this.#budget.take();
    const entry = this.#entries.get(uri) ?? { uri, watchers: new Set(), subscription: undefined, isEstablished: false };
    // A function of its own: one watcher may come twice.
    const watcher: OnUpdate = (params) => onUpdate(params);
    this.#entries.set(uri, entry);
    entry.watchers.add(watcher);
    return { opened: () => this.#opened(entry), release: () => this.#release(entry, watcher) };
  }

  /** A new connection: everything is subscribed to again. What changed meanwhile nobody knows, so every watcher is told. */
  attach(source: Source, onIdle: () => void): void {
    if (this.#source !== undefined) this.detach(this.#source);
    this.#source = source;
    this.#onIdle = onIdle;
    for (const entry of this.#entries.values()) {
      const { isEstablished } = entry;
      const opened = this.#opened(entry).catch(() => undefined); // tried again with the next connection, or watcher
      if (isEstablished) void opened.then(() => this.#source === source && this.#tell(entry));
    }
  }

  /** The connection is gone. */
  detach(source: Source): void {
    if (this.#source !== source) return;
    this.#source = undefined;
    for (const { subscription } of this.#closing.values()) subscription.abandon();
    this.#closing.clear();
    for (const entry of this.#entries.values()) {
      entry.subscription?.abandon();
      entry.subscription = undefined;
    }
  }

  /** The server says that a resource changed, or a part of one. */
  updated(source: Source, params: RawParams | undefined): void {
    const uri = params?.value["uri"];
    if (this.#source !== source || params === undefined || typeof uri !== "string") return;
    const exact = this.#entries.get(uri);
    if (exact !== undefined) return tell(exact, params);
    for (const entry of this.#entries.values()) if (isPartOf(uri, entry.uri)) tell(entry, params);
  }

  /** Something may have been missed. */
  gap(source: Source): void {
    if (this.#source !== source) return;
    for (const entry of this.#entries.values()) if (entry.isEstablished) this.#tell(entry);
  }

  async #opened(entry: Entry): Promise<Reply> {
    const subscription = (entry.subscription ??= this.#subscribe(entry));
    try {
      const reply = await subscription.opened;
      if (reply.ok) entry.isEstablished = true;
      else forget(entry, subscription);
      return reply;
    } catch (error) {
      subscription.abandon();
      forget(entry, subscription);
      throw error;
    }
  }

  #subscribe(entry: Entry): Subscription {
    const { uri } = entry;
    const source = this.#source;
    if (source === undefined) throw new HubError("ServerNotRunning", "Server unavailable");
    if (!offersSubscriptions(source.hello)) return NOT_OFFERED;
    if (source.hello.era === "legacy") return subscribeTo(source, uri, this.#closing.get(uri)?.done);
    return listenTo(source, uri, {
      onUpdate: (params) => this.#source === source && tell(entry, params),
      onGap: () => this.#source === source && this.#tell(entry),
    });
  }

  #release(entry: Entry, watcher: OnUpdate): void {
    if (!entry.watchers.delete(watcher)) return;
    this.#budget.give();
    if (entry.watchers.size > 0) return;
    this.#entries.delete(entry.uri);
    if (entry.subscription !== undefined) this.#close(entry.uri, entry.subscription);
    if (this.#entries.size === 0) this.#onIdle();
  }

  #close(uri: string, subscription: Subscription): void {
    const closing = { subscription, done: subscription.close() };
    this.#closing.set(uri, closing);
    void closing.done.then(() => {
      if (this.#closing.get(uri) === closing) this.#closing.delete(uri);
    });
  }

  #tell(entry: Entry): void {
    tell(entry, rawParams({ uri: entry.uri }));
  }
}

export function offersSubscriptions({ capabilities }: Hello): boolean {
  return isObject(capabilities["resources"]) && capabilities["resources"]["subscribe"] === true;
}

function tell({ watchers }: Pick<Entry, "watchers">, params: RawParams): void {
  for (const watcher of watchers) watcher(params);
}

/** The next one who asks tries again. */
function forget(entry: Entry, subscription: Subscription): void {
  if (entry.subscription === subscription) entry.subscription = undefined;
}

/** A server may name the part of a resource that changed, where the whole is subscribed to. */
function isPartOf(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (whole.endsWith("/") || "/?#".includes(uri.charAt(whole.length)));
}

const NOT_OFFERED: Subscription = {
  opened: Promise.resolve(
    failure({ code: RPC.methodNotFound, message: "The server of this resource offers no subscriptions" }),
  ),
  close: () => Promise.resolve(),
  abandon: () => undefined,
};

function tooMany(owner: string): HubError {
  return new HubError("Overloaded", `${owner} has too many subscriptions to resources`, {
    hint: "End those that are not needed any more",
  });
}
