// How a failure of the hub looks to an MCP client: the one mapping of this edge. The servers' own errors never come here.

import { toHubError, type HubError } from "../errors.ts";
import type { Era } from "../wire/era.ts";
import { failure, success, type Reply } from "../wire/jsonrpc.ts";

/** Where the error contract stands in a tool result. */
export const ERROR_META = "io.plugboard/error";

const RESOURCE_NOT_FOUND_LEGACY = -32002;
const MAX_EXCERPT = 400;

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
  return failure({ code, message: sentence(error), data: error.toJSON() });
}

/** A server that is down is something a model can work around; a wrong request is the client's to mend. */
function isForTheModel(error: HubError): boolean {
  return error.code !== "NOT_FOUND" && error.code !== "VALIDATION_ERROR";
}

function textOf(error: HubError): string {
  return `${error.code}: ${sentence(error)}`;
}

/** Most client libraries show the message alone: what is wrong and what to do must be in it. */
function sentence({ message, detail, hint }: HubError): string {
  const what = detail === undefined || detail === "" ? message : `${message} (${excerpt(detail)})`;
  return hint === undefined ? what : `${what}. ${excerpt(hint)}`;
}

/** A detail may be the last lines of a server's stderr; all of it is in the data. */
function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
}
