// Remembers which client a legacy server sent to which URL, so that only that client is notified when the elicitation is complete.

import { evictOldest } from "@plugboard/shared/evict";
import { isObject } from "../../lib/json/json.ts";
import type { RawParams, Reply, RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import { URL_ELICITATION_REQUIRED } from "../../protocol/revisions/era.ts";
import type { ClientResponder } from "./client-responder.ts";

/** More than a user opens at once. The oldest is dropped. */
const MAX_OPEN = 1000;

export class Elicitations {
  readonly #clients = new Map<string, ClientResponder>();

  /** A request that may send the client to a URL. */
  requested({ method, params }: RequestMessage, client: ClientResponder): void {
    if (method === "elicitation/create") this.#remember(params?.value, client);
  }

  /** An error answer that may do so. */
  answered(reply: Reply, client: ClientResponder): void {
    if (reply.ok || !isObject(reply.error.value)) return;
    const { code, data } = reply.error.value;
    if (code !== URL_ELICITATION_REQUIRED || !isObject(data) || !Array.isArray(data["elicitations"])) return;
    for (const elicitation of data["elicitations"]) this.#remember(elicitation, client);
  }

  completed(params: RawParams | undefined): void {
    const id = params?.value["elicitationId"];
    if (params === undefined || typeof id !== "string") return;
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    client?.completed(params);
  }

  #remember(elicitation: unknown, client: ClientResponder): void {
    const id = isObject(elicitation) ? elicitation["elicitationId"] : undefined;
    if (typeof id !== "string") return;
    this.#clients.delete(id);
    this.#clients.set(id, client);
    evictOldest(this.#clients, MAX_OPEN);
  }
}
