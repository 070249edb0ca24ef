// Converts tool definitions and results of `tools/call` and `prompts/get` for clients of another revision than the server's.
// Pure. A value that needs no change keeps its bytes, or is the same object.

import { arrayOf, editElements, editMember, withMembers, type Edit } from "../rpc/json-edit.ts";
import { eraOf } from "./era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { raw, type Raw } from "../rpc/jsonrpc.ts";
import { wrapSchema } from "./wrapped-schema.ts";

/** The first revision with `structuredContent`, `outputSchema` and `resource_link`. */
const STRUCTURED = "2025-06-18";

/** Groups of revisions that get the same definitions. */
export type ToolForm = "modern" | "structured" | "plain";

export function toolFormOf(version: string): ToolForm {
  if (eraOf(version) === "modern") return "modern";
  return version >= STRUCTURED ? "structured" : "plain";
}

/** A definition for clients of a form; the same object if nothing has to change. */
export function toolFor(definition: JsonObject, form: ToolForm): JsonObject {
  switch (form) {
    case "modern":
      // `execution` describes the task support of 2025-11-25.
      return without(definition, "execution");
    case "structured": {
      const wrapped = needsWrapping(definition)
        ? { ...definition, outputSchema: wrapSchema(definition["outputSchema"]) }
        : definition;
      return withPlainProperties(withPlainProperties(wrapped, "inputSchema"), "outputSchema");
    }
    case "plain":
      // Some clients require a structured result if there is an output schema.
      return withPlainProperties(without(definition, "outputSchema"), "inputSchema");
  }
}

/**
 * `true` and `false` are valid schemas, but legacy revisions allowed only objects here, and their clients reject a whole list for
 * one. They are replaced by equivalent objects.
 */
function withPlainProperties(definition: JsonObject, member: string): JsonObject {
  const schema = definition[member];
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(schema) || !isObject(properties)) return definition;
  if (!Object.values(properties).some((property) => typeof property === "boolean")) return definition;
  const plain = Object.entries(properties).map(([name, property]) => {
    if (typeof property !== "boolean") return [name, property];
    return [name, property ? {} : { not: {} }];
  });
  return { ...definition, [member]: { ...schema, properties: Object.fromEntries(plain) } };
}

/** The result of `tools/call` for a client of a revision. `definition` is the server's own. */
export function toolResultFor(given: Raw, version: string, definition: JsonObject): Raw {
  const form = toolFormOf(version);
  const result = withContent(given);
  if (form === "modern" || !isObject(result.value)) return result;
  const hasStructure = Object.hasOwn(result.value, "structuredContent");
  if (form === "structured") {
    const isWrapped = hasStructure && (needsWrapping(definition) || !isObject(result.value["structuredContent"]));
    return isWrapped ? withText(editMember(result, "structuredContent", wrap) ?? result, result) : result;
  }
  const plain = editMember(result, "content", (content) => editElements(content, linkToText)) ?? result;
  return hasStructure ? withText(withMembers(plain, { structuredContent: undefined }), result) : plain;
}

/**
 * The result with `content`, which clients require: servers of the first revision send `toolResult` instead, and some current ones
 * only `structuredContent`. Tasks and `input_required` are not changed.
 */
export function withContent(result: Raw): Raw {
  const { value } = result;
  if (!isObject(value)) return result;
  // Inspects the descriptor: reading a large, lazy member would parse it, and it is never null.
  const content = Object.getOwnPropertyDescriptor(value, "content");
  if (content !== undefined && (content.get !== undefined || (content.value ?? null) !== null)) return result;
  const { resultType = "complete", task } = value;
  if (resultType !== "complete" || task !== undefined) return result;
  const { toolResult } = value;
  const structured = isObject(toolResult) && value["structuredContent"] === undefined ? raw(toolResult) : undefined;
  const wrapped = structured === undefined ? result : withMembers(result, { structuredContent: structured });
  const output = toolResult ?? value["structuredContent"];
  if (output === undefined) return withMembers(wrapped, { content: arrayOf([]) });
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return withMembers(wrapped, { content: arrayOf([raw({ type: "text", text })]) });
}

/** The result of `prompts/get` for a client of a revision. */
export function promptResultFor(result: Raw, version: string): Raw {
  if (toolFormOf(version) !== "plain") return result;
  return editMember(result, "messages", (messages) => editElements(messages, linksToText)) ?? result;
}

/** Before 2026-07-28 the root of an output schema had to be an object. */
function needsWrapping({ outputSchema }: JsonObject): boolean {
  return outputSchema !== undefined && !(isObject(outputSchema) && outputSchema["type"] === "object");
}

const wrap: Edit = (content) => withMembers(EMPTY, { result: content });

/** Adds a text block with the structured content, unless the result has a text block. */
function withText(result: Raw, original: Raw): Raw {
  const { content, structuredContent } = isObject(original.value) ? original.value : {};
  if (Array.isArray(content) && content.some((block) => isObject(block) && block["type"] === "text")) return result;
  const text = raw({ type: "text", text: JSON.stringify(structuredContent) });
  const added = editMember(result, "content", (blocks) => appended(blocks, text));
  return added ?? withMembers(result, { content: arrayOf([text]) });
}

function appended(blocks: Raw, block: Raw): Raw | undefined {
  if (!Array.isArray(blocks.value)) return undefined;
  if (blocks.value.length === 0) return arrayOf([block]);
  const last = blocks.bytes.lastIndexOf("]");
  const bytes = Buffer.concat([blocks.bytes.subarray(0, last), COMMA, block.bytes, CLOSE]);
  return { bytes, value: [...blocks.value, block.value] };
}

const linkToText: Edit = ({ value }) => {
  if (!isObject(value) || value["type"] !== "resource_link") return undefined;
  const { title, name, uri, description } = value;
  const label = [title ?? name, description].filter((part) => typeof part === "string" && part !== "").join(": ");
  const { annotations } = value;
  const text = label === "" ? String(uri) : `${label} (${String(uri)})`;
  return raw({ type: "text", text, ...(annotations === undefined ? {} : { annotations }) });
};

/** For one message of a prompt, which has one block or several. */
const linksToText: Edit = (message) =>
  editMember(message, "content", (content) =>
    Array.isArray(content.value) ? editElements(content, linkToText) : linkToText(content),
  );

function without(definition: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(definition, key)) return definition;
  const { [key]: _, ...rest } = definition;
  return rest;
}

const EMPTY: Raw = { bytes: Buffer.from("{}"), value: {} };
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");
