// The client behind a request, as its server sees it: its capabilities, and how it answers requests of the server.

import type { Era } from "../../protocol/revisions/era.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { Raw, RawParams, Reply, RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { OpenServerRequest } from "../../protocol/connect/pending-request.ts";
import type { ClientFeature } from "./era-memory.ts";

export interface ClientResponder {
  /** Equal for requests of the same client. Undefined if unknown. */
  caller(): string | undefined;
  /** The caller is one client, which can answer on any of its open requests. */
  readonly isOneClient?: boolean;
  /** A modern server gets them with every request. */
  readonly capabilities: JsonObject;
  /** The user was asked a question. The request is not retried, since the user would be asked twice. */
  readonly wasAsked: boolean;
  /** How long the client took to answer in all: not part of the server's time. */
  readonly askedMs: number;
  /** Answers a request of a legacy server. Refuses with an error reply or by rejecting. */
  answer(message: RequestMessage, open: OpenServerRequest): Promise<Reply>;
  /**
   * Asks the client's user for the hub, by a form. Neither counts as a question of the server nor as its time. Undefined: the client
   * cannot ask.
   */
  confirm?(params: JsonObject, open: Pick<OpenServerRequest, "signal" | "cancelOwner">): Promise<Reply> | undefined;
  /** The elicitation at a URL is complete. */
  completed(params: Raw): void;
  /** Called before the request is sent, with the era of its connection. */
  sentIn?(era: Era): void;
  /** The params of the next request, if a modern server's answer asks for input. Undefined if the answer is final. */
  next?(reply: Reply): Promise<RawParams> | undefined;
}

const METHODS: ReadonlyMap<string, { readonly feature: ClientFeature; readonly subject: string }> = new Map([
  ["elicitation/create", { feature: "elicitation", subject: "The server asks the user a question" }],
  ["sampling/createMessage", { feature: "sampling", subject: "The server requests text from the client's model" }],
  ["roots/list", { feature: "roots", subject: "The server asks for the client's folders (roots)" }],
]);

/** The client capability that a request of a server needs. Undefined for other methods. */
export function featureOf(method: string): ClientFeature | undefined {
  return METHODS.get(method)?.feature;
}

/** For error messages: the beginning of a sentence. */
export function subjectOf(method: string): string {
  return METHODS.get(method)?.subject ?? `The server sends ${method}, which is not a request to a client`;
}
