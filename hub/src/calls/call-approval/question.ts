// The question to the client's user whether a call may be made: a form, which both eras of the protocol have.

import { revealHidden } from "../../lib/hidden-text.ts";
import { indentJson } from "../../lib/json/indent-json.ts";
import { editObject, isObject, valueOf, type JsonObject } from "../../lib/json/json.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { ToolCall } from "../call.ts";
import type { Redact } from "./waiting-call.ts";

const MAX_SHOWN = 4000;

/** Clients that fill in the first choice deny. */
const SCHEMA = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      description: "Whether this call is made",
      enum: ["deny", "approve"],
      enumNames: ["Deny", "Approve"],
    },
  },
  required: ["decision"],
} as const;

/** Without the arguments that the group hides from clients. */
export function questionFor(
  { name, exposed, server, params }: ToolCall,
  hidden: ReadonlySet<string>,
  redact: Redact,
): JsonObject {
  const given = params && valueOf(params.bytes, params.members, "arguments");
  const shown = given && editObject(given, Object.fromEntries([...hidden].map((each) => [each, undefined])));
  const { json, truncated } = redact(shown);
  const text = json === undefined ? "none" : revealHidden(indentJson(json.toString()));
  const rest = truncated || text.length > MAX_SHOWN ? "\n… (more in `plugboard approvals`)" : "";
  const tool = exposed === undefined || exposed === name ? name : `${exposed} (${name})`;
  const message = `Approve this call?\nTool: ${tool}\nServer: ${server}\nArguments: ${text.slice(0, MAX_SHOWN)}${rest}`;
  return { mode: "form", message, requestedSchema: SCHEMA };
}

/** Undefined: the client could not ask. Whatever is no clear approval denies. */
export function answerOf(reply: Reply): boolean | undefined {
  if (!reply.ok || !isObject(reply.result.value)) return undefined;
  const { action, content } = reply.result.value;
  return action === "accept" && isObject(content) && content["decision"] === "approve";
}
