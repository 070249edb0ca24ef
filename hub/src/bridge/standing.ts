// What a modern client has subscribed to, for as long as it wants it: the stream of its `subscriptions/listen` ends with the hub,
// and is opened again in its name when the hub is back. What it was granted first is what it believes to have.

import { META } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { raw, writeNotification, type Id } from "../wire/jsonrpc.ts";

export const LISTEN = "subscriptions/listen";
export const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** So often a resource that was not granted again is asked for: its server may only be starting. */
const MAX_INCOMPLETE = 10;

interface Granted {
  readonly lists: readonly string[];
  readonly uris: readonly string[];
}

export class Standing {
  readonly #id: Id;
  readonly #granted: Granted;
  /** Resources that it does not have at the moment. */
  #missing: ReadonlySet<string> = new Set();
  #failures = 0;
  #incomplete = 0;

  constructor(id: Id, acknowledgement: JsonObject) {
    this.#id = id;
    this.#granted = grantedIn(acknowledgement);
  }

  /** It is over at the hub: all that it had is to be asked for again. */
  lost(): void {
    this.#missing = new Set(this.#granted.uris);
  }

  /** It was opened again. Gives what the client should hear: whatever it watches may have changed meanwhile. */
  regained(acknowledgement: JsonObject): Buffer[] {
    const { lists, uris } = grantedIn(acknowledgement);
    const back = uris.filter((uri) => this.#missing.has(uri));
    const isFirst = this.#incomplete === 0;
    this.#missing = new Set(this.#granted.uris.filter((uri) => !uris.includes(uri)));
    this.#failures = 0;
    this.#incomplete = this.isComplete ? 0 : this.#incomplete + 1;
    const _meta = { [META.subscriptionId]: this.#id };
    return [
      ...(isFirst
        ? lists.map((list) => writeNotification(`notifications/${list}/list_changed`, bytesOf({ _meta })))
        : []),
      ...back.map((uri) => writeNotification("notifications/resources/updated", bytesOf({ uri, _meta }))),
    ];
  }

  /** Whether it has all that it was granted first, or as much of it as can be hoped for. */
  get isComplete(): boolean {
    return this.#missing.size === 0 || this.#incomplete >= MAX_INCOMPLETE;
  }

  /** How long to wait before the next attempt. */
  pauseMs(): number {
    return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(this.#failures++ + this.#incomplete, 10), MAX_PAUSE_MS);
  }
}

/** The request that a message of a subscription belongs to. */
export function subscriptionIn(params: JsonObject): unknown {
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

function bytesOf(params: JsonObject): Buffer {
  return raw(params).bytes;
}
