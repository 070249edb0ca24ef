// `plugboard call`: one tool call from the shell.

import { text as readAll } from "node:stream/consumers";
import type { Server } from "../api/schemas/server.ts";
import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import type { Raw, RawParams } from "../wire/jsonrpc.ts";
import { withAccess, type Access } from "./access.ts";
import { parseArguments, parseJson } from "./arguments.ts";
import { printContent } from "./content.ts";
import { notRunning, requireEnabled } from "./down.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";

interface CallOptions extends GlobalOptions {
  readonly group?: string;
}

interface CallInput {
  readonly target: string;
  readonly given: readonly string[] | RawParams;
  readonly group: string | undefined;
}

const TOOL_ERROR = 5;

export const callCommand: Register = (program, { io, done }) => {
  program
    .command("call")
    .description("call a tool")
    .argument("<tool>", "server.tool, server:tool, or a tool's name in the group")
    .argument("[arguments...]", "key=value …, one JSON object, or - to read JSON from stdin")
    .option("--group <name>", "call it as a client of this group would")
    .action(async (target: string, words: string[], options: CallOptions) => {
      const given = words.length === 1 && words[0] === "-" ? parseJson(await readAll(io.stdin)) : words;
      done(await withAccess(io, options, (access) => call(access, { target, given, group: options.group })));
    });
};

async function call(access: Access, input: CallInput): Promise<number> {
  return print(access, await ask(access, input));
}

/** Starts what is needed to know the tool: its server where the target names one, else all. */
async function ask(access: Access, { target, given, group }: CallInput): Promise<Raw> {
  const toArguments = (schema: unknown) => ("bytes" in given ? given : parseArguments(given, schema));
  const split = target.search(/[.:]/);
  const named = split > 0 ? target.slice(0, split) : undefined;
  const server = (await access.api.listServers()).find(({ config }) => config.name === named);
  if (server !== undefined && (group === undefined || server.status === "disabled" || server.groups.includes(group))) {
    return onServer(access, server, { tool: target.slice(split + 1), group, toArguments });
  }
  if (group !== undefined) await access.api.getGroup(group);
  await access.ready();
  return inGroup(access, group ?? "default", { tool: target, toArguments });
}

interface ToolInput {
  readonly tool: string;
  readonly toArguments: (schema: unknown) => RawParams;
}

/** By the name that the server knows. */
async function onServer(
  access: Access,
  server: Server,
  { tool, group, toArguments }: ToolInput & { group: string | undefined },
): Promise<Raw> {
  const { name } = server.config;
  requireEnabled(server);
  await access.ready(name);
  if (group !== undefined) return inGroup(access, group, { tool: `${name}:${tool}`, toArguments });
  try {
    const definition = (await access.api.listTools(name)).find((candidate) => candidate.name === tool);
    return await access.callTool({ server: name, tool, args: toArguments(definition?.input_schema) });
  } catch (thrown) {
    if (!(thrown instanceof HubError) || thrown.kind !== "ServerNotRunning") throw thrown;
    throw notRunning(server, thrown);
  }
}

/** By the name that the group exposes, `server:tool`, or the server's own where only one can be meant. */
async function inGroup(access: Access, group: string, { tool: name, toArguments }: ToolInput): Promise<Raw> {
  const tools = await access.api.listGroupTools(group);
  const exact = tools.find(({ name: exposed, server, tool }) => exposed === name || `${server}:${tool}` === name);
  const bare = tools.filter(({ tool }) => tool === name);
  if (exact === undefined && bare.length > 1) {
    const choices = bare.map(({ server, tool }) => `${server}.${tool}`).join(", ");
    throw new HubError("ToolNotFound", `Several servers have a tool "${name}"`, { hint: `Name one of ${choices}` });
  }
  const found = exact ?? bare[0];
  return access.callGroupTool({ group, tool: found?.name ?? name, args: toArguments(found?.input_schema) });
}

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
