// Forwards methods of extensions (`skills/list`, `com.example/board/move`) to the server of the group that announces the extension,
// and handles groups where several do. Of all extensions, the hub itself knows only tasks.

import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { META, MODERN_VERSION } from "../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { failure, RPC, type Raw, type Reply } from "../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../protocol/serve/service.ts";
import { extensionsOf, serverInfosOf } from "./group-capabilities.ts";
import { mergeLists } from "./lists/merged-lists.ts";

/** Sends the request to a server, with these params replaced. */
type Send = (server: string, replace: JsonObject) => Promise<Reply>;

/** Extension methods under a prefix of the protocol itself. */
const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ["resources/directory/read", "io.modelcontextprotocol/skills"],
]);
/** Prefixes of the protocol itself never belong to an extension, even if the client's revision does not have them. */
const OWN_PREFIXES: ReadonlySet<string> = new Set(
  "completion elicitation logging notifications prompts resources roots sampling server subscriptions tasks tools".split(
    " ",
  ),
);
/** Legacy methods and their modern replacements, for error messages. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ["resources/subscribe", "subscriptions/listen, with the URI in resourceSubscriptions"],
  ["resources/unsubscribe", "the end of a subscriptions/listen"],
  ["logging/setLevel", `${META.logLevel} in the _meta of each request`],
]);
const MAX_PAGES = 100;

export async function forwardExtension(
  { request, era }: IncomingRequest,
  group: Group,
  supervisor: Supervisor,
  send: Send,
): Promise<Reply> {
  const { method, params } = request;
  const servers = serverInfosOf(group, supervisor)
    .filter((server) => server.era === era && Object.keys(extensionsOf(server)).some((id) => has(id, method)))
    .map(({ server }) => server);
  const [first, ...others] = servers;
  if (first === undefined) {
    const replacement = era === "modern" ? REPLACEMENTS.get(method) : undefined;
    const hint = replacement === undefined ? "" : `. Revision ${MODERN_VERSION} has ${replacement} instead`;
    return failure({ code: RPC.methodNotFound, message: `Method not found: ${method}${hint}` });
  }
  const uri = params?.value["uri"];
  const owner = typeof uri === "string" ? group.findResourceOwner(uri) : undefined;
  if (owner !== undefined && servers.includes(owner.server)) return send(owner.server, { uri: owner.uri });
  if (others.length === 0) return send(first, {});
  if (method.endsWith("/list")) return listAll(servers, params?.value["cursor"], send);
  if (method.endsWith("/get") || method.endsWith("/read")) return firstSuccess(servers, send);
  // The method may have side effects, so no server is guessed.
  throw new HubError("InvalidArgument", `Several servers of this group have ${method}`, {
    detail: servers.join(", "),
    hint: "Connect to a group that has one of them",
  });
}

/** The merged lists of all servers. A server that fails is left out, like a server that is down from other lists. */
async function listAll(servers: readonly string[], cursor: unknown, send: Send): Promise<Reply> {
  if (cursor !== undefined) {
    throw new HubError("InvalidArgument", "Invalid cursor", { field: "cursor" });
  }
  const settled = await Promise.allSettled(servers.map((server) => pagesOf(server, send)));
  const lists = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const result = mergeLists(lists.flatMap(({ pages }) => pages));
  if (result !== undefined) return { ok: true, result };
  const error = lists.flatMap((list) => list.error ?? [])[0];
  if (error !== undefined) return error;
  for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason;
  throw new HubError("ProtocolError", "The lists of several servers cannot be merged", {
    detail: servers.join(", "),
    hint: "Connect to a group that has one of them",
  });
}

/** All pages of one server, up to its first error. */
async function pagesOf(server: string, send: Send): Promise<{ readonly pages: Raw[]; readonly error?: Reply }> {
  const pages: Raw[] = [];
  const seen = new Set<unknown>();
  for (let replace: JsonObject = {}; pages.length < MAX_PAGES;) {
    const reply = await send(server, replace);
    if (!reply.ok) return { pages, error: reply };
    pages.push(reply.result);
    const { nextCursor } = isObject(reply.result.value) ? reply.result.value : {};
    // A repeated cursor would loop forever.
    if (typeof nextCursor !== "string" || seen.has(nextCursor)) break;
    seen.add(nextCursor);
    replace = { cursor: nextCursor };
  }
  return { pages };
}

/** For methods that only read: the first successful reply, or else the first error. */
async function firstSuccess(servers: readonly string[], send: Send): Promise<Reply> {
  let errorReply: Reply | undefined;
  let failed: unknown;
  for (const server of servers) {
    try {
      const reply = await send(server, {});
      if (reply.ok) return reply;
      errorReply ??= reply;
    } catch (error) {
      failed ??= error; // for example, the server is down
    }
  }
  if (errorReply !== undefined) return errorReply;
  throw failed;
}

/** Whether a method belongs to an extension: it begins with the extension's id, or with the last part of it. */
function has(id: string, method: string): boolean {
  const irregular = IRREGULAR.get(method);
  if (irregular !== undefined) return irregular === id;
  const [prefix = ""] = method.split("/");
  const name = id.slice(id.lastIndexOf("/") + 1);
  return method.startsWith(`${id}/`) || (method.startsWith(`${name}/`) && !OWN_PREFIXES.has(prefix));
}
