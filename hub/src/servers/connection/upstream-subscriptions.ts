// The resource subscriptions of one server, over all clients and groups. Each resource is subscribed to once, however many clients
// watch it, and again on every new connection.

import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { failure, rawParams, RPC, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { ServerInfo } from "./handshake.ts";
import { listenTo, subscribeTo, type Source, type Subscription } from "./resource-subscription.ts";

/** The params of `notifications/resources/updated`, with the server's URI. */
export type OnUpdate = (params: RawParams) => void;

export interface Watch {
  /** The server's answer, which may be an error. Rejects if the server cannot be reached. */
  readonly opened: () => Promise<Reply>;
  readonly release: () => void;
}

interface Entry {
  readonly uri: string;
  readonly watchers: Set<OnUpdate>;
  subscription: Subscription | undefined;
  /** It was confirmed once: its watchers rely on updates. */
  isEstablished: boolean;
}

/** Bounds the subscriptions of all servers of a hub. */
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

/** Per server: each may be a separate stream. */
const MAX_URIS = 500;

export class UpstreamSubscriptions {
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

  /** Adds a watcher. `opened` subscribes at the server. */
  add(uri: string, onUpdate: OnUpdate): Watch {
    if (!this.#entries.has(uri) && this.#entries.size >= MAX_URIS) throw tooMany("The server");
    this.#budget.take();
    const entry = this.#entries.get(uri) ?? { uri, watchers: new Set(), subscription: undefined, isEstablished: false };
    // A new function: the same callback may be added twice.
    const watcher: OnUpdate = (params) => onUpdate(params);
    this.#entries.set(uri, entry);
    entry.watchers.add(watcher);
    return { opened: () => this.#opened(entry), release: () => this.#release(entry, watcher) };
  }

  /** Subscribes to everything again on a new connection. Every watcher is notified: changes in between are unknown. */
  attach(source: Source, onIdle: () => void): void {
    if (this.#source !== undefined) this.detach(this.#source);
    this.#source = source;
    this.#onIdle = onIdle;
    for (const entry of this.#entries.values()) {
      const { isEstablished } = entry;
      const opened = this.#opened(entry).catch(() => undefined); // tried again with the next connection, or watcher
      if (isEstablished) void opened.then(() => this.#source === source && this.#notify(entry));
    }
  }

  /** The connection was closed. */
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

  /** A resource, or a part of one, changed. */
  updated(source: Source, params: RawParams | undefined): void {
    const uri = params?.value["uri"];
    if (this.#source !== source || params === undefined || typeof uri !== "string") return;
    const exact = this.#entries.get(uri);
    if (exact !== undefined) return notify(exact, params);
    for (const entry of this.#entries.values()) if (isPartOf(uri, entry.uri)) notify(entry, params);
  }

  /** Notifications may have been lost. */
  gap(source: Source): void {
    if (this.#source !== source) return;
    for (const entry of this.#entries.values()) if (entry.isEstablished) this.#notify(entry);
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
    if (!offersSubscriptions(source.info)) return NOT_OFFERED;
    if (source.info.era === "legacy") return subscribeTo(source, uri, this.#closing.get(uri)?.done);
    return listenTo(source, uri, {
      onUpdate: (params) => this.#source === source && notify(entry, params),
      onGap: () => this.#source === source && this.#notify(entry),
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

  #notify(entry: Entry): void {
    notify(entry, rawParams({ uri: entry.uri }));
  }
}

export function offersSubscriptions({ capabilities }: ServerInfo): boolean {
  return isObject(capabilities["resources"]) && capabilities["resources"]["subscribe"] === true;
}

function notify({ watchers }: Pick<Entry, "watchers">, params: RawParams): void {
  for (const watcher of watchers) watcher(params);
}

/** The next watcher tries again. */
function forget(entry: Entry, subscription: Subscription): void {
  if (entry.subscription === subscription) entry.subscription = undefined;
}

/** A server may name the part of a resource that changed, if the whole is subscribed to. */
function isPartOf(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (whole.endsWith("/") || "/?#".includes(uri.charAt(whole.length)));
}

const NOT_OFFERED: Subscription = {
  opened: Promise.resolve(
    failure({ code: RPC.methodNotFound, message: "The server of this resource does not support subscriptions" }),
  ),
  close: () => Promise.resolve(),
  abandon: () => undefined,
};

function tooMany(owner: string): HubError {
  return new HubError("Overloaded", `${owner} has too many subscriptions to resources`, {
    hint: "End those that are not needed any more",
  });
}
