// What a tool looks like to a client of another revision than its server's: its definition, and what a call gives back.
// Pure. What needs no change keeps its bytes, or is the very same object.

import { arrayOf, editElements, editMember, withMembers, type Edit } from "./edit.ts";
import { eraOf } from "./era.ts";
import { isObject, type JsonObject } from "./json.ts";
import { raw, type Raw } from "./jsonrpc.ts";
import { wrapSchema } from "./wrapped-schema.ts";

/** The first revision with `structuredContent`, `outputSchema` and `resource_link`. */
const STRUCTURED = "2025-06-18";

/** Revisions that see the same definitions. */
export type ToolForm = "modern" | "structured" | "plain";

export function toolFormOf(version: string): ToolForm {
  if (eraOf(version) === "modern") return "modern";
  return version >= STRUCTURED ? "structured" : "plain";
}

/** A definition for clients of a form; the same object where nothing has to change. */
export function toolFor(definition: JsonObject, form: ToolForm): JsonObject {
  switch (form) {
    case "modern":
      // How tasks were offered when they were a part of the protocol itself.
      return without(definition, "execution");
    case "structured": {
      const wrapped = needsWrapping(definition)
        ? { ...definition, outputSchema: wrapSchema(definition["outputSchema"]) }
        : definition;
      return withPlainProperties(withPlainProperties(wrapped, "inputSchema"), "outputSchema");
    }
    case "plain":
      // Some clients insist on a structured result where they see its schema.
      return withPlainProperties(without(definition, "outputSchema"), "inputSchema");
  }
}

/**
 * `true` and `false` are schemas, but the protocol's own description had only objects at this place, and clients of its time
 * refuse a whole list for one. As objects they say the same.
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

/** The result of `tools/call` for a client of a revision. The definition is the server's own. */
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
 * The result with `content`, without which clients refuse it: servers of the first revision have `toolResult` in its place,
 * and some of today only `structuredContent`. What is no final result of a call is left alone.
 */
export function withContent(result: Raw): Raw {
  const { value } = result;
  if (!isObject(value)) return result;
  // Looked at without reading it: a large member is parsed when it is read, and it is not null.
  const content = Object.getOwnPropertyDescriptor(value, "content");
  if (content !== undefined && (content.get !== undefined || (content.value ?? null) !== null)) return result;
  const { resultType = "complete", task } = value;
  if (resultType !== "complete" || task !== undefined) return result;
  const { toolResult } = value;
  const structured = isObject(toolResult) && value["structuredContent"] === undefined ? raw(toolResult) : undefined;
  const whole = structured === undefined ? result : withMembers(result, { structuredContent: structured });
  const said = toolResult ?? value["structuredContent"];
  if (said === undefined) return withMembers(whole, { content: arrayOf([]) });
  const text = typeof said === "string" ? said : JSON.stringify(said);
  return withMembers(whole, { content: arrayOf([raw({ type: "text", text })]) });
}

/** The result of `prompts/get` for a client of a revision. */
export function promptResultFor(result: Raw, version: string): Raw {
  if (toolFormOf(version) !== "plain") return result;
  return editMember(result, "messages", (messages) => editElements(messages, linksToText)) ?? result;
}

/** Before 2026 the root of an output schema had to be an object. */
function needsWrapping({ outputSchema }: JsonObject): boolean {
  return outputSchema !== undefined && !(isObject(outputSchema) && outputSchema["type"] === "object");
}

const wrap: Edit = (content) => withMembers(EMPTY, { result: content });

/** The result with a text block, where it would say nothing to a client that does not read its structure. */
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

/** Of one message of a prompt, which may have one block or several. */
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
