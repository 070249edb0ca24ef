// The hub's entry as other clients write it down.

import { clients as text } from "../../text/clients.ts";

export interface Dialect {
  readonly label: string;
  readonly text: string;
}

/** `base` is the address of the hub, without a path: "http://127.0.0.1:7430". */
export function dialects(base: string, group: string): Dialect[] {
  const name = encodeURIComponent(group);
  const url = base + (group === "default" ? "/mcp" : `/groups/${name}/mcp`);
  const args = group === "default" ? ["stdio"] : ["stdio", "--group", group];
  return [
    { label: text.url, text: url },
    { label: text.dialects.http, text: json({ mcpServers: { plugboard: { type: "http", url } } }) },
    { label: text.dialects.stdio, text: json({ mcpServers: { plugboard: { command: "plugboard", args } } }) },
    { label: text.dialects.vscode, text: json({ servers: { plugboard: { type: "http", url } } }) },
    {
      label: text.dialects.toml,
      text: `[mcp_servers.plugboard]\ncommand = "plugboard"\nargs = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]`,
    },
    {
      label: text.dialects.yaml,
      text: `mcpServers:\n  - name: plugboard\n    type: streamable-http\n    url: ${JSON.stringify(url)}`,
    },
    { label: text.dialects.sse, text: `${base}/groups/${name}/sse` },
    { label: text.dialects.websocket, text: `${base.replace(/^http/, "ws")}/groups/${name}/mcp` },
  ];
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
