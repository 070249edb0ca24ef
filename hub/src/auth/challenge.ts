// The challenge of an answer 401 or 403: which token is missing, and where a client can get one.

import { HubError } from "../errors.ts";

export interface ChallengeParts {
  /** Where the metadata of the resource is. Undefined: no one issues tokens for it, and a client must not begin a login. */
  readonly metadata?: string | undefined;
  readonly scope?: string | undefined;
  readonly error?: "invalid_token" | "insufficient_scope" | undefined;
  readonly description?: string | undefined;
}

/** RFC 6750, section 3, and RFC 9728, section 5.1. */
export function challengeText({ metadata, scope, error, description }: ChallengeParts): string {
  const parts = { realm: "plugboard", resource_metadata: metadata, scope, error, error_description: description };
  const given = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${quotable(value)}"`],
  );
  return `Bearer ${given.join(", ")}`;
}

/** The error with a challenge, if it is about the credentials. */
export function withChallenge(error: HubError, parts: (error: HubError) => ChallengeParts): HubError {
  const { kind, message, detail, hint } = error;
  if (kind !== "Unauthenticated" && kind !== "InsufficientScope") return error;
  return new HubError(kind, message, {
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    wwwAuthenticate: challengeText(parts(error)),
    cause: error,
  });
}

/** Printable ASCII without quotes and backslashes. */
function quotable(text: string): string {
  return text.replaceAll(/[^ !#-[\]-~]/g, "'");
}
