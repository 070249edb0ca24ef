// Where in a file something is wrong, in words that a person can follow. What is wrong is left to the checks.

import { HubError } from "../errors.ts";

/** Runs a check, and says in its error where in the file it failed. */
export function within<T>(what: string, path: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const { kind, message, detail, hint } = error;
    const field = error.field === undefined ? path : `${path}.${error.field}`;
    throw new HubError(kind, `${what}: ${message}`, {
      field,
      ...(detail === undefined ? {} : { detail }),
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

/** A name from outside, safe to print. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
