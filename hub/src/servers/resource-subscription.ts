// One resource on one connection, in the words of either era: a legacy server is told when to begin and to end, a modern
// one holds a stream open. Who wants to know is left to resource-watches.ts.

import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { failure, rawParams, RPC, success, type Raw, type RawParams, type Reply } from "../wire/jsonrpc.ts";
import { keepOpen } from "./announcements.ts";
import type { Hello } from "./handshake.ts";
import type { Ask } from "./upstream.ts";

/** A connection to a server. */
export interface Source {
  readonly hello: Hello;
  ask(ask: Ask): Promise<Reply>;
}

export interface Subscription {
  /** Settles when the server has confirmed or refused it. */
  readonly opened: Promise<Reply>;
  /** Ends it at the server. Never rejects. */
  close(): Promise<void>;
  /** Forgets it: the connection is gone. */
  abandon(): void;
}

const ACKNOWLEDGE_MS = 30_000;

/** Legacy: what the server says comes by the connection's own way. */
export function subscribeTo(source: Source, uri: string, before: Promise<unknown> | undefined): Subscription {
  const params = rawParams({ uri });
  const subscribe = () => source.ask({ method: "resources/subscribe", params });
  const opened = before === undefined ? subscribe() : before.then(subscribe);
  let state: "opening" | "refused" | "open" | "gone" = "opening";
  const settled = opened.then(
    ({ ok }) => {
      if (state === "opening") state = ok ? "open" : "refused";
    },
    () => undefined, // it is not known whether the server took it
  );
  const end = async () => {
    if (state === "gone" || state === "refused") return;
    state = "gone";
    await source.ask({ method: "resources/unsubscribe", params }).catch(() => undefined); // nothing more can be done
  };
  return {
    opened,
    // At once where it can be: the connection may be closed right after.
    close: () => (state === "opening" ? settled.then(end) : end()),
    abandon: () => {
      state = "gone";
    },
  };
}

export interface ListenOptions {
  onUpdate(params: RawParams): void;
  /** Nobody listened for a while. */
  onGap(): void;
}

/**
 * Modern: one stream for each resource, since the filter of a stream is fixed. A larger one would have to be opened anew
 * for every resource that comes or goes, and what changes while both are open would be heard twice.
 */
export function listenTo(source: Source, uri: string, options: ListenOptions): Subscription {
  const stream = new ResourceStream(source, uri, options);
  return { opened: stream.opened, close: async () => stream.stop(), abandon: () => stream.stop() };
}

class ResourceStream {
  readonly opened: Promise<Reply>;
  readonly #source: Source;
  readonly #uri: string;
  readonly #options: ListenOptions;
  readonly #stopped = new AbortController();
  #isOpen = false;

  constructor(source: Source, uri: string, options: ListenOptions) {
    this.#source = source;
    this.#uri = uri;
    this.#options = options;
    this.opened = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.stop();
        reject(new HubError("Timeout", `The server did not acknowledge a subscription within ${ACKNOWLEDGE_MS} ms`));
      }, ACKNOWLEDGE_MS);
      const settle = (reply: Reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
      const open = () =>
        this.#listen(settle).catch((error: unknown) => {
          clearTimeout(timer);
          reject(error); // without effect once it was open
          throw error;
        });
      void keepOpen(open, this.#stopped.signal);
    });
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Lasts as long as the stream. Whether it is worth to be opened again: one that was open once is. */
  async #listen(settle: (reply: Reply) => void): Promise<boolean> {
    const reply = await this.#source.ask({
      method: "subscriptions/listen",
      params: rawParams({ notifications: { resourceSubscriptions: [this.#uri] } }),
      timeoutMs: 0,
      signal: this.#stopped.signal,
      onNotification: (method, params) => this.#heard(method, params, settle),
    });
    if (!this.#isOpen) settle(reply.ok ? NOT_TAKEN : reply);
    return this.#isOpen;
  }

  #heard(method: string, params: Raw, settle: (reply: Reply) => void): void {
    if (method === "notifications/resources/updated" && isObject(params.value)) {
      return this.#options.onUpdate(rawParams(params.value, params.bytes));
    }
    if (method !== "notifications/subscriptions/acknowledged") return;
    if (this.#isOpen) return this.#options.onGap();
    this.#isOpen = honours(params.value, this.#uri);
    settle(this.#isOpen ? success({}) : NOT_TAKEN);
    if (!this.#isOpen) this.stop();
  }
}

const NOT_TAKEN = failure({ code: RPC.invalidParams, message: "The server does not take this subscription" });

function honours(acknowledged: unknown, uri: string): boolean {
  const notifications = isObject(acknowledged) ? acknowledged["notifications"] : undefined;
  const uris = isObject(notifications) ? notifications["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) && uris.includes(uri);
}
