// A modern client's `subscriptions/listen`, for as long as the client wants it: its stream ends with the hub, and the bridge opens it
// again when the hub is back. The client relies on what the first acknowledgement granted.

import { META } from "../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { raw, writeNotification, type Id } from "../protocol/rpc/jsonrpc.ts";

export const LISTEN = "subscriptions/listen";
export const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 10_000;
/** Reopenings for resources that were not granted again: their server may still be starting. */
const MAX_INCOMPLETE = 10;

interface Granted {
  readonly lists: readonly string[];
  readonly uris: readonly string[];
}

export class Subscription {
  readonly #id: Id;
  readonly #granted: Granted;
  /** Granted resources that the current stream does not have. */
  #missing: ReadonlySet<string> = new Set();
  #failures = 0;
  #incomplete = 0;

  constructor(id: Id, acknowledgement: JsonObject) {
    this.#id = id;
    this.#granted = grantedIn(acknowledgement);
  }

  streamEnded(): void {
    this.#missing = new Set(this.#granted.uris);
  }

  /** The stream is open again. Gives the notifications for the client: anything may have changed in between. */
  reopened(acknowledgement: JsonObject): Buffer[] {
    const { lists, uris } = grantedIn(acknowledgement);
    const regained = uris.filter((uri) => this.#missing.has(uri));
    const isFirst = this.#incomplete === 0;
    this.#missing = new Set(this.#granted.uris.filter((uri) => !uris.includes(uri)));
    this.#failures = 0;
    this.#incomplete = this.isComplete ? 0 : this.#incomplete + 1;
    const _meta = { [META.subscriptionId]: this.#id };
    const changes = isFirst
      ? lists.map((list) => writeNotification(`notifications/${list}/list_changed`, raw({ _meta }).bytes))
      : [];
    const updates = regained.map((uri) =>
      writeNotification("notifications/resources/updated", raw({ uri, _meta }).bytes),
    );
    return [...changes, ...updates];
  }

  /** It has everything that was granted first, or further attempts are pointless. */
  get isComplete(): boolean {
    return this.#missing.size === 0 || this.#incomplete >= MAX_INCOMPLETE;
  }

  /** The pause before the next attempt; longer each time. */
  nextBackoffMs(): number {
    const exponent = Math.min(this.#failures++ + this.#incomplete, 10);
    return Math.min(FIRST_BACKOFF_MS * 2 ** exponent, MAX_BACKOFF_MS);
  }
}

/** The id of the `subscriptions/listen` request that a notification belongs to. */
export function subscriptionIdIn(params: JsonObject): unknown {
  const meta = params["_meta"];
  return isObject(meta) ? meta[META.subscriptionId] : undefined;
}

function grantedIn({ notifications }: JsonObject): Granted {
  if (!isObject(notifications)) return { lists: [], uris: [] };
  const uris = notifications["resourceSubscriptions"];
  return {
    lists: ["tools", "prompts", "resources"].filter((list) => notifications[`${list}ListChanged`] === true),
    uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [],
  };
}
