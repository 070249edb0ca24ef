// Calls of the tools that a searched group lists: searches are answered here, calls are forwarded to the tool that they name.

import type { ExposedTool, Group } from "../../catalog/group.ts";
import { HubError } from "../../errors.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { isObject, membersOf, type JsonObject, type Member } from "../../lib/json/json.ts";
import { success, type Raw, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { checkArguments } from "../../search/check-arguments.ts";
import { isMetaTool, MAX_DESCRIBED, MAX_HITS, type MetaTool } from "../../search/meta-tools.ts";
import { searchText } from "../../search/search-text.ts";
import type { Forwarder } from "../forwarder.ts";
import { InnerCall } from "./inner-call.ts";

/** Undefined if the request is no call of such a tool, or the group lists its own tools. */
export function metaCallOf({ request }: IncomingRequest, group: Group): MetaTool | undefined {
  if (!group.isSearched) return undefined;
  const name = request.params?.value["name"];
  return isMetaTool(name) ? name : undefined;
}

export async function answerMetaCall(
  tool: MetaTool,
  incoming: IncomingRequest,
  group: Group,
  forwarder: Pick<Forwarder, "callTool">,
): Promise<Reply> {
  const given = incoming.request.params?.value["arguments"];
  const args = isObject(given) ? given : {};
  switch (tool) {
    case "search_tools":
      return search(args, group);
    case "describe_tools":
      return describe(args, group);
    case "call_tool":
    case "call_read_only_tool":
      return call(tool, args, incoming, group, forwarder);
  }
}

function search({ query, limit = MAX_HITS, server }: JsonObject, group: Group): Reply {
  if (typeof query !== "string" || query.trim() === "") return toolError("`query` must say what the tool should do");
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) {
    return toolError(`\`limit\` must be a whole number from 1 to ${MAX_HITS}`);
  }
  if (server !== undefined && (typeof server !== "string" || !group.servers.includes(server))) {
    return toolError(`\`server\` must be one of: ${group.servers.join(", ")}`);
  }
  const admits = server === undefined ? undefined : (tool: ExposedTool) => tool.server === server;
  return text(searchText(group.index.search(query, Math.min(limit, MAX_HITS), admits), group.tools.length));
}

function describe({ names }: JsonObject, group: Group): Reply {
  const wanted = Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [];
  if (wanted.length === 0 || wanted.length > MAX_DESCRIBED) {
    return toolError(`\`names\` must be a list of 1 to ${MAX_DESCRIBED} names of tools`);
  }
  const known = new Map(group.tools.map((tool) => [tool.exposed, tool.definition]));
  const parts = wanted.map((name) => {
    const definition = known.get(name);
    return definition === undefined ? notFound(name, known.keys()) : JSON.stringify(definition);
  });
  return text(parts.join("\n\n"));
}

async function call(
  tool: "call_tool" | "call_read_only_tool",
  { name, arguments: given }: JsonObject,
  incoming: IncomingRequest,
  group: Group,
  forwarder: Pick<Forwarder, "callTool">,
): Promise<Reply> {
  if (typeof name !== "string") return toolError("`name` must be the name of a tool, as search_tools shows it");
  if (given !== undefined && !isObject(given)) return toolError("`arguments` must be an object");
  if (isMetaTool(name)) return toolError(`Call ${name} itself, without ${tool}`);
  const check = ({ definition }: ExposedTool): HubError | undefined => {
    if (tool === "call_read_only_tool" && !readsOnly(definition)) {
      return new HubError("InvalidArgument", `${name} does not declare that it only reads`, {
        field: "name",
        hint: "Call it with call_tool",
      });
    }
    const problem = checkArguments(definition["inputSchema"], given ?? {});
    if (problem === undefined) return undefined;
    const { field, message } = problem;
    return new HubError("InvalidArgument", field === "" ? message : `${field}: ${message}`, {
      field: field === "" ? "arguments" : field,
      hint: "describe_tools shows its schema",
    });
  };
  try {
    return await forwarder.callTool(new InnerCall(incoming, name, innerArguments(incoming, given)), group, check);
  } catch (thrown) {
    if (!(thrown instanceof HubError)) throw thrown;
    if (thrown.kind === "ToolNotFound")
      return toolError(
        notFound(
          name,
          group.tools.map(({ exposed }) => exposed),
        ),
      );
    if (thrown.kind !== "InvalidArgument") throw thrown;
    return toolError(thrown.hint === undefined ? thrown.message : `${thrown.message}. ${thrown.hint}`);
  }
}

function readsOnly({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations["readOnlyHint"] === true;
}

/** With the bytes that the client sent. */
function innerArguments({ request: { params } }: IncomingRequest, given: JsonObject | undefined): Raw | undefined {
  if (params === undefined || given === undefined) return undefined;
  const outer = lastMember(params.bytes, params.members);
  const bytes = outer && lastMember(outer, membersOf(outer) ?? []);
  return bytes === undefined ? undefined : { bytes, value: given };
}

/** JSON.parse uses the last of several members with the same name. */
function lastMember(bytes: Buffer, members: readonly Member[]): Buffer | undefined {
  const member = members.findLast(({ key }) => key === "arguments");
  return member && bytes.subarray(member.valueStart, member.valueEnd);
}

function notFound(name: string, names: Iterable<string>): string {
  return `There is no tool ${JSON.stringify(name)}. ${didYouMean(name, [...names], "Tools")}`;
}

function text(shown: string): Reply {
  return success({ content: [{ type: "text", text: shown }] });
}

/** For the model, which can do better with the next call. */
function toolError(message: string): Reply {
  return success({ content: [{ type: "text", text: message }], isError: true });
}
