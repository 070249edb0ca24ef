// Labels the requests that servers send to clients with the server's name, in a group of several servers: a client knows only the
// hub. The name is in the text that the user reads and, for programs, in `_meta`.

import { SealedState } from "./sealed-state.ts";
import { editMember, withMembers } from "../../protocol/rpc/json-edit.ts";
import { isObject } from "../../lib/json/json.ts";
import { raw, type Raw, type Reply } from "../../protocol/rpc/jsonrpc.ts";

/** The key of the hub's own question, whether a call may be made. */
export const APPROVAL_KEY = "approval";
const SERVER_META = "io.plugboard/server";

/** The params of a request of this server to a client. */
export function withServerLabel(method: string, params: Raw | undefined, server: string): Raw {
  const given = params ?? raw({});
  const { message, _meta: meta } = isObject(given.value) ? given.value : {};
  const isText = method === "elicitation/create" && typeof message === "string";
  return withMembers(given, {
    ...(isText ? { message: raw(`[${server}] ${message}`) } : {}),
    _meta: raw({ ...(isObject(meta) ? meta : {}), [SERVER_META]: server }),
  });
}

/** The same for an `input_required` result. The server's own state keeps its bytes. */
export function withServerLabels(reply: Reply, server: string): Reply {
  if (!reply.ok || !isObject(reply.result.value) || reply.result.value["resultType"] !== "input_required") return reply;
  const requests = reply.result.value["inputRequests"];
  if (!isObject(requests)) return reply;
  // The hub's own question is not the server's.
  const isOurs = SealedState.looksSealed(reply.result.value["requestState"]);
  const asked = Object.entries(requests).filter(([key]) => !isOurs || key !== APPROVAL_KEY);
  const named = editMember(reply.result, "inputRequests", (all) =>
    asked.reduce(
      (edited, [key, request]) => editMember(edited, key, (one) => labelled(one, request, server)) ?? edited,
      all,
    ),
  );
  return named === undefined ? reply : { ok: true, result: named };
}

function labelled(request: Raw, value: unknown, server: string): Raw | undefined {
  if (!isObject(value)) return undefined;
  const { method } = value;
  return editMember(request, "params", (params) => withServerLabel(String(method), params, server));
}
