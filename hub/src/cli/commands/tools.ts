// `plugboard tools`: lists the tools of a server by its own names, or those of a group as its clients see them.

import type { Server } from "../../api/schemas/server.ts";
import type { GroupTool, Tool } from "../../api/schemas/tool.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { notRunning, requireEnabled } from "../input/unavailable.ts";
import type { GlobalOptions } from "../io.ts";
import type { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { signature } from "../../search/signature.ts";
import { count, firstLine, oneLine } from "../terminal/text.ts";
import { approximate, tokensOf } from "../terminal/tokens.ts";

interface ToolsOptions extends GlobalOptions {
  readonly group?: string;
  readonly schema?: boolean;
}

/** Only the tools of a server may be withheld: those of a group are what clients get. */
type ShownTool = GroupTool & Pick<Tool, "approval" | "withheld">;

/** Share of a line for signatures; the rest is for descriptions. */
const SIGNATURE_SHARE = 0.6;

export const toolsCommand: Register = (program, { io }) => {
  program
    .command("tools")
    .description("list the tools of a server, or of a group as its clients see them")
    .argument("[server]", "list the tools of this server")
    .option("--group <name>", "list the tools of this group (default: default)")
    .option("--schema", "include the JSON Schema of the arguments")
    .action(async (server: string | undefined, options: ToolsOptions) => {
      await withAccess(io, options, (access) => tools(access, server, options));
    });
};

async function tools(access: Access, server: string | undefined, options: ToolsOptions): Promise<void> {
  const { out } = access;
  const shown = server === undefined ? await ofGroup(access, options) : await ofServer(access, server, options);
  if (out.json) return out.data(shown.map(toJson));
  if (shown.length === 0) out.print("No tools.");
  else if (options.schema === true) out.printForeign(shown.map(withSchema).join("\n"));
  else print(out, shown);
  access.mentionNoHub();
}

async function ofGroup(access: Access, { group = "default" }: ToolsOptions): Promise<GroupTool[]> {
  await access.api.groups.get(group); // fails for an unknown group before anything is started
  await access.ready();
  return access.api.groups.tools(group);
}

/** For a server its own tool names, as used by `plugboard call server.tool`; for a group the exposed names. */
async function ofServer(access: Access, id: string, { group }: ToolsOptions): Promise<ShownTool[]> {
  const { api } = access;
  const { name } = (await api.servers.get(id)).config;
  if (group !== undefined) await api.groups.get(group);
  await access.ready(name);
  if (group !== undefined) {
    const shown = (await api.groups.tools(group)).filter((tool) => tool.server === name);
    if (shown.length === 0) requireUp(await api.servers.get(name));
    return shown;
  }
  try {
    return (await api.servers.tools(name)).map((tool) => ({ ...tool, server: name, tool: tool.name }));
  } catch (error) {
    requireUp(await api.servers.get(name));
    throw error;
  }
}

/** Explains an empty list, so that it does not look like a server without tools. */
function requireUp(server: Server): void {
  requireEnabled(server);
  if (server.status !== "running" && server.tools.length === 0) throw notRunning(server);
}

function print(out: Output, shown: readonly ShownTool[]): void {
  const room = out.width === undefined ? undefined : Math.floor(out.width * SIGNATURE_SHARE);
  const rows = shown.map((tool) => [
    signature(tool.name, tool.input_schema, room),
    approximate(tokensOf([tool])),
    firstLine(tool.description.trim()),
  ]);
  out.table([["TOOL", "TOKENS", "DESCRIPTION"], ...rows], { right: [1] });
  out.print(`${count(shown.length, "tool")}, ${approximate(tokensOf(shown))} tokens of context`);
  for (const tool of shown) for (const flag of flagsOf(tool)) out.print(`!  ${oneLine(tool.name)} ${oneLine(flag)}`);
}

/** What a person should know about a tool before a model uses it. */
function flagsOf({ approval, withheld, warnings = [], server }: ShownTool): readonly string[] {
  if (approval === undefined) return warnings;
  const what = approval === "added" ? "is new since the approval" : "changed since it was approved";
  return [`${what}${withheld === true ? ", and is withheld" : ""}: plugboard pins ${server}`, ...warnings];
}

/** Has MCP's spelling (inputSchema) beside the API's: the output is often pasted into an MCP client. */
function toJson(tool: GroupTool): unknown {
  return { ...tool, inputSchema: tool.input_schema };
}

function withSchema({ name, description, input_schema }: GroupTool): string {
  const text = description.trim() === "" ? [] : description.trim().split("\n");
  const json = JSON.stringify(input_schema, null, 2).split("\n");
  return [name, ...[...text, ...json].map((line) => `  ${line}`), ""].join("\n");
}
