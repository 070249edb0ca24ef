// The call of a tool inside a call of `call_tool`: the same request with the inner tool's name and arguments. Progress, questions,
// tasks and cancellation are those of the outer request.

import { withMembers } from "../../protocol/rpc/json-edit.ts";
import { isObject, membersOf, type JsonObject } from "../../lib/json/json.ts";
import { raw, type Raw, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import type { AskClient, IncomingRequest, Session, TransportName } from "../../protocol/serve/service.ts";
import type { Era } from "../../protocol/revisions/era.ts";

/** Headers that repeat parts of the outer request. */
const REPEATED = { "mcp-method": undefined, "mcp-name": undefined } as const;

export class InnerCall implements IncomingRequest {
  readonly request: RequestMessage;
  readonly headers: IncomingRequest["headers"];
  readonly #outer: IncomingRequest;

  /** `args`: with the client's bytes; undefined: none. */
  constructor(outer: IncomingRequest, name: string, args: Raw | undefined) {
    const { params } = outer.request;
    const { bytes, value } = withMembers(params ?? raw({}), { name: raw(name), arguments: args });
    this.request = {
      ...outer.request,
      params: { bytes, value: isObject(value) ? value : {}, members: membersOf(bytes) ?? [] },
    };
    this.headers = { ...outer.headers, ...REPEATED };
    this.#outer = outer;
  }

  get era(): Era {
    return this.#outer.era;
  }

  get transport(): TransportName {
    return this.#outer.transport;
  }

  get session(): Session | undefined {
    return this.#outer.session;
  }

  get connection(): string | undefined {
    return this.#outer.connection;
  }

  get capabilities(): JsonObject {
    return this.#outer.capabilities;
  }

  get logLevel(): string | undefined {
    return this.#outer.logLevel;
  }

  get requester(): IncomingRequest["requester"] {
    return this.#outer.requester;
  }

  get signal(): Cancellation {
    return this.#outer.signal;
  }

  get ask(): AskClient | undefined {
    return this.#outer.ask;
  }

  notify(method: string, params?: Raw): void {
    this.#outer.notify(method, params);
  }
}
