// The client behind a request, as its server sees it: what it can do, and who answers when the server asks back.

import type { Era } from "../wire/era.ts";
import type { JsonObject } from "../wire/json.ts";
import type { Raw, RawParams, Reply, RequestMessage } from "../wire/jsonrpc.ts";
import type { OpenInquiry } from "../wire/peer.ts";

export interface Respondent {
  /** The same for requests of the same client; undefined where that cannot be told. */
  caller(): string | undefined;
  /** For a modern server, which is told with every request. */
  readonly capabilities: JsonObject;
  /** Its user was asked something: the request is not sent again by itself, or he would be asked twice. */
  readonly wasAsked: boolean;
  /** How long it has been asked something, in all: time that is not the server's. */
  readonly askedMs: number;
  /** A legacy server asks. What cannot be answered is refused, in a reply or by rejecting. */
  answer(question: RequestMessage, inquiry: OpenInquiry): Promise<Reply>;
  /** The elicitation that the client was sent elsewhere for has come to its end. */
  completed(params: Raw): void;
  /** The era of the connection that the request goes out on, before it does. */
  sentIn?(era: Era): void;
  /** A modern server's answer asks for more: what to ask it next. Undefined where the answer is the last word. */
  next?(reply: Reply): Promise<RawParams> | undefined;
}
