// A call of a tool as something to paste elsewhere: a command, a request, a program.

import { NumberText, toJsonText, type Json, type JsonObject } from "./json.ts";

export interface CallToCopy {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Origin of the hub: http://127.0.0.1:7430 */
  readonly origin: string;
  /** Where the UI begins, with a slash at the end. */
  readonly uiBase: string;
}

/** `plugboard call github.search_issues q=bug` */
export function toCli({ server, tool, arguments: args }: CallToCopy): string {
  const target = quote(`${server}${tool.includes(".") ? ":" : "."}${tool}`);
  const entries = Object.entries(args);
  // `key=value` reads text and JSON; a nested value is clearer as one JSON text.
  const isPlain = entries.every(([name, value]) => isSimpleName(name) && isPlainValue(value));
  const words = isPlain
    ? entries.map(([name, value]) => quote(`${name}=${plainText(value)}`))
    : [quote(toJsonText(args))];
  return ["plugboard call", target, ...words].join(" ");
}

export function toCurl({ server, tool, arguments: args, origin }: CallToCopy): string {
  const url = `${origin}/api/v1/servers/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}/call`;
  return [
    `curl -X POST ${quote(url)}`,
    `-H "Authorization: Bearer $PLUGBOARD_TOKEN"`,
    "-H 'Content-Type: application/json'",
    `-d ${quote(toJsonText({ arguments: args }))}`,
  ].join(" \\\n  ");
}

export function toJsonRpc({ tool, arguments: args }: CallToCopy): string {
  return toJsonText({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } }, 2);
}

export function toTypeScript({ server, tool, arguments: args, origin }: CallToCopy): string {
  return [
    'import { HubClient } from "plugboard";',
    "",
    `const hub = new HubClient({ url: ${JSON.stringify(origin)}, token: process.env.PLUGBOARD_TOKEN });`,
    "const answer = await hub.callTool({",
    `  server_name: ${JSON.stringify(server)},`,
    `  tool_name: ${JSON.stringify(tool)},`,
    `  arguments: ${toJsonText(args, 2).replaceAll("\n", "\n  ")},`,
    "});",
  ].join("\n");
}

/** A link to the form, without the arguments if these hold a secret. */
export function toLink({ server, tool, arguments: args, uiBase }: CallToCopy, withArguments: boolean): string {
  const path = `try/${encodeURIComponent(server)}/${encodeURIComponent(tool)}`;
  const query = withArguments && Object.keys(args).length > 0 ? `?args=${encodeURIComponent(toJsonText(args))}` : "";
  return `${uiBase}${path}${query}`;
}

function isSimpleName(name: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(name);
}

/** Whether `key=value` gives this value back: the command reads what looks like JSON as JSON. */
function isPlainValue(value: Json): boolean {
  if (typeof value !== "string") return typeof value !== "object" || value === null || value instanceof NumberText;
  return value !== "" && !value.includes("\n") && !/^(?:[[{"\-\d]|true$|false$|null$)/.test(value);
}

function plainText(value: Json): string {
  return typeof value === "string" ? value : toJsonText(value);
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
