// Command line arguments of a package: positional and named ones, fixed or with inputs.

import type { JsonObject } from "../../lib/json/json.ts";
import type { Argument } from "../model.ts";
import { flagOf, listOf, member, requireObject, textOf, unusable, valueOf } from "./fields.ts";
import { requireFixed, type Inputs } from "./inputs.ts";

const ARGUMENTS_MAX = 50;

export function readArguments(json: JsonObject, field: string, inputs: Inputs): Argument[] {
  return listOf(json, field, ARGUMENTS_MAX).map((given, index) => {
    const what = `${field}[${index}]`;
    // Some authors write plain words.
    if (typeof given === "string") {
      requireFixed(given, what);
      return { text: [given] };
    }
    return readArgument(requireObject(given, what), what, index, inputs);
  });
}

function readArgument(json: JsonObject, what: string, index: number, inputs: Inputs): Argument {
  const flag = flagName(json, what);
  const isList = flagOf(json, "isRepeated");
  if (flag === undefined) {
    const name = inputName(textOf(json, "valueHint", "name"), `argument${index + 1}`);
    return { text: inputs.template(json, name), ...(isList ? { isList } : {}) };
  }
  if (isBareFlag(json)) return { flag };
  const text = inputs.template(json, inputName(flag.replace(/^-+/, ""), `argument${index + 1}`));
  const isSwitch = member(json, "format") === "boolean";
  return { flag, text, ...(isSwitch ? { isSwitch } : {}), ...(isList ? { isList } : {}) };
}

/** Undefined: the argument is positional. */
function flagName(json: JsonObject, what: string): string | undefined {
  const type = member(json, "type");
  const flag = textOf(json, "name");
  if (type === "positional" || (type === undefined && flag === undefined)) return undefined;
  if (type !== undefined && type !== "named") throw unusable(`${what}: the type must be positional or named`);
  if (flag === undefined) throw unusable(`${what} has no name`);
  requireFixed(flag, `${what}: name`);
  return flag;
}

/** A required flag without any value, such as `--read-only`. */
function isBareFlag(json: JsonObject): boolean {
  const hasValue = ["value", "default", "valueHint", "choices", "format"].some(
    (name) => member(json, name) !== undefined,
  );
  return !hasValue && flagOf(json, "isRequired", "required") && valueOf(json, "argument", "value") === undefined;
}

function inputName(given: string | undefined, fallback: string): string {
  const name = (given ?? "").replaceAll(/[^\w.-]+/g, "_").slice(0, 100);
  return /[A-Za-z0-9]/.test(name) ? name : fallback;
}
