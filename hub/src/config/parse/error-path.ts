// Adds the position in the config to an error.

import { HubError } from "../../errors.ts";

/** Runs a check, and prefixes the message and field of its error. */
export function withPath<T>(what: string, path: string, check: () => T): T {
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

/** An untrusted name as a JSON string, shortened for messages. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
