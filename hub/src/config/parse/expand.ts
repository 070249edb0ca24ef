// Expands `${NAME}`, `${NAME:-default}` and `${user:NAME}` when a server starts. The caller chooses variables and fields. Expanded values are
// never written to a file.

import { HubError } from "../../errors.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Called for every expanded variable. */
export type OnExpanded = (name: string, value: string) => void;

/** An unterminated reference matches to the end of the text, which keeps matching linear. */
const REFERENCE = /\$\{((?:user:)?[A-Za-z_][A-Za-z0-9_]*)(?:\}|:-([^}]*)(\}|$))/g;
const PERSONAL_PREFIX = "user:";

/**
 * Expands one text in one pass: values are not expanded again.
 *
 * @example expandText("Bearer ${TOKEN}", { TOKEN: "t" }, "headers.Authorization") // "Bearer t"
 */
export function expandText(text: string, variables: Variables, field: string, onFilled?: OnExpanded): string {
  return text.replace(REFERENCE, (reference, name: string, fallback?: string, end?: string) => {
    if (end === "") return reference;
    // Own keys only: `${constructor}` must not find a function.
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // As in a shell, the default also replaces an empty value.
    const expanded = fallback === undefined ? value : value || fallback;
    if (expanded !== undefined) {
      onFilled?.(name, expanded);
      return expanded;
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

/** The name of a personal secret in `${user:NAME}`; undefined: the reference is to a variable. */
export function personalName(reference: string): string | undefined {
  return reference.startsWith(PERSONAL_PREFIX) ? reference.slice(PERSONAL_PREFIX.length) : undefined;
}

/** The name under which `expandText` looks for a personal secret. */
export function personalVariable(name: string): string {
  return PERSONAL_PREFIX + name;
}

export function isPersonalName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name);
}

/** Expands a list. Errors have a field such as `args.3`. */
export function expandList(
  texts: readonly string[],
  variables: Variables,
  field: string,
  onFilled?: OnExpanded,
): string[] {
  return texts.map((text, index) => expandText(text, variables, `${field}.${index}`, onFilled));
}

/** Expands the values of a record. Errors have a field such as `headers.Authorization`. */
export function expandRecord(
  record: Readonly<Record<string, string>>,
  variables: Variables,
  field: string,
  onFilled?: OnExpanded,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).map(([key, text]) => [key, expandText(text, variables, `${field}.${key}`, onFilled)]),
  );
}
