// What a server offers besides tools: resources, templates, prompts, and suggestions for their arguments.

import { isObject, type Json, type JsonObject } from "../text/json.ts";
import type { McpClient } from "./client.ts";
import { McpError } from "./messages.ts";

/** Pages of a list are read up to this many entries. */
const MAX_ENTRIES = 5000;
const METHOD_NOT_FOUND = -32601;

export interface ResourceEntry {
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  readonly description: string | undefined;
  readonly mimeType: string | undefined;
}

export interface PromptEntry {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

/** Resources first, then templates. A server without either has none. */
export async function listResources(client: McpClient): Promise<ResourceEntry[]> {
  const [resources, templates] = await Promise.all([
    listAll(client, "resources/list", "resources"),
    listAll(client, "resources/templates/list", "resourceTemplates"),
  ]);
  return [
    ...resources.map((entry) => toResource(entry, "uri")),
    ...templates.map((entry) => toResource(entry, "uriTemplate")),
  ];
}

export async function listPrompts(client: McpClient): Promise<PromptEntry[]> {
  return (await listAll(client, "prompts/list", "prompts")).map((entry) => ({
    name: textOf(entry["name"]) ?? "",
    title: textOf(entry["title"]),
    description: textOf(entry["description"]),
    arguments: (Array.isArray(entry["arguments"]) ? entry["arguments"] : []).filter(isObject).map((argument) => ({
      name: textOf(argument["name"]) ?? "",
      description: textOf(argument["description"]),
      isRequired: argument["required"] === true,
    })),
  }));
}

/** What a value of a prompt or template could be, as the server suggests it. */
export async function complete(
  client: McpClient,
  ref: JsonObject,
  argument: { readonly name: string; readonly value: string },
  known: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string[]> {
  const answer = await client.request(
    "completion/complete",
    { ref, argument: { ...argument }, context: { arguments: { ...known } } },
    { signal },
  );
  const completion = answer.kind === "result" ? answer.result["completion"] : undefined;
  const values = isObject(completion) ? completion["values"] : undefined;
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}

/** The names between braces of a template: "{id}", "{?q,page}", "{path*}". */
export function templateNames(template: string): string[] {
  const names = template
    .split("{")
    .slice(1)
    .flatMap((part) => (part.split("}", 1)[0] ?? "").split(","));
  return [...new Set(names.map((name) => name.replace(/^[+#./;?&]/, "").replace(/[*:].*$/, "")))].filter(Boolean);
}

/** A template with its values. Expressions of several names are joined as RFC 6570 has it for the common operators. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  let result = "";
  for (const [index, part] of template.split("{").entries()) {
    const end = part.indexOf("}");
    if (index === 0 || end === -1) {
      result += part;
      continue;
    }
    result += expand(part.slice(0, end), values) + part.slice(end + 1);
  }
  return result;
}

function expand(expression: string, values: Readonly<Record<string, string>>): string {
  const operator = "+#./;?&".includes(expression[0] ?? "x") ? (expression[0] ?? "") : "";
  const names = templateNames(`{${expression}}`).filter((name) => (values[name] ?? "") !== "");
  if (names.length === 0) return "";
  const isNamed = operator === "?" || operator === "&" || operator === ";";
  const encode = operator === "+" || operator === "#" ? encodeURI : encodeURIComponent;
  const texts = names.map((name) => (isNamed ? `${name}=${encode(values[name] ?? "")}` : encode(values[name] ?? "")));
  const separator =
    operator === "?" || operator === "&"
      ? "&"
      : operator === "+" || operator === "" || operator === "#"
        ? ","
        : operator;
  return (operator === "+" ? "" : operator) + texts.join(separator);
}

async function listAll(client: McpClient, method: string, member: string): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  let cursor: Json | undefined;
  do {
    let result: JsonObject;
    try {
      // Each page names the next one.
      // oxlint-disable-next-line no-await-in-loop
      result = await client.get(method, cursor === undefined ? {} : { cursor });
    } catch (error) {
      if (error instanceof McpError && error.code === METHOD_NOT_FOUND) return [];
      throw error;
    }
    const page = result[member];
    if (Array.isArray(page)) entries.push(...page.filter(isObject));
    cursor = typeof result["nextCursor"] === "string" ? result["nextCursor"] : undefined;
  } while (cursor !== undefined && entries.length < MAX_ENTRIES);
  return entries;
}

function toResource(entry: JsonObject, place: "uri" | "uriTemplate"): ResourceEntry {
  return {
    uri: textOf(entry[place]) ?? "",
    isTemplate: place === "uriTemplate",
    name: textOf(entry["title"]) ?? textOf(entry["name"]) ?? "",
    description: textOf(entry["description"]),
    mimeType: textOf(entry["mimeType"]),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
