// URL elicitation of a legacy server for a modern client. The server replies with an error code of 2025-11-25 that modern clients
// do not know, so they get `input_required` instead. When the client repeats its request, it is sent to the server again.

import { HubError } from "../../errors.ts";
import { URL_ELICITATION_REQUIRED } from "../../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { failure, RPC, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { missingCapability, nameOf, type ClientRequest } from "./client-capabilities.ts";
import { inputRequired, readInputResponses } from "./input-required.ts";

/** The reply in the format of a modern client. */
export function forModern(reply: Reply, capabilities: JsonObject): Reply {
  if (reply.ok || !isObject(reply.error.value) || reply.error.value["code"] !== URL_ELICITATION_REQUIRED) return reply;
  const { data } = reply.error.value;
  const given: unknown = isObject(data) ? data["elicitations"] : undefined;
  const elicitations = Array.isArray(given) ? given.filter(isObject) : [];
  if (elicitations.length === 0) return reply;
  const requests = elicitations.map((elicitation, index): [string, ClientRequest] => {
    // Modern clients have no such id.
    const { elicitationId: _, ...params } = elicitation;
    return [`url${index + 1}`, { method: "elicitation/create", params: { ...params, mode: "url" } }];
  });
  for (const [, request] of requests) {
    const missing = missingCapability(request, capabilities);
    if (missing === undefined) continue;
    const message = `The server needs a capability that this client lacks: ${nameOf(missing)}`;
    return failure({ code: RPC.missingClientCapability, message, data: { requiredCapabilities: missing } });
  }
  return inputRequired(new Map(requests));
}

/** Fails if the user did not open the URL: the server would only ask for it again. */
export function requireAccepted(params: JsonObject | undefined): void {
  for (const [, { action }] of readInputResponses(params) ?? []) {
    if (action === "decline" || action === "cancel") {
      throw new HubError("ClientRefused", "The server requires a URL to be opened first, and the client declined", {
        detail: action,
      });
    }
  }
}
