// The tools of the demo server: small, offline, and useful for first steps.

import { randomUUID } from "node:crypto";
import type { JsonObject } from "../lib/json/json.ts";

export interface DemoTool {
  readonly definition: JsonObject & { readonly name: string };
  run(args: JsonObject): string;
}

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

export function demoTools(configDir: string): readonly DemoTool[] {
  return [
    {
      definition: {
        name: "now",
        description: "The current date and time, in any time zone",
        inputSchema: {
          type: "object",
          properties: {
            timezone: { type: "string", description: "IANA name such as Europe/Helsinki; default: UTC" },
          },
        },
        annotations: READ_ONLY,
      },
      run: ({ timezone }) => now(typeof timezone === "string" ? timezone : "UTC"),
    },
    {
      definition: {
        name: "text_stats",
        description: "Characters, words and lines of a text",
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        annotations: READ_ONLY,
      },
      run: ({ text }) => textStats(typeof text === "string" ? text : ""),
    },
    {
      definition: {
        name: "uuid",
        description: "A random UUID",
        inputSchema: { type: "object", properties: {} },
        annotations: { ...READ_ONLY, idempotentHint: false },
      },
      run: () => randomUUID(),
    },
    {
      definition: {
        name: "config_example",
        description: "An example of mcp_server.json for one kind of server, and where to put it",
        inputSchema: {
          type: "object",
          properties: { kind: { type: "string", enum: Object.keys(EXAMPLES) } },
          required: ["kind"],
        },
        annotations: READ_ONLY,
      },
      run: ({ kind }) => configExample(String(kind), configDir),
    },
  ];
}

function now(timezone: string): string {
  try {
    const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long", timeZone: timezone });
    return `${format.format(new Date())} (${timezone})`;
  } catch {
    throw new Error(`"${timezone}" is not a time zone. Use an IANA name such as Europe/Helsinki.`);
  }
}

function textStats(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  const lines = text === "" ? 0 : text.split("\n").length;
  return JSON.stringify({ characters: Array.from(new Intl.Segmenter().segment(text)).length, words, lines });
}

const EXAMPLES: Readonly<Record<string, JsonObject>> = {
  npx: { memory: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] } },
  uvx: { time: { command: "uvx", args: ["mcp-server-time"] } },
  docker: { mine: { command: "docker", args: ["run", "-i", "--rm", "my-image"], hardened: true } },
  http: { remote: { type: "http", url: "http://127.0.0.1:3000/mcp", headers: { Authorization: "Bearer ${TOKEN}" } } },
};

function configExample(kind: string, configDir: string): string {
  if (!Object.hasOwn(EXAMPLES, kind)) throw new Error(`kind must be one of ${Object.keys(EXAMPLES).join(", ")}`);
  const json = JSON.stringify({ mcpServers: EXAMPLES[kind] }, null, 2);
  return `Save this as ${configDir}/mcp_server.json and start the hub again:\n\n${json}`;
}
