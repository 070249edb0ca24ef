// The subscription to one resource on one connection, in both eras: a legacy server has subscribe and unsubscribe requests, a
// modern one holds a stream open.

import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { failure, rawParams, RPC, success, type Raw, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { keepOpen } from "./announcements.ts";
import type { ServerInfo } from "./handshake.ts";
import type { ForwardRequest } from "./upstream.ts";

/** A connection to a server. */
export interface Source {
  readonly info: ServerInfo;
  forward(ask: ForwardRequest): Promise<Reply>;
}

export interface Subscription {
  /** Settles when the server has confirmed or refused it. */
  readonly opened: Promise<Reply>;
  /** Ends it at the server. Never rejects. */
  close(): Promise<void>;
  /** The connection was closed. */
  abandon(): void;
}

const ACKNOWLEDGE_MS = 30_000;

/** Legacy: updates are notifications of the connection. */
export function subscribeTo(source: Source, uri: string, before: Promise<unknown> | undefined): Subscription {
  const params = rawParams({ uri });
  const subscribe = () => source.forward({ method: "resources/subscribe", params });
  const opened = before === undefined ? subscribe() : before.then(subscribe);
  let state: "opening" | "refused" | "open" | "gone" = "opening";
  const settled = opened.then(
    ({ ok }) => {
      if (state === "opening") state = ok ? "open" : "refused";
    },
    () => undefined, // unknown whether the server accepted it
  );
  const end = async () => {
    if (state === "gone" || state === "refused") return;
    state = "gone";
    await source.forward({ method: "resources/unsubscribe", params }).catch(() => undefined); // nothing more can be done
  };
  return {
    opened,
    // At once if possible: the connection may be closed right after.
    close: () => (state === "opening" ? settled.then(end) : end()),
    abandon: () => {
      state = "gone";
    },
  };
}

export interface ListenOptions {
  onUpdate(params: RawParams): void;
  /** The stream was closed for a while. */
  onGap(): void;
}

/**
 * Modern: one stream for each resource, since the filter of a stream is fixed. A shared stream would have to be reopened for
 * every new resource, and changes while both are open would be reported twice.
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

  /** Resolves when the stream ends, to whether it should be reopened: only if it was accepted once. */
  async #listen(settle: (reply: Reply) => void): Promise<boolean> {
    const reply = await this.#source.forward({
      method: "subscriptions/listen",
      params: rawParams({ notifications: { resourceSubscriptions: [this.#uri] } }),
      timeoutMs: 0,
      signal: this.#stopped.signal,
      onNotification: (method, params) => this.#onNotification(method, params, settle),
    });
    if (!this.#isOpen) settle(reply.ok ? NOT_ACCEPTED : reply);
    return this.#isOpen;
  }

  #onNotification(method: string, params: Raw, settle: (reply: Reply) => void): void {
    if (method === "notifications/resources/updated" && isObject(params.value)) {
      return this.#options.onUpdate(rawParams(params.value, params.bytes));
    }
    if (method !== "notifications/subscriptions/acknowledged") return;
    if (this.#isOpen) return this.#options.onGap();
    this.#isOpen = honours(params.value, this.#uri);
    settle(this.#isOpen ? success({}) : NOT_ACCEPTED);
    if (!this.#isOpen) this.stop();
  }
}

const NOT_ACCEPTED = failure({ code: RPC.invalidParams, message: "The server does not accept this subscription" });

function honours(acknowledged: unknown, uri: string): boolean {
  const notifications = isObject(acknowledged) ? acknowledged["notifications"] : undefined;
  const uris = isObject(notifications) ? notifications["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) && uris.includes(uri);
}
