// Whether a client can be asked what a server wants to know. Pure; the same for both eras.

import { isObject, type JsonObject } from "../wire/json.ts";
import { subjectOf } from "../servers/questions.ts";
import { appendElement, editMember } from "../wire/edit.ts";
import { failure, raw, RPC, type Reply } from "../wire/jsonrpc.ts";

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
  return failure({ code, message: cannotBeAsked(method, missing) });
}

/** For people, who may have no idea that a server can ask anything. */
export function cannotBeAsked(method: string, missing: JsonObject): string {
  return `${subjectOf(method)}, and the client that called it cannot be asked: it has no ${nameOf(missing)}`;
}

/** A question that the client could not be asked, and what it would have needed for it. */
export interface Unasked {
  readonly method: string;
  readonly missing: JsonObject;
}

/**
 * What a modern client is told of a call that failed after a question that it cannot be asked: not how the server put it, but
 * what the client lacks. A server that could do without is believed.
 */
export function withBlame(reply: Reply, unasked: Unasked | undefined): Reply {
  if (unasked === undefined || !hasFailed(reply)) return reply;
  return failure({
    code: RPC.missingClientCapability,
    message: cannotBeAsked(unasked.method, unasked.missing),
    data: { requiredCapabilities: unasked.missing },
  });
}

/** The same for a legacy client, which has no code for it: the server's own words, and after them the reason. */
export function withReason(reply: Reply, unasked: Unasked | undefined): Reply {
  if (unasked === undefined || !hasFailed(reply)) return reply;
  const reason = cannotBeAsked(unasked.method, unasked.missing);
  // Most servers pass on what they were told.
  if ((reply.ok ? reply.result : reply.error).bytes.includes(reason)) return reply;
  if (!reply.ok) {
    const error = isObject(reply.error.value) ? reply.error.value : {};
    return { ok: false, error: raw({ ...error, message: `${reason}. The server said: ${String(error["message"])}` }) };
  }
  const text = raw({ type: "text", text: reason });
  const told = editMember(reply.result, "content", (content) => appendElement(content, text));
  return told === undefined ? reply : { ok: true, result: told };
}

function hasFailed(reply: Reply): boolean {
  return !reply.ok || (isObject(reply.result.value) && reply.result.value["isError"] === true);
}
