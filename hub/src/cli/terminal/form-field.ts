// One field of an elicitation form: its question, and the parsing of the answer by its schema.

import type { JsonObject } from "../../lib/json/json.ts";
import { isObject } from "../../lib/json/json.ts";
import { oneLine } from "./text.ts";

export interface Field {
  readonly key: string;
  /** JSON Schema of the field. */
  readonly rule: JsonObject;
  readonly required: boolean;
}

/** Undefined: nothing given. */
type Read = { readonly given: unknown } | { readonly problem: string };

export interface ReadableField {
  readonly question: string;
  read(answer: string): Read;
}

interface Choice {
  readonly value: unknown;
  readonly title: string;
}

export function readField(field: Field): ReadableField {
  const { key, rule, required } = field;
  const { title, description, default: defaultValue } = rule;
  const name = typeof title === "string" && title !== "" ? title : key;
  const about = typeof description === "string" && description !== "" ? ` (${description})` : "";
  const shown = defaultValue === undefined ? (required ? "" : " [optional]") : ` [${showDefault(rule, defaultValue)}]`;
  const what = expected(rule);
  return {
    question: oneLine(`${name}${about}${what === "" ? "" : `, ${what}`}${shown}`),
    read: (answer) => {
      if (answer !== "") return readValue(rule, answer);
      if (defaultValue !== undefined) return { given: defaultValue };
      return required ? { problem: `${name} is required.` } : { given: undefined };
    },
  };
}

function showDefault(rule: JsonObject, value: unknown): string {
  if (typeof value === "boolean") return value ? "y" : "n";
  const choices = choicesOf(rule) ?? choicesOf(isObject(rule["items"]) ? rule["items"] : {}) ?? [];
  const shown = (each: unknown) => choices.find((choice) => choice.value === each)?.title ?? String(each);
  return Array.isArray(value) ? value.map(shown).join(", ") : shown(value);
}

function expected(rule: JsonObject): string {
  const choices = choicesOf(rule);
  if (choices !== undefined) return `one of ${titles(choices)}`;
  const several = rule["type"] === "array" ? choicesOf(isObject(rule["items"]) ? rule["items"] : {}) : undefined;
  if (several !== undefined) return `any of ${titles(several)}, separated by commas`;
  const { type, format } = rule;
  if (type === "boolean") return "y or n";
  if (type === "number" || type === "integer") return [type, range(rule)].filter((part) => part !== "").join(" ");
  return typeof format === "string" ? (FORMATS[format]?.example ?? format) : "";
}

function readValue(rule: JsonObject, answer: string): Read {
  const choices = choicesOf(rule);
  if (choices !== undefined) return choose(choices, answer);
  switch (rule["type"]) {
    case "boolean":
      return readBoolean(answer);
    case "number":
    case "integer":
      return readNumber(rule, answer);
    case "array":
      return readList(rule, answer);
    default:
      return readText(rule, answer);
  }
}

function readBoolean(answer: string): Read {
  if (/^(?:y|yes|true)$/i.test(answer)) return { given: true };
  if (/^(?:n|no|false)$/i.test(answer)) return { given: false };
  return { problem: "Answer y or n." };
}

function readNumber(rule: JsonObject, answer: string): Read {
  const { type, minimum, maximum } = rule;
  const value = Number(answer);
  const isWhole = type !== "integer" || Number.isInteger(value);
  const isInRange =
    !(typeof minimum === "number" && value < minimum) && !(typeof maximum === "number" && value > maximum);
  if (Number.isFinite(value) && isWhole && isInRange) return { given: value };
  return { problem: `Enter a ${type === "integer" ? "whole number" : "number"}${prefixed(" ", range(rule))}.` };
}

function range({ minimum, maximum }: JsonObject): string {
  if (typeof minimum === "number" && typeof maximum === "number") return `from ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `of at least ${minimum}`;
  return typeof maximum === "number" ? `of at most ${maximum}` : "";
}

function prefixed(prefix: string, text: string): string {
  return text === "" ? "" : prefix + text;
}

const FORMATS: Readonly<Record<string, { readonly example: string; fits(text: string): boolean }>> = {
  email: { example: "an email address", fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { example: "an address such as https://example.com", fits: (text) => URL.canParse(text) },
  date: {
    example: "a date as 2026-12-31",
    fits: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  },
  "date-time": {
    example: "a time as 2026-12-31T12:00:00Z",
    fits: (text) => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text)),
  },
};

function readText({ minLength, maxLength, format }: JsonObject, answer: string): Read {
  const { length } = Array.from(answer);
  if (typeof minLength === "number" && length < minLength)
    return { problem: `Enter at least ${minLength} characters.` };
  if (typeof maxLength === "number" && length > maxLength) return { problem: `Enter at most ${maxLength} characters.` };
  const known = typeof format === "string" ? FORMATS[format] : undefined;
  return known === undefined || known.fits(answer) ? { given: answer } : { problem: `Enter ${known.example}.` };
}

function readList(rule: JsonObject, answer: string): Read {
  const choices = choicesOf(isObject(rule["items"]) ? rule["items"] : {});
  const words = answer.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
  const read = words.map((word): Read => (choices === undefined ? { given: word } : choose(choices, word)));
  const wrong = read.find((each) => "problem" in each);
  if (wrong !== undefined) return wrong;
  const { minItems, maxItems } = rule;
  if (typeof minItems === "number" && read.length < minItems) return { problem: `Enter at least ${minItems}.` };
  if (typeof maxItems === "number" && read.length > maxItems) return { problem: `Enter at most ${maxItems}.` };
  return { given: read.flatMap((each) => ("given" in each ? [each.given] : [])) };
}

/** Matches a value or title, ignoring case. */
function choose(choices: readonly Choice[], answer: string): Read {
  const is = (text: string) => text.toLowerCase() === answer.toLowerCase();
  const found = choices.find(({ value, title }) => is(String(value)) || is(title));
  return found === undefined ? { problem: `Enter one of ${titles(choices)}.` } : { given: found.value };
}

function titles(choices: readonly Choice[]): string {
  return choices.map(({ title }) => oneLine(title)).join(", ");
}

/** The forms that MCP has: `enum` with `enumNames`, or constants with titles. */
function choicesOf({ enum: values, enumNames: names, oneOf, anyOf }: JsonObject): Choice[] | undefined {
  if (Array.isArray(values)) {
    const given: unknown[] = Array.isArray(names) ? names : [];
    return values.map((value, index) => ({ value, title: String(given[index] ?? value) }));
  }
  const titled: unknown = oneOf ?? anyOf;
  if (!Array.isArray(titled)) return undefined;
  const choices = titled.filter((each) => isObject(each) && "const" in each);
  return choices.map(({ const: value, title }) => ({ value, title: String(title ?? value) }));
}
