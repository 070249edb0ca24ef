// Methods that only an extension has (`skills/list`, `com.example/board/move`): which server of a group one is meant for, and
// what becomes of it where several have the extension. The hub itself knows no extension's methods but those of tasks.

import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { META, MODERN_VERSION } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { failure, RPC, type Raw, type Reply } from "../wire/jsonrpc.ts";
import type { Exchange } from "../wire/server.ts";
import { extensionsOf, introductions } from "./announced.ts";
import { mergeLists } from "./merged-lists.ts";

/** Asks a server, with what it knows by another name than the client. */
type Ask = (server: string, replace: JsonObject) => Promise<Reply>;

/** One that stands among the methods of the protocol itself. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["resources/directory/read", "io.modelcontextprotocol/skills"],
]);
/** What the protocol itself has never belongs to an extension, also where the client's revision does not have it. */
const OWN_PREFIXES: ReadonlySet<string> = new Set(
  "completion elicitation logging notifications prompts resources roots sampling server subscriptions tasks tools".split(
    " ",
  ),
);
/** What has taken the place of methods that modern clients know from earlier revisions. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["resources/subscribe", "subscriptions/listen, with the URI in resourceSubscriptions"],
  ["resources/unsubscribe", "the end of a subscriptions/listen"],
  ["logging/setLevel", `${META.logLevel} in the _meta of each request`],
]);
const MAX_PAGES = 100;

export async function askExtension(
  { request, era }: Exchange,
  group: Group,
  supervisor: Supervisor,
  ask: Ask,
): Promise<Reply> {
  const { method, params } = request;
  const servers = introductions(group, supervisor)
    .filter((server) => server.era === era && Object.keys(extensionsOf(server)).some((id) => has(id, method)))
    .map(({ server }) => server);
  const [first, ...others] = servers;
  if (first === undefined) {
    const instead = era === "modern" ? INSTEAD.get(method) : undefined;
    const hint = instead === undefined ? "" : `: in revision ${MODERN_VERSION} it is ${instead}`;
    return failure({ code: RPC.methodNotFound, message: `There is no method ${method} here${hint}` });
  }
  const uri = params?.value["uri"];
  const owner = typeof uri === "string" ? group.findResourceOwner(uri) : undefined;
  if (owner !== undefined && servers.includes(owner.server)) return ask(owner.server, { uri: owner.uri });
  if (others.length === 0) return ask(first, {});
  if (method.endsWith("/list")) return listAll(servers, params?.value["cursor"], ask);
  if (method.endsWith("/get") || method.endsWith("/read")) return askInTurn(servers, ask);
  // It may change something, and nothing says where.
  throw new HubError("InvalidConfig", `Several servers of this group have ${method}, and nothing says which is meant`, {
    detail: servers.join(", "),
    hint: "Connect to a group that has one of them",
  });
}

/** The lists of all of them as one. A server that has none to give is left out, as one that is down is from other lists. */
async function listAll(servers: readonly string[], cursor: unknown, ask: Ask): Promise<Reply> {
  if (cursor !== undefined) {
    throw new HubError("InvalidConfig", "This cursor is not one of ours", { field: "cursor" });
  }
  const asked = await Promise.allSettled(servers.map((server) => pagesOf(server, ask)));
  const answers = asked.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const result = mergeLists(answers.flatMap(({ pages }) => pages));
  if (result !== undefined) return { ok: true, result };
  const refusal = answers.flatMap((answer) => answer.refusal ?? [])[0];
  if (refusal !== undefined) return refusal;
  for (const outcome of asked) if (outcome.status === "rejected") throw outcome.reason;
  throw new HubError("ProtocolError", "The lists of several servers have no form in which they could be one", {
    detail: servers.join(", "),
    hint: "Connect to a group that has one of them",
  });
}

/** All pages of one server; or why it has none. */
async function pagesOf(server: string, ask: Ask): Promise<{ readonly pages: Raw[]; readonly refusal?: Reply }> {
  const pages: Raw[] = [];
  const seen = new Set<unknown>();
  for (let replace: JsonObject = {}; pages.length < MAX_PAGES;) {
    const reply = await ask(server, replace);
    if (!reply.ok) return { pages, refusal: reply };
    pages.push(reply.result);
    const { nextCursor } = isObject(reply.result.value) ? reply.result.value : {};
    // One that comes again would go round for ever.
    if (typeof nextCursor !== "string" || seen.has(nextCursor)) break;
    seen.add(nextCursor);
    replace = { cursor: nextCursor };
  }
  return { pages };
}

/** Something is only read: the first that has it gives it. Where none has, the first says so. */
async function askInTurn(servers: readonly string[], ask: Ask): Promise<Reply> {
  let refusal: Reply | undefined;
  let failed: unknown;
  for (const server of servers) {
    try {
      const reply = await ask(server, {});
      if (reply.ok) return reply;
      refusal ??= reply;
    } catch (error) {
      failed ??= error; // it is down, say: another one may have it
    }
  }
  if (refusal !== undefined) return refusal;
  throw failed;
}

/** Whether a method is one of an extension: it begins with its id, or with the id's last part. */
function has(id: string, method: string): boolean {
  const elsewhere = ELSEWHERE.get(method);
  if (elsewhere !== undefined) return elsewhere === id;
  const [prefix = ""] = method.split("/");
  const name = id.slice(id.lastIndexOf("/") + 1);
  return method.startsWith(`${id}/`) || (method.startsWith(`${name}/`) && !OWN_PREFIXES.has(prefix));
}
