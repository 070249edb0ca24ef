// What a legacy client has said that its session hangs on, as it said it: enough to open another one in its name.

import { isObject, type JsonObject } from "../wire/json.ts";
import type { RequestMessage } from "../wire/jsonrpc.ts";

/** Of so many resources it is remembered that they are watched. */
const MAX_WATCHED = 1000;
const LISTS = ["tools", "resources", "prompts"] as const;

export class Handshake {
  readonly initialize: Buffer;
  /** Set when the client has said so. */
  initialized: Buffer | undefined;
  #level: Buffer | undefined;
  readonly #watched = new Map<string, Buffer>();
  /** What the client was told that it will be told of. */
  #announced: readonly string[] = [];

  constructor(initialize: Buffer) {
    this.initialize = initialize;
  }

  /** The client's own: what comes later must not promise it less. */
  answered({ capabilities }: JsonObject): void {
    const has = isObject(capabilities) ? capabilities : {};
    this.#announced = LISTS.filter((list) => isObject(has[list]) && has[list]["listChanged"] === true);
  }

  /** Notes what a request changes for the session, if anything. */
  note({ method, params }: RequestMessage, bytes: Buffer): void {
    if (method === "logging/setLevel") this.#level = bytes;
    const uri = params?.value["uri"];
    if (typeof uri !== "string") return;
    if (method === "resources/unsubscribe") this.#watched.delete(uri);
    if (method === "resources/subscribe" && this.#watched.size < MAX_WATCHED) this.#watched.set(uri, bytes);
  }

  /** The requests that bring another session to where this one was. */
  get settings(): readonly Buffer[] {
    return [...(this.#level === undefined ? [] : [this.#level]), ...this.#watched.values()];
  }

  /** Whatever it has seen of these may have changed. */
  get listChanges(): readonly string[] {
    return this.#announced.map((list) => `notifications/${list}/list_changed`);
  }
}
