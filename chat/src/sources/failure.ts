// Why a connection to a network could not be made or was lost, by kind. Its message is shown to users: no secret is in it.

export type FailureKind =
  | "unreachable"
  | "unauthorized"
  | "rate_limited"
  /** Somebody else has taken the account's only connection. */
  | "conflict"
  /** The network understood, and said no. */
  | "refused"
  /** The store could not take what was read. */
  | "not_stored";

export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
  readonly kind: FailureKind;
  /** How long the network wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What is not a failure of a known kind is told by its name or code: a foreign text may quote an address with a token. */
export function asFailure(error: unknown): SourceFailure {
  if (error instanceof SourceFailure) return error;
  return new SourceFailure("unreachable", `The connection failed (${codeOf(error)})`);
}

/** `ECONNREFUSED` and the like; fetch hides it in the cause. */
export function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
    if (at.cause === undefined) return at.name;
  }
  return "unknown";
}
