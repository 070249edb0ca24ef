// Checks the values that a user gives for the inputs of a server, before anything is saved.

import { HubError } from "../../errors.ts";
import type { Input, Template } from "../model.ts";

/** Text, or the name of a stored secret. */
export type GivenValue = string | { readonly secretRef: string };
export type GivenValues = Readonly<Record<string, GivenValue>>;

const VALUE_MAX = 4096;
const SECRET_MAX_BYTES = 64 * 1024;

/** The value of every input that has one. Throws for an unknown input, a wrong value, and a required input without one (MC-NT4). */
export function checkedValues(inputs: readonly Input[], given: GivenValues): Map<string, GivenValue> {
  const known = new Map(inputs.map((input) => [input.name, input]));
  for (const name of Object.keys(given)) {
    if (!known.has(name)) throw unknownInput(name, [...known.keys()]);
  }
  const values = new Map<string, GivenValue>();
  for (const input of inputs) {
    const value = Object.hasOwn(given, input.name) ? given[input.name] : undefined;
    const used = value === undefined || value === "" ? input.default : value;
    if (used === undefined) continue;
    values.set(input.name, checked(input, used));
  }
  const missing = inputs.filter(({ name, isRequired }) => isRequired && !values.has(name));
  if (missing.length > 0) throw missingInputs(missing);
  return values;
}

/** The name of S0 for it is `Missing required credentials`, whether or not the inputs are secret. */
function missingInputs(missing: readonly Input[]): HubError {
  const names = missing.map(({ name }) => name);
  const described = missing.flatMap(({ name, description }) =>
    description === undefined ? [] : [`${name}: ${description}`],
  );
  return new HubError("InvalidConfig", `Missing required credentials: ${names.join(", ")}`, {
    field: `values.${names[0]}`,
    ...(described.length === 0 ? {} : { detail: described.join("\n") }),
    hint: names.map((name) => `--set ${name}=…`).join(" "),
  });
}

function unknownInput(name: string, known: readonly string[]): HubError {
  return new HubError("InvalidArgument", `The server has no input ${JSON.stringify(name)}`, {
    field: `values.${name}`,
    hint: known.length === 0 ? "It has no inputs" : `Its inputs: ${known.join(", ")}`,
  });
}

function checked(input: Input, value: GivenValue): GivenValue {
  if (typeof value !== "string") {
    if (input.isSecret) return value;
    throw wrong(input, "is not secret: give its value");
  }
  if (/[\0\p{Cs}]/u.test(value)) throw wrong(input, "must be text without NUL characters");
  if (input.isSecret) {
    if (Buffer.byteLength(value) > SECRET_MAX_BYTES) throw wrong(input, "is longer than 64 KiB");
    return value;
  }
  if (value.length > VALUE_MAX) throw wrong(input, `is longer than ${VALUE_MAX} characters`);
  const { choices, format } = input;
  if (choices !== undefined && !choices.includes(value)) throw wrong(input, `must be one of ${choices.join(", ")}`);
  if (format === "number" && (value.trim() === "" || !Number.isFinite(Number(value)))) {
    throw wrong(input, "must be a number");
  }
  if (format === "boolean" && !/^(?:true|false)$/.test(value)) throw wrong(input, "must be true or false");
  return value;
}

/** Without the value, which may be secret. */
function wrong({ name }: Input, what: string): HubError {
  return new HubError("InvalidConfig", `${name} ${what}`, { field: `values.${name}` });
}

/** The names of the inputs in a text. */
export function inputsIn(text: Template): string[] {
  return text.flatMap((piece) => (typeof piece === "string" ? [] : [piece.input]));
}
