// A resource that is not there has a number of its own in the revisions before 2026-07-28, and the SDK sends the new one to all.

import { isJSONRPCErrorResponse, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { meansNotFound, RESOURCE_NOT_FOUND } from "./failure.ts";

export function withLegacyCode(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCErrorResponse(message) || !meansNotFound(message.error.data)) return message;
  return { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } };
}
