// Why a token of an issuer is not accepted.

import { HubError } from "../../errors.ts";

/** The token itself is at fault. The text is shown to its sender. */
export class InvalidToken extends Error {
  /** The issuer has made it, but it is of no use here or no longer: clients with several tokens send such ones in good faith. */
  readonly isGenuine: boolean;

  constructor(message: string, { isGenuine = false }: { readonly isGenuine?: boolean } = {}) {
    super(message);
    this.isGenuine = isGenuine;
  }
}

/** Nothing is known about the token, since its issuer does not answer. Tokens of others are not affected. */
export function issuerUnavailable(issuer: string, retryAfterMs: number, cause: unknown): HubError {
  const reason = cause instanceof HubError ? [cause.message, cause.detail].filter(Boolean).join(": ") : undefined;
  return new HubError("IssuerUnavailable", `The token cannot be checked now: ${issuer} does not answer as it should`, {
    ...(reason === undefined ? {} : { detail: reason }),
    retryAfterMs,
    cause,
  });
}
