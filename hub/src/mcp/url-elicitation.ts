// A legacy server that sends its client to an address answers with an error of 2025-11-25, which modern clients do not know:
// for them it is an answer that asks for something. When they come back, the server is simply asked again.

import { HubError } from "../errors.ts";
import { URL_ELICITATION_REQUIRED } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { failure, RPC, type Reply } from "../wire/jsonrpc.ts";
import { missingCapability, nameOf, type Question } from "./capabilities.ts";
import { inputRequired, readInputResponses } from "./input-required.ts";

/** The answer as a modern client knows it. */
export function forModern(reply: Reply, capabilities: JsonObject): Reply {
  if (reply.ok || !isObject(reply.error.value) || reply.error.value["code"] !== URL_ELICITATION_REQUIRED) return reply;
  const { data } = reply.error.value;
  const given: unknown = isObject(data) ? data["elicitations"] : undefined;
  const elicitations = Array.isArray(given) ? given.filter(isObject) : [];
  if (elicitations.length === 0) return reply;
  const questions = elicitations.map((elicitation, index): [string, Question] => {
    // Modern clients know no such id.
    const { elicitationId: _, ...params } = elicitation;
    return [`url${index + 1}`, { method: "elicitation/create", params: { ...params, mode: "url" } }];
  });
  for (const [, question] of questions) {
    const missing = missingCapability(question, capabilities);
    if (missing === undefined) continue;
    const message = `The server needs what this client cannot do: ${nameOf(missing)}`;
    return failure({ code: RPC.missingClientCapability, message, data: { requiredCapabilities: missing } });
  }
  return inputRequired(new Map(questions));
}

/** Who did not go there would only be sent there again. */
export function checkAccepted(params: JsonObject | undefined): void {
  for (const [, { action }] of readInputResponses(params) ?? []) {
    if (action === "decline" || action === "cancel") {
      throw new HubError("ClientRefused", "The server wants an address to be opened first, and the client did not", {
        detail: action,
      });
    }
  }
}
