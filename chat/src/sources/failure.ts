// Errors of network connections by kind. Messages are shown to users and never contain secrets.

export type FailureKind =
  | "unreachable"
  | "unauthorized"
  | "rate_limited"
  /** Another client uses the account's only connection. */
  | "conflict"
  /** The network rejected the request. */
  | "refused"
  /** The store rejected a batch. */
  | "not_stored";

export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
  readonly kind: FailureKind;
  /** Wait requested by the network. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Unknown errors are described by name or code only: their message may quote a URL with a token. */
export function asFailure(error: unknown): SourceFailure {
  if (error instanceof SourceFailure) return error;
  return new SourceFailure("unreachable", `The connection failed (${codeOf(error)})`);
}

/** Code such as `ECONNREFUSED`, searched in the chain of causes. */
export function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
    if (at.cause === undefined) return at.name;
  }
  return "unknown";
}
