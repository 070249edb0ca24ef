// Rebuilds a HubError from JSON of the API or another process.

import { ERRORS, HubError, type ErrorKind } from "../../errors.ts";

export interface ReceivedError {
  readonly kind?: string;
  readonly message?: string;
  readonly field?: string | undefined;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

export function fromBody({ kind, message = "Unknown error", field, detail, hint }: ReceivedError): HubError {
  return new HubError(isKind(kind) ? kind : "Unexpected", message, {
    ...(field === undefined ? {} : { field }),
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** A hub of another version may have other kinds. */
function isKind(kind: string | undefined): kind is ErrorKind {
  return kind !== undefined && Object.hasOwn(ERRORS, kind);
}
