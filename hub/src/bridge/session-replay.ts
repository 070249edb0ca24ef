// The messages of a legacy client that its session depends on, unchanged: replayed to open another session in its name.

import { isObject, type JsonObject } from "../lib/json/json.ts";
import type { RequestMessage } from "../protocol/rpc/jsonrpc.ts";

const MAX_SUBSCRIPTIONS = 1000;
const LISTS = ["tools", "resources", "prompts"] as const;

export class SessionReplay {
  readonly initialize: Buffer;
  /** Set when the client has sent it. */
  initialized: Buffer | undefined;
  #setLevel: Buffer | undefined;
  readonly #subscriptions = new Map<string, Buffer>();
  #listChangedCapabilities: readonly string[] = [];

  constructor(initialize: Buffer) {
    this.initialize = initialize;
  }

  /** Keeps what the first answer to `initialize` promised: the client never sees a later one. */
  noteInitializeResult({ capabilities }: JsonObject): void {
    const has = isObject(capabilities) ? capabilities : {};
    this.#listChangedCapabilities = LISTS.filter((list) => isObject(has[list]) && has[list]["listChanged"] === true);
  }

  /** Records a request that changes the session. */
  noteRequest({ method, params }: RequestMessage, bytes: Buffer): void {
    if (method === "logging/setLevel") this.#setLevel = bytes;
    const uri = params?.value["uri"];
    if (typeof uri !== "string") return;
    if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
    if (method === "resources/subscribe" && this.#subscriptions.size < MAX_SUBSCRIPTIONS) {
      this.#subscriptions.set(uri, bytes);
    }
  }

  /** The requests that restore the state of this session in a new one. */
  get settings(): readonly Buffer[] {
    return [...(this.#setLevel === undefined ? [] : [this.#setLevel]), ...this.#subscriptions.values()];
  }

  /** Notifications to send after a reopening, when every list may have changed. */
  get listChanges(): readonly string[] {
    return this.#listChangedCapabilities.map((list) => `notifications/${list}/list_changed`);
  }
}
