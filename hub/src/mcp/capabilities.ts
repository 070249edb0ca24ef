// Whether a client can be asked what a server wants to know. Pure; the same for both eras.

import { isObject, type JsonObject } from "../wire/json.ts";
import { failure, RPC, type Reply } from "../wire/jsonrpc.ts";

/** A question of a server, in either of its forms: a request of its own, or an entry of `inputRequests`. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** What the client would have to be capable of, in the form in which it would say so; undefined: it is. */
export function missingCapability({ method, params }: Question, able: JsonObject): JsonObject | undefined {
  switch (method) {
    case "roots/list":
      return isObject(able["roots"]) ? undefined : { roots: {} };
    case "sampling/createMessage": {
      const { sampling } = able;
      if (params?.["tools"] === undefined) return isObject(sampling) ? undefined : { sampling: {} };
      return isObject(sampling) && isObject(sampling["tools"]) ? undefined : { sampling: { tools: {} } };
    }
    case "elicitation/create": {
      const mode = params?.["mode"] === "url" ? "url" : "form";
      return canElicit(able["elicitation"], mode) ? undefined : { elicitation: { [mode]: {} } };
    }
    default:
      return { [method]: {} };
  }
}

/** An empty capability is older than the two modes, and means forms. */
function canElicit(elicitation: unknown, mode: "form" | "url"): boolean {
  if (!isObject(elicitation)) return false;
  if (isObject(elicitation[mode])) return true;
  return mode === "form" && !isObject(elicitation["url"]);
}

export function canBeAsked(able: JsonObject): boolean {
  return isObject(able["elicitation"]) || isObject(able["sampling"]) || isObject(able["roots"]);
}

/** For people: `elicitation.url`. */
export function nameOf(capability: JsonObject): string {
  return Object.entries(capability)
    .map(([key, value]) => (isObject(value) && Object.keys(value).length > 0 ? `${key}.${nameOf(value)}` : key))
    .join(", ");
}

/** What a legacy server hears when its client cannot do what it asks for: a mode is a parameter, the rest a method. */
export function unsupported({ method, params }: Question, missing: JsonObject): Reply {
  const code = params?.["mode"] === "url" ? RPC.invalidParams : RPC.methodNotFound;
  return failure({ code, message: `${method} is not supported by this client: it lacks ${nameOf(missing)}` });
}

/**
 * What a modern client is told of a call that failed after a question that it cannot be asked: not how the server put it, but
 * what the client lacks. A server that could do without is believed.
 */
export function withBlame(reply: Reply, missing: JsonObject | undefined): Reply {
  if (missing === undefined || !hasFailed(reply)) return reply;
  return failure({
    code: RPC.missingClientCapability,
    message: `The server needs what this client did not declare: ${nameOf(missing)}`,
    data: { requiredCapabilities: missing },
  });
}

function hasFailed(reply: Reply): boolean {
  return !reply.ok || (isObject(reply.result.value) && reply.result.value["isError"] === true);
}
