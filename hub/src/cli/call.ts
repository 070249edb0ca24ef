// `plugboard call`: one tool call from the shell.

import { text as readAll } from "node:stream/consumers";
import type { ExposedTool } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import type { Hub } from "../hub.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { rawParams, type Reply } from "../wire/jsonrpc.ts";
import { parseArguments, parseJson } from "./arguments.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import type { Register } from "./program.ts";

interface CallOptions extends GlobalOptions {
  readonly group?: string;
}

const TOOL_ERROR = 5;

export const callCommand: Register = (program, io, done) => {
  program
    .command("call")
    .description("call a tool")
    .argument("<tool>", "server.tool, server:tool, or a tool's name in the group")
    .argument("[arguments...]", "key=value …, one JSON object, or - to read JSON from stdin")
    .option("--group <name>", "call it as a client of this group would")
    .action(async (target: string, words: string[], options: CallOptions) => {
      const given = words.length === 1 && words[0] === "-" ? parseJson(await readAll(io.stdin)) : words;
      done(await withHub(io, options, (hub) => call(hub, io, { target, given, options })));
    });
};

async function call(
  hub: Hub,
  io: Io,
  { target, given, options }: { target: string; given: readonly string[] | JsonObject; options: CallOptions },
): Promise<number> {
  const tool = await findTool(hub, target, options.group);
  const args = isObject(given) ? given : parseArguments(given, tool.definition["inputSchema"]);
  const reply = await hub.calls.tool({
    method: "tools/call",
    params: rawParams({ name: tool.tool, arguments: args }),
    tool: tool.definition,
    group: options.group ?? "default",
    server: tool.server,
    name: tool.tool,
  });
  return print(io, reply, options.json === true);
}

/** Starts what is needed to know the tool: its server where the target names one, else all. */
async function findTool(hub: Hub, target: string, groupName: string | undefined): Promise<ExposedTool> {
  const group = () => hub.catalog.group(groupName);
  const split = target.search(/[.:]/);
  const server = hub.supervisor.servers.find(({ name }) => split > 0 && name === target.slice(0, split));
  if (server !== undefined && (server.status.state === "disabled" || group().servers.includes(server.name))) {
    await server.start();
    return group().resolveTool(`${server.name}:${target.slice(split + 1)}`);
  }
  await hub.start();
  const bare = group().tools.filter(({ tool }) => tool === target);
  if (bare.length > 1) {
    const choices = bare.map((candidate) => `${candidate.server}.${candidate.tool}`).join(", ");
    throw new HubError("ToolNotFound", `Several servers have a tool "${target}"`, { hint: `Name one of ${choices}` });
  }
  return bare[0] ?? group().resolveTool(target);
}

function print(io: Io, reply: Reply, json: boolean): number {
  if (!reply.ok) {
    const message = isObject(reply.error.value) ? String(reply.error.value["message"]) : "";
    throw new HubError("ToolFailed", "The server answered with an error", { detail: message });
  }
  const result = isObject(reply.result.value) ? reply.result.value : {};
  // The server's own bytes: numbers that JavaScript cannot hold stay as they are.
  if (json) io.stdout.write(`${reply.result.bytes.toString()}\n`);
  else io.stdout.write(`${textOf(result)}\n`);
  return result["isError"] === true ? TOOL_ERROR : 0;
}

/** Text blocks joined by newlines; anything else is named, since a terminal cannot show it. */
function textOf({ content }: JsonObject): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  return blocks
    .map((block) => (isObject(block) && block["type"] === "text" ? String(block["text"]) : `[${label(block)}]`))
    .join("\n");
}

function label(block: unknown): string {
  if (!isObject(block)) return "unreadable content";
  const what = [block["type"], block["mimeType"], block["uri"]].filter((part) => typeof part === "string");
  return what.join(" ");
}
