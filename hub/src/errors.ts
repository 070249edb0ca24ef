// Every failure the hub itself makes, and the one table that says what it means at each edge.
// Errors that an upstream server answers with are not HubErrors: they are passed on unchanged.

export type ErrorCode =
  | "VALIDATION_ERROR"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "CONFLICT"
  | "CANCELLED"
  | "PAYLOAD_TOO_LARGE"
  | "RATE_LIMITED"
  | "SERVICE_UNAVAILABLE"
  | "NETWORK_ERROR"
  | "INTERNAL";

interface Meaning {
  readonly code: ErrorCode;
  /** Status of a REST answer. */
  readonly http: number;
  /** Code of a JSON-RPC error. Outside -32768…-32000, which the protocol keeps for itself, unless it is the protocol's own. */
  readonly rpc: number;
  /** Exit code of a command. */
  readonly exit: number;
}

const INVALID_PARAMS = -32602;

/** One row per kind. A new kind does not compile until every edge is mapped. */
export const ERRORS = {
  InvalidConfig: { code: "VALIDATION_ERROR", http: 400, rpc: INVALID_PARAMS, exit: 2 },
  SerializationError: { code: "VALIDATION_ERROR", http: 400, rpc: INVALID_PARAMS, exit: 2 },
  Unauthenticated: { code: "UNAUTHENTICATED", http: 401, rpc: -31401, exit: 3 },
  Forbidden: { code: "FORBIDDEN", http: 403, rpc: -31403, exit: 3 },
  ServerNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  ToolNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  GroupNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  SecretNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  CallNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  PackageNotFound: { code: "NOT_FOUND", http: 404, rpc: -31404, exit: 6 },
  ServerAlreadyExists: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  GroupAlreadyExists: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  IdempotencyKeyReused: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  SecretInUse: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  StaleConfig: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  ServerDisabled: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  ClientRefused: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  PayloadTooLarge: { code: "PAYLOAD_TOO_LARGE", http: 413, rpc: -31413, exit: 1 },
  RateLimited: { code: "RATE_LIMITED", http: 429, rpc: -31429, exit: 1 },
  ProcessSpawnFailed: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  ServerNotRunning: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  ServerStarting: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  Overloaded: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  CircuitOpen: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  DockerNotRunning: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  DiskFull: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  ToolFailed: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 5 },
  ConnectionFailed: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  InitializationFailed: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  ProtocolError: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  IoError: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  Timeout: { code: "NETWORK_ERROR", http: 504, rpc: -31504, exit: 4 },
  Cancelled: { code: "CANCELLED", http: 499, rpc: -31499, exit: 130 },
  DatabaseError: { code: "INTERNAL", http: 500, rpc: -32603, exit: 1 },
  Unexpected: { code: "INTERNAL", http: 500, rpc: -32603, exit: 1 },
} as const satisfies Record<string, Meaning>;

export type ErrorKind = keyof typeof ERRORS;

/**
 * How far a request came that failed, where that is known. `unsent`: no byte of it left the hub. `refused`: the server
 * turned it away before any work. `forgotten`: it did so because it no longer knows our session. `gateway`: a proxy in front
 * of the server had no good answer from it (HTTP 502), so it may have run. `unknown`: it was sent, nothing was heard, and it
 * may have run. `rejected`: the server says that the request itself is wrong.
 */
export type Delivery = "unsent" | "refused" | "forgotten" | "gateway" | "unknown" | "rejected";

export interface ErrorDetails {
  /** The input that is wrong, as a path: `env.API_KEY`. */
  readonly field?: string;
  /** What exactly happened: the missing name, the last lines of a server's stderr. */
  readonly detail?: string;
  /** What to do about it, as a command or a sentence. */
  readonly hint?: string;
  readonly delivery?: Delivery;
  /** When to try again, as the server or a breaker says. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** The error contract of every edge. */
export interface ErrorBody {
  code: ErrorCode;
  kind: ErrorKind;
  message: string;
  field?: string;
  detail?: string;
  hint?: string;
  retry_after_ms?: number;
}

/**
 * A failure of the hub, with its kind.
 *
 * @example throw new HubError("ServerDisabled", `Server "git" is disabled`, { hint: "plugboard enable git" });
 */
export class HubError extends Error {
  override readonly name = "HubError";
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly delivery: Delivery | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.field = details.field;
    this.detail = details.detail;
    this.hint = details.hint;
    this.delivery = details.delivery;
    this.retryAfterMs = details.retryAfterMs;
  }

  get code(): ErrorCode {
    return ERRORS[this.kind].code;
  }

  get meaning(): Meaning {
    return ERRORS[this.kind];
  }

  toJSON(): ErrorBody {
    return {
      code: this.code,
      kind: this.kind,
      message: this.message,
      ...(this.field === undefined ? {} : { field: this.field }),
      ...(this.detail === undefined ? {} : { detail: this.detail }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(this.retryAfterMs) }),
    };
  }
}

/** An error that was kept or sent as data, to be thrown. */
export function fromErrorBody({ kind, message, field, detail, hint }: ErrorBody): HubError {
  return new HubError(kind, message, {
    ...(field === undefined ? {} : { field }),
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Anything thrown, as a HubError. What we did not foresee keeps its cause but shows no inner text. */
export function toHubError(thrown: unknown): HubError {
  if (thrown instanceof HubError) return thrown;
  return new HubError("Unexpected", "Something unexpected went wrong inside the hub", { cause: thrown });
}
