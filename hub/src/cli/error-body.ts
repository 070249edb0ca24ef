// An error that came as data, from the API or from another process, as the error that it was.

import { ERRORS, HubError, type ErrorKind } from "../errors.ts";

export interface ReceivedError {
  readonly kind?: string;
  readonly message?: string;
  readonly field?: string | undefined;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
}

export function fromBody({ kind, message = "Something failed", field, detail, hint }: ReceivedError): HubError {
  return new HubError(isKind(kind) ? kind : "Unexpected", message, {
    ...(field === undefined ? {} : { field }),
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** A hub of another version may know kinds that we do not. */
function isKind(kind: string | undefined): kind is ErrorKind {
  return kind !== undefined && Object.hasOwn(ERRORS, kind);
}
