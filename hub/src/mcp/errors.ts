// Maps errors of the hub to replies for MCP clients. Errors of servers are passed on unchanged and do not pass through this file.

import { toHubError, type HubError } from "../errors.ts";
import type { Era } from "../protocol/revisions/era.ts";
import { failure, success, type Reply } from "../protocol/rpc/jsonrpc.ts";

/** Key of the error contract in the `_meta` of a tool result. */
export const ERROR_META = "io.plugboard/error";

const RESOURCE_NOT_FOUND_LEGACY = -32002;
const MAX_EXCERPT = 400;

export function toReply(thrown: unknown, method: string, era: Era): Reply {
  const error = toHubError(thrown);
  if (method === "tools/call" && isForTheModel(error)) return toolError(error);
  // The modern era has no code for this and uses "invalid params".
  const isResource = method === "resources/read" || method === "resources/subscribe";
  const legacyResource = isResource && era === "legacy" && error.code === "NOT_FOUND";
  const code = legacyResource ? RESOURCE_NOT_FOUND_LEGACY : error.meaning.rpc;
  return failure({ code, message: sentence(error), data: error.toJSON() });
}

/** As the result of a tool, which models read. */
export function toolError(error: HubError): Reply {
  return success({
    content: [{ type: "text", text: textOf(error) }],
    isError: true,
    _meta: { [ERROR_META]: error.toJSON() },
  });
}

/** A model can work around a server that is down; a wrong request has to be fixed by the client. */
function isForTheModel(error: HubError): boolean {
  return error.code !== "NOT_FOUND" && error.code !== "VALIDATION_ERROR";
}

function textOf(error: HubError): string {
  return `${error.code}: ${sentence(error)}`;
}

/** Most client libraries show only the message, so it includes detail and hint. */
function sentence({ message, detail, hint, loginUrl }: HubError): string {
  const what = detail === undefined || detail === "" ? message : `${message} (${excerpt(detail)})`;
  if (loginUrl !== undefined) return `${what}. Open ${loginUrl} or run: ${hint ?? "plugboard auth"}`;
  return hint === undefined ? what : `${what}. ${excerpt(hint)}`;
}

/** A detail may be several lines of a server's stderr; all of it is in the data. */
function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
}
