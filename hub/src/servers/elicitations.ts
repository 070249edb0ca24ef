// Which client was sent to which address by a legacy server: only that one is told when the server says that it is done.

import { isObject } from "../wire/json.ts";
import type { RawParams, Reply, RequestMessage } from "../wire/jsonrpc.ts";
import { URL_ELICITATION_REQUIRED } from "../wire/era.ts";
import type { Respondent } from "./respondent.ts";

/** More than people open at once; the oldest is forgotten. */
const MAX_OPEN = 1000;

export class Elicitations {
  readonly #asked = new Map<string, Respondent>();

  /** A question that may send the client elsewhere. */
  asked({ method, params }: RequestMessage, client: Respondent): void {
    if (method === "elicitation/create") this.#remember(params?.value, client);
  }

  /** An answer that may do so. */
  answered(reply: Reply, client: Respondent): void {
    if (reply.ok || !isObject(reply.error.value)) return;
    const { code, data } = reply.error.value;
    if (code !== URL_ELICITATION_REQUIRED || !isObject(data) || !Array.isArray(data["elicitations"])) return;
    for (const elicitation of data["elicitations"]) this.#remember(elicitation, client);
  }

  completed(params: RawParams | undefined): void {
    const id = params?.value["elicitationId"];
    if (params === undefined || typeof id !== "string") return;
    const client = this.#asked.get(id);
    this.#asked.delete(id);
    client?.completed(params);
  }

  #remember(elicitation: unknown, client: Respondent): void {
    const id = isObject(elicitation) ? elicitation["elicitationId"] : undefined;
    if (typeof id !== "string") return;
    this.#asked.delete(id);
    this.#asked.set(id, client);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MAX_OPEN && oldest !== undefined) this.#asked.delete(oldest);
  }
}
