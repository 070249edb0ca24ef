// Whether a client supports a request that a server sends to it. Pure; the same for both eras.

import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { subjectOf } from "../../servers/connection/client-responder.ts";
import { appendElement, editMember } from "../../protocol/rpc/json-edit.ts";
import { failure, raw, RPC, type Reply } from "../../protocol/rpc/jsonrpc.ts";

/** A request of a server to its client, in either form: a JSON-RPC request, or an entry of `inputRequests`. */
export interface ClientRequest {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** The capability that the client lacks, in the form in which it would declare it; undefined if it supports the request. */
export function missingCapability({ method, params }: ClientRequest, able: JsonObject): JsonObject | undefined {
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

/** An empty capability predates the two modes, and means forms. */
function canElicit(elicitation: unknown, mode: "form" | "url"): boolean {
  if (!isObject(elicitation)) return false;
  if (isObject(elicitation[mode])) return true;
  return mode === "form" && !isObject(elicitation["url"]);
}

export function canBeAsked(able: JsonObject): boolean {
  return isObject(able["elicitation"]) || isObject(able["sampling"]) || isObject(able["roots"]);
}

/** @example nameOf({ elicitation: { url: {} } }) // "elicitation.url" */
export function nameOf(capability: JsonObject): string {
  return Object.entries(capability)
    .map(([key, value]) => (isObject(value) && Object.keys(value).length > 0 ? `${key}.${nameOf(value)}` : key))
    .join(", ");
}

/** The error for a legacy server: an unsupported mode is an invalid parameter, anything else an unknown method. */
export function unsupported({ method, params }: ClientRequest, missing: JsonObject): Reply {
  const code = params?.["mode"] === "url" ? RPC.invalidParams : RPC.methodNotFound;
  return failure({ code, message: cannotBeAsked(method, missing) });
}

/** Written for users who may not know that a server can send requests at all. */
export function cannotBeAsked(method: string, missing: JsonObject): string {
  return `${subjectOf(method)}, but the calling client does not support ${nameOf(missing)}`;
}

/** A request that the client does not support, and the capability that it lacks. */
export interface UnsupportedRequest {
  readonly method: string;
  readonly missing: JsonObject;
}

/**
 * The reply to a modern client whose call failed after an unsupported request: an error that names the missing capability, in
 * place of the server's own error. A call that succeeded anyway keeps its result.
 */
export function withCapabilityError(reply: Reply, unasked: UnsupportedRequest | undefined): Reply {
  if (unasked === undefined || !hasFailed(reply)) return reply;
  return failure({
    code: RPC.missingClientCapability,
    message: cannotBeAsked(unasked.method, unasked.missing),
    data: { requiredCapabilities: unasked.missing },
  });
}

/** The same for a legacy client, which has no error code for it: the reason is added to the server's own error. */
export function withCapabilityNote(reply: Reply, unasked: UnsupportedRequest | undefined): Reply {
  if (unasked === undefined || !hasFailed(reply)) return reply;
  const reason = cannotBeAsked(unasked.method, unasked.missing);
  // Most servers pass the reason on themselves.
  if ((reply.ok ? reply.result : reply.error).bytes.includes(reason)) return reply;
  if (!reply.ok) {
    const error = isObject(reply.error.value) ? reply.error.value : {};
    return { ok: false, error: raw({ ...error, message: `${reason}. The server said: ${String(error["message"])}` }) };
  }
  const text = raw({ type: "text", text: reason });
  const result = editMember(reply.result, "content", (content) => appendElement(content, text));
  return result === undefined ? reply : { ok: true, result };
}

function hasFailed(reply: Reply): boolean {
  return !reply.ok || (isObject(reply.result.value) && reply.result.value["isError"] === true);
}
