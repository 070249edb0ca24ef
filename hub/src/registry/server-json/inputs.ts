// The inputs of a package or address, and the texts that they go into: https://github.com/modelcontextprotocol/registry, server.json.

import { referencesIn } from "../../config/parse/expand.ts";
import { isPlaceholder } from "../../entry-input/placeholder.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { isCredentialName } from "../../redaction/mask.ts";
import { INPUT_FORMATS, type Input, type Template } from "../model.ts";
import { flagOf, listOf, member, requireObject, scalarText, shownLine, textOf, unusable, valueOf } from "./fields.ts";

const INPUTS_MAX = 100;
const CHOICES_MAX = 200;
const TEXT_MAX = 4096;
const DESCRIPTION_MAX = 1000;
const NAME_MAX = 128;

/** Collects the inputs of one package or address. Texts that share an input share its value. */
export class Inputs {
  readonly #byName = new Map<string, Input>();
  readonly warnings: string[] = [];

  get all(): Input[] {
    return [...this.#byName.values()];
  }

  add(input: Input): void {
    const known = this.#byName.get(input.name);
    if (known === undefined && this.#byName.size >= INPUTS_MAX) throw unusable(`It has more than ${INPUTS_MAX} inputs`);
    this.#byName.set(input.name, known === undefined ? input : merged(known, input));
  }

  /**
   * The text of a value with its `{variables}`, or of an input of its own if it has no value.
   *
   * @param name of the input, if it is one.
   */
  template(json: JsonObject, name: string, { isRequired = false } = {}): Template {
    const value = valueOf(json, name, "value");
    if (value === undefined) {
      this.add(this.#toInput(name, json, { isRequired }));
      return [{ input: name }];
    }
    return this.fill(value, json, name);
  }

  /** A fixed text, whose `{variables}` are inputs if the object defines them. */
  fill(value: string, json: JsonObject, what: string): Template {
    requireFixed(value, what);
    const defined = member(json, "variables");
    if (defined === undefined) return [value];
    const variables = requireObject(defined, `${what}: variables`);
    return piecesOf(value).map((piece) => {
      const name = piece.startsWith("{") ? piece.slice(1, -1) : undefined;
      if (name === undefined || !Object.hasOwn(variables, name)) return piece;
      const definition = requireObject(variables[name] ?? {}, `${what}: variable ${name}`);
      const fixed = valueOf(definition, name, "value");
      if (fixed !== undefined) {
        requireFixed(fixed, name);
        return fixed;
      }
      // Without its value, the text has a hole.
      this.add({ ...this.#toInput(name, definition), isRequired: true });
      return { input: name };
    });
  }

  #toInput(name: string, json: JsonObject, { isRequired = false } = {}): Input {
    requireInputName(name);
    const format = INPUT_FORMATS.find((each) => each === member(json, "format")) ?? "string";
    const isMarked = member(json, "isSecret", "secret") !== undefined;
    // Many authors do not mark their keys.
    const isSecret = isMarked ? flagOf(json, "isSecret", "secret") : format === "string" && isCredentialName(name);
    const description = shownLine(textOf(json, "description"), DESCRIPTION_MAX);
    const placeholder = shownLine(textOf(json, "placeholder", "valueHint"), 200);
    const choices = [...new Set(listOf(json, "choices", CHOICES_MAX).map((choice) => choiceOf(choice, name)))];
    const fallback = this.#defaultOf(json, name, { isSecret, choices });
    return {
      name,
      ...(description === undefined ? {} : { description }),
      isRequired: isRequired || flagOf(json, "isRequired", "required"),
      isSecret,
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(choices.length === 0 ? {} : { choices }),
      format,
      ...(placeholder === undefined ? {} : { placeholder }),
    };
  }

  /** A default that cannot be used is left out: the user is asked instead. */
  #defaultOf(
    json: JsonObject,
    name: string,
    { isSecret, choices }: { isSecret: boolean; choices: readonly string[] },
  ): string | undefined {
    const text = scalarText(member(json, "default"));
    if (text === undefined || text === "" || isSecret || isPlaceholder(text)) return undefined;
    const fault =
      text.length > TEXT_MAX
        ? "is too long"
        : referencesIn(text).length > 0
          ? "would read a variable of this machine"
          : hasControl(text)
            ? "contains control characters"
            : choices.length > 0 && !choices.includes(text)
              ? "is none of its choices"
              : undefined;
    if (fault === undefined) return text;
    this.warnings.push(`The default of ${name} is not used: it ${fault}`);
    return undefined;
  }
}

/** Throws for a fixed text that a server must not get from a stranger. */
export function requireFixed(text: string, what: string): void {
  if (text.length > TEXT_MAX) throw unusable(`${what} is longer than ${TEXT_MAX} characters`);
  if (hasControl(text)) throw unusable(`${what} contains control characters`);
  const [reference] = referencesIn(text);
  if (reference !== undefined) throw unusable(`${what} would read the variable ${reference} of this machine`);
}

export function requireInputName(name: string): void {
  if (name !== "" && name.length <= NAME_MAX && !hasControl(name) && !/[=\s]/.test(name)) return;
  throw unusable(`The input ${JSON.stringify(name.slice(0, 40))} does not have a usable name`);
}

/** Line breaks and tabs may be in values, as in a private key. */
function hasControl(text: string): boolean {
  return /\p{Cs}/u.test(text) || /\p{Cc}/u.test(text.replaceAll(/[\t\n\r]/g, ""));
}

/** `Bearer {key}!` as `Bearer `, `{key}`, `!`. */
function piecesOf(text: string): string[] {
  return text.split(/(\{[^{}]{1,128}\})/).filter((piece) => piece !== "");
}

function choiceOf(choice: unknown, name: string): string {
  if (typeof choice === "string" && choice.length <= TEXT_MAX) return choice;
  if (typeof choice === "number" || typeof choice === "boolean") return String(choice);
  throw unusable(`A choice of ${name} is not text`);
}

/** The stricter of two definitions. */
function merged(known: Input, other: Input): Input {
  const { default: fallback, ...rest } = { ...other, ...known };
  const isSecret = known.isSecret || other.isSecret;
  return {
    ...rest,
    isRequired: known.isRequired || other.isRequired,
    isSecret,
    ...(isSecret || fallback === undefined ? {} : { default: fallback }),
  };
}
