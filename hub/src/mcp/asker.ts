// Who asks: a client knows only the hub, so where a group has several servers a question says which of them it comes from, in
// the text that its user reads and, for programs, in `_meta`.

import { editMember, withMembers } from "../wire/edit.ts";
import { isObject } from "../wire/json.ts";
import { raw, type Raw, type Reply } from "../wire/jsonrpc.ts";

/** In the `_meta` of a question. */
const ASKER_META = "io.plugboard/server";

/** The params of a question of this server. */
export function withAsker(method: string, params: Raw | undefined, server: string): Raw {
  const given = params ?? raw({});
  const { message, _meta: meta } = isObject(given.value) ? given.value : {};
  const isText = method === "elicitation/create" && typeof message === "string";
  return withMembers(given, {
    ...(isText ? { message: raw(`[${server}] ${message}`) } : {}),
    _meta: raw({ ...(isObject(meta) ? meta : {}), [ASKER_META]: server }),
  });
}

/** The same for an answer that asks, as modern clients get it. The server's own state keeps its bytes. */
export function withAskerInside(reply: Reply, server: string): Reply {
  if (!reply.ok || !isObject(reply.result.value) || reply.result.value["resultType"] !== "input_required") return reply;
  const requests = reply.result.value["inputRequests"];
  if (!isObject(requests)) return reply;
  const named = editMember(reply.result, "inputRequests", (all) =>
    Object.entries(requests).reduce(
      (edited, [key, request]) => editMember(edited, key, (one) => naming(one, request, server)) ?? edited,
      all,
    ),
  );
  return named === undefined ? reply : { ok: true, result: named };
}

function naming(question: Raw, request: unknown, server: string): Raw | undefined {
  if (!isObject(request)) return undefined;
  const { method } = request;
  return editMember(question, "params", (params) => withAsker(String(method), params, server));
}
