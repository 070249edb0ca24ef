// What the upstream offers without a fault: tools with and without hints, each of which returns its name and the id of the call.
// The handshake of each era is that of the fixture servers.

import { RpcError } from "../../fixtures/servers/lib.mjs";
import { legacy, modern } from "../../fixtures/servers/offer.mjs";

const HINTS = {
  look: { readOnlyHint: true },
  set: { readOnlyHint: false, idempotentHint: true },
};
const DEFAULT_TOOLS = ["act", "look", "set"];

/** Handlers by method. `subscriptions` gets a function for every open subscription of the modern era. */
export function createOffer({ era = "legacy", tools, toolsByStart, hello }, start) {
  const names = toolsByStart?.[Math.min(start, toolsByStart.length) - 1] ?? tools ?? DEFAULT_TOOLS;
  const subscriptions = new Map();
  const handlers = {
    "tools/list": () => ({ tools: names.map(definition) }),
    "tools/call": ({ name, arguments: args = {} }) => {
      if (!names.includes(name)) throw new RpcError(-32602, `Unknown tool: ${name}`);
      return { content: [{ type: "text", text: `${name} ${args.id}` }] };
    },
  };
  const capabilities = { tools: { listChanged: true }, ...hello?.capabilities };
  const words =
    era === "modern"
      ? modern(handlers, { subscriptions, capabilities })
      : legacy(handlers, { capabilities, version: hello?.protocolVersion });
  return { era, handlers: words, subscriptions };
}

function definition(name) {
  const inputSchema = { type: "object", properties: { id: { type: "string" } } };
  return { name, inputSchema, ...(HINTS[name] === undefined ? {} : { annotations: HINTS[name] }) };
}
