// `plugboard call`: calls one tool.

import { text as readAll } from "node:stream/consumers";
import type { Server } from "../../api/schemas/server.ts";
import { closest } from "@plugboard/shared/near-names";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Raw, RawParams } from "../../protocol/rpc/jsonrpc.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { parseArguments, parseJsonObject } from "../input/arguments.ts";
import { printContent } from "../terminal/content.ts";
import { notRunning, requireEnabled } from "../input/unavailable.ts";
import { fromBody } from "../input/error-body.ts";
import type { InteractiveCall } from "../hub-access/interactive-call.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Register } from "../command.ts";
import { timeoutOf } from "../input/timeout.ts";

interface CallOptions extends GlobalOptions {
  readonly group?: string;
}

interface CallInput {
  readonly target: string;
  readonly given: readonly string[] | RawParams;
  readonly group: string | undefined;
}

/** Shared context of the steps of the command. */
interface Setting {
  readonly io: Io;
  readonly access: Access;
  readonly options: CallOptions;
}

const TOOL_ERROR = 5;

export const callCommand: Register = (program, { io, done }) => {
  program
    .command("call")
    .description("call a tool")
    .argument("<tool>", "server.tool, server:tool, or a tool's name in the group")
    .argument("[arguments...]", "key=value …, one JSON object, or - to read JSON from stdin")
    .option("--group <name>", "call it as a client of this group would")
    .addHelpText("after", EXAMPLES)
    .action(async (target: string, words: string[], options: CallOptions) => {
      const given = words.length === 1 && words[0] === "-" ? parseJsonObject(await readAll(io.stdin)) : words;
      const input = { target, given, group: options.group };
      done(await withAccess(io, options, (access) => call({ io, access, options }, input)));
    });
};

const EXAMPLES = `
  plugboard call everything.get-sum a=2 b=3
  plugboard call everything.echo '{"message": "hello"}'`;

async function call(setting: Setting, input: CallInput): Promise<number> {
  return print(setting.access, await ask(setting, input));
}

/** Starts the server that the target names, or all servers if it names none. */
async function ask(setting: Setting, { target, given, group }: CallInput): Promise<Raw> {
  const { access } = setting;
  const toArguments = (schema: unknown) => ("bytes" in given ? given : parseArguments(given, schema));
  const split = target.search(/[.:]/);
  const named = split > 0 ? target.slice(0, split) : undefined;
  const server = (await access.api.servers.list()).find(({ config }) => config.name === named);
  if (server !== undefined && (group === undefined || server.status === "disabled" || server.groups.includes(group))) {
    return onServer(setting, server, { tool: target.slice(split + 1), group, toArguments });
  }
  if (group !== undefined) await access.api.groups.get(group);
  await access.ready();
  return inGroup(setting, group ?? "default", { tool: target, toArguments });
}

interface ToolInput {
  readonly tool: string;
  readonly toArguments: (schema: unknown) => RawParams;
}

/** Calls a tool by its server's own name for it. */
async function onServer(
  setting: Setting,
  server: Server,
  { tool, group, toArguments }: ToolInput & { group: string | undefined },
): Promise<Raw> {
  const { access } = setting;
  const { name } = server.config;
  requireEnabled(server);
  await access.ready(name);
  if (group !== undefined) return inGroup(setting, group, { tool: `${name}:${tool}`, toArguments });
  try {
    const definition = (await access.api.servers.tools(name)).find((candidate) => candidate.name === tool);
    const args = toArguments(definition?.input_schema);
    const through = server.groups.includes("default") ? "default" : server.groups[0];
    const outcome =
      definition === undefined || through === undefined
        ? undefined
        : await interactively(setting, through, { tool: `${name}:${tool}`, shown: `${name}.${tool}`, args });
    return outcome ?? (await access.callTool({ server: name, tool, args }));
  } catch (thrown) {
    if (!(thrown instanceof HubError) || thrown.kind !== "ServerNotRunning") throw thrown;
    throw notRunning(server, thrown);
  }
}

/** Calls a tool by the name that the group exposes, by `server:tool`, or by the server's own name if only one server has it. */
async function inGroup(setting: Setting, group: string, { tool: name, toArguments }: ToolInput): Promise<Raw> {
  const { access } = setting;
  const tools = await access.api.groups.tools(group);
  const exact = tools.find(({ name: exposed, server, tool }) => exposed === name || `${server}:${tool}` === name);
  const bare = tools.filter(({ tool }) => tool === name);
  if (exact === undefined && bare.length > 1) {
    const choices = bare.map(({ server, tool }) => `${server}.${tool}`).join(", ");
    throw new HubError("ToolNotFound", `Several servers have a tool "${name}"`, { hint: `Name one of ${choices}` });
  }
  const found = exact ?? bare[0];
  const args = toArguments(found?.input_schema);
  const outcome = found && (await interactively(setting, group, { tool: found.name, shown: name, args }));
  try {
    return outcome ?? (await access.callGroupTool({ group, tool: found?.name ?? name, args }));
  } catch (error) {
    if (!(error instanceof HubError) || error.kind !== "ToolNotFound") throw error;
    // The hub suggests exposed names only; here `server.tool` can be typed too.
    const names = tools.flatMap(({ name: exposed, server, tool }) => [`${server}.${tool}`, exposed]);
    const similar = closest(name, names);
    const hint = similar === undefined ? (error.hint ?? "plugboard tools") : `Did you mean ${similar}?`;
    throw fromBody({ ...error.toJSON(), hint });
  }
}

/** Calls over MCP if a user is watching: with progress and elicitation. Undefined if the REST API must be used. */
async function interactively(
  { io, access, options }: Setting,
  group: string,
  wanted: Omit<InteractiveCall, "timeoutMs">,
): Promise<Raw | undefined> {
  const { out } = access;
  if (!out.live || wanted.args.bytes.length > MAX_TYPED_BYTES) return undefined;
  const pipe = await access.converse(group);
  if (pipe === undefined) return undefined;
  const { callInteractively } = await import("../hub-access/interactive-call.ts");
  try {
    return await callInteractively(io, { out, options, pipe }, { ...wanted, timeoutMs: timeoutOf(options) });
  } catch (error) {
    // A tool that the group hides can still be called by server and tool name.
    if (error instanceof HubError && error.kind === "ToolNotFound") return undefined;
    throw error;
  }
}

/** Longer arguments do not fit into one line of the stdio endpoint. */
const MAX_TYPED_BYTES = 1 << 20;

function print({ out }: Access, { bytes, value }: Raw): number {
  const { success, content, rpc_error } = isObject(value) ? value : {};
  if (isObject(rpc_error)) {
    const { message } = rpc_error;
    throw new HubError("ToolFailed", "The server answered with an error", {
      detail: typeof message === "string" ? message : JSON.stringify(rpc_error),
    });
  }
  if (out.json) out.dataBytes(bytes);
  else printContent(out, content);
  return success === true ? 0 : TOOL_ERROR;
}
