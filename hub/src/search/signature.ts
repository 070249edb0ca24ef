// The signature of a tool: `get-sum(a: number, b?: number)`.

import { isObject } from "../lib/json/json.ts";
import { truncate, widthOf } from "@plugboard/shared/text-width";
import { oneLine } from "../lib/text.ts";

/** Further choices become "…". */
const CHOICES_MAX = 4;
const TYPE_WIDTH_MAX = 40;

/** As many parameters as fit into the width, required ones first. */
export function signature(name: string, schema: unknown, width = Number.POSITIVE_INFINITY): string {
  const parameters = parametersOf(schema);
  const whole = `${name}(${parameters.join(", ")})`;
  if (widthOf(whole) <= width) return whole;
  for (let kept = parameters.length - 1; kept > 0; kept--) {
    const shorter = `${name}(${parameters.slice(0, kept).join(", ")}, …)`;
    if (widthOf(shorter) <= width) return shorter;
  }
  return `${name}(…)`;
}

function parametersOf(schema: unknown): string[] {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(isObject(properties) ? properties : {})
    .toSorted(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a)))
    .map(([key, type]) => oneLine(`${key}${needed.has(key) ? "" : "?"}: ${truncate(typeOf(type), TYPE_WIDTH_MAX)}`));
}

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return "any";
  const { type, enum: choices, const: only, anyOf, oneOf, items } = schema;
  if (Array.isArray(choices)) return union(choices.map((choice) => JSON.stringify(choice)));
  if (only !== undefined) return JSON.stringify(only);
  if (type === "array") return items === undefined ? "array" : listOf(typeOf(items));
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return union(type.map(String));
  const alternatives: unknown = anyOf ?? oneOf;
  return Array.isArray(alternatives) ? union(alternatives.map(typeOf)) : "any";
}

function listOf(item: string): string {
  return item.includes(" ") ? `(${item})[]` : `${item}[]`;
}

function union(types: readonly string[]): string {
  const shown = [...new Set(types)];
  return [...shown.slice(0, CHOICES_MAX), ...(shown.length > CHOICES_MAX ? ["…"] : [])].join(" | ");
}
