// The tools that a searched group lists in place of its own: they find, describe and call those.

import type { JsonObject } from "../lib/json/json.ts";

export const META_TOOLS = ["search_tools", "describe_tools", "call_tool", "call_read_only_tool"] as const;
export type MetaTool = (typeof META_TOOLS)[number];

export const MAX_HITS = 8;
export const MAX_DESCRIBED = 5;

const NAME = { type: "string", description: "Name of the tool, as search_tools shows it" };
const ARGUMENTS = { type: "object", description: "Arguments of the tool, as its schema wants them" };
const CALL = { type: "object", properties: { name: NAME, arguments: ARGUMENTS }, required: ["name"] };

export const META_DEFINITIONS: readonly JsonObject[] = [
  {
    name: "search_tools" satisfies MetaTool,
    description:
      "Find tools by what they do. Search for one action at a time, with the words of the task and the product: " +
      '"create github issue", not a whole plan. Shows names, parameters and purpose.',
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "One action, such as: resize image" },
        limit: { type: "integer", minimum: 1, maximum: MAX_HITS, description: `At most ${MAX_HITS}, the default` },
        server: { type: "string", description: "Only tools of this server" },
      },
      required: ["query"],
    },
    annotations: { title: "Search tools", readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "describe_tools" satisfies MetaTool,
    description: "The whole description and schema of tools, where what search_tools shows is not enough.",
    inputSchema: {
      type: "object",
      properties: { names: { type: "array", items: NAME, minItems: 1, maxItems: MAX_DESCRIBED } },
      required: ["names"],
    },
    annotations: { title: "Describe tools", readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "call_tool" satisfies MetaTool,
    description: "Call a tool that search_tools has found. The arguments are checked against its schema first.",
    inputSchema: CALL,
    annotations: { title: "Call a tool", destructiveHint: true, openWorldHint: true },
  },
  {
    name: "call_read_only_tool" satisfies MetaTool,
    description: "The same as call_tool, but refuses tools that do not declare that they only read.",
    inputSchema: CALL,
    annotations: { title: "Call a read-only tool", readOnlyHint: true, openWorldHint: true },
  },
];

export function isMetaTool(name: unknown): name is MetaTool {
  return META_TOOLS.some((tool) => tool === name);
}
