// How a failure of the hub looks to an MCP client: the one mapping of this edge. The servers' own errors never come here.

import { toHubError, type HubError } from "../errors.ts";
import type { Era } from "../wire/era.ts";
import { failure, success, type Reply } from "../wire/jsonrpc.ts";

/** Where the error contract stands in a tool result. */
export const ERROR_META = "io.plugboard/error";

const RESOURCE_NOT_FOUND_LEGACY = -32002;

export function toReply(thrown: unknown, method: string, era: Era): Reply {
  const error = toHubError(thrown);
  if (method === "tools/call" && isForTheModel(error)) {
    return success({
      content: [{ type: "text", text: textOf(error) }],
      isError: true,
      _meta: { [ERROR_META]: error.toJSON() },
    });
  }
  // The modern era has no code of its own for this and uses "invalid params".
  const isResource = method === "resources/read" || method === "resources/subscribe";
  const legacyResource = isResource && era === "legacy" && error.code === "NOT_FOUND";
  const code = legacyResource ? RESOURCE_NOT_FOUND_LEGACY : error.meaning.rpc;
  return failure({ code, message: error.message, data: error.toJSON() });
}

/** A server that is down is something a model can work around; a wrong request is the client's to mend. */
function isForTheModel(error: HubError): boolean {
  return error.code !== "NOT_FOUND" && error.code !== "VALIDATION_ERROR";
}

function textOf({ code, message, detail }: HubError): string {
  return detail === undefined ? `${code}: ${message}` : `${code}: ${message} (${detail})`;
}
