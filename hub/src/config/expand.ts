// `${NAME}` and `${NAME:-default}` filled in from given variables, when a server starts. Where the variables come from,
// and which fields are filled, is left to the caller; nothing filled in is ever written back.

import { HubError } from "../errors.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Told of every value that is filled in, and the variable that it comes from. */
export type OnFilled = (name: string, value: string) => void;

/** One that does not end is matched to the end of the text: so it is looked at once, however many begin in it. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?:\}|:-([^}]*)(\}|$))/g;

/**
 * Fills one text, in one pass: what a variable holds is never searched again.
 *
 * @example expandText("Bearer ${TOKEN}", { TOKEN: "t" }, "headers.Authorization") // "Bearer t"
 */
export function expandText(text: string, variables: Variables, field: string, onFilled?: OnFilled): string {
  return text.replace(REFERENCE, (reference, name: string, fallback?: string, end?: string) => {
    if (end === "") return reference;
    // Own keys only: `${constructor}` must not find a function.
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // As in a shell, `:-` also takes the place of an empty value.
    const filled = fallback === undefined ? value : value || fallback;
    if (filled !== undefined) {
      onFilled?.(name, filled);
      return filled;
    }
    throw new HubError("InvalidConfig", "Missing required credentials", {
      field,
      detail: `The variable ${name} is not set`,
      hint: `Set ${name} in the hub's environment, or give a default: \${${name}:-value}`,
    });
  });
}

/** The names of all variables that a text refers to. */
export function referencesIn(text: string): string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
}

/** Fills a list; the field of an error is `args.3`. */
export function expandList(
  texts: readonly string[],
  variables: Variables,
  field: string,
  onFilled?: OnFilled,
): string[] {
  return texts.map((text, index) => expandText(text, variables, `${field}.${index}`, onFilled));
}

/** Fills the values of a record; the field of an error is `headers.Authorization`. */
export function expandRecord(
  record: Readonly<Record<string, string>>,
  variables: Variables,
  field: string,
  onFilled?: OnFilled,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).map(([key, text]) => [key, expandText(text, variables, `${field}.${key}`, onFilled)]),
  );
}
