// The error class of the hub, and the table that maps each kind to its code, HTTP status, JSON-RPC code and exit code.
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
  /** Code of a JSON-RPC error: one that the protocol defines, or one outside its reserved range -32768…-32000. */
  readonly rpc: number;
  /** Exit code of a command. */
  readonly exit: number;
}

const INVALID_PARAMS = -32602;

/** One row per kind. A new kind does not compile until every edge is mapped. docs/errors.md describes each kind. */
export const ERRORS = {
  InvalidArgument: { code: "VALIDATION_ERROR", http: 400, rpc: INVALID_PARAMS, exit: 2 },
  InvalidConfig: { code: "VALIDATION_ERROR", http: 400, rpc: INVALID_PARAMS, exit: 2 },
  SerializationError: { code: "VALIDATION_ERROR", http: 400, rpc: INVALID_PARAMS, exit: 2 },
  UnsafeAddress: { code: "VALIDATION_ERROR", http: 400, rpc: INVALID_PARAMS, exit: 2 },
  Unauthenticated: { code: "UNAUTHENTICATED", http: 401, rpc: -31401, exit: 3 },
  // 409, since a client that gets 401 would discard its own token for the hub.
  LoginRequired: { code: "UNAUTHENTICATED", http: 409, rpc: -31401, exit: 3 },
  LoginExpired: { code: "UNAUTHENTICATED", http: 409, rpc: -31401, exit: 3 },
  ScopeRequired: { code: "UNAUTHENTICATED", http: 409, rpc: -31401, exit: 3 },
  SecretRequired: { code: "UNAUTHENTICATED", http: 409, rpc: -31401, exit: 3 },
  ClientIdRequired: { code: "UNAUTHENTICATED", http: 409, rpc: -31401, exit: 3 },
  LoginFailed: { code: "UNAUTHENTICATED", http: 409, rpc: -31401, exit: 3 },
  InsufficientScope: { code: "FORBIDDEN", http: 403, rpc: -31403, exit: 3 },
  NotApproved: { code: "FORBIDDEN", http: 403, rpc: -31403, exit: 3 },
  Forbidden: { code: "FORBIDDEN", http: 403, rpc: -31403, exit: 3 },
  ServerNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  ToolNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  GroupNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  SecretNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  CallNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  SessionNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  TokenNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  GrantNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  UserNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  LoginNotFound: { code: "NOT_FOUND", http: 404, rpc: INVALID_PARAMS, exit: 6 },
  PackageNotFound: { code: "NOT_FOUND", http: 404, rpc: -31404, exit: 6 },
  LauncherNotInstalled: { code: "NOT_FOUND", http: 404, rpc: -31404, exit: 6 },
  ServerAlreadyExists: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  GroupAlreadyExists: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  SecretInUse: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  Conflict: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  Locked: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  PortInUse: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  // A person has to look at what a server runs, or at what a tool has become.
  ApprovalRequired: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  ServerDisabled: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  ClientRefused: { code: "CONFLICT", http: 409, rpc: -31409, exit: 7 },
  PayloadTooLarge: { code: "PAYLOAD_TOO_LARGE", http: 413, rpc: -31413, exit: 1 },
  RateLimited: { code: "RATE_LIMITED", http: 429, rpc: -31429, exit: 1 },
  ProcessSpawnFailed: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  ServerNotRunning: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  ServerStarting: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  Overloaded: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  CircuitOpen: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  IssuerUnavailable: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  DockerNotRunning: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  DatabaseUnavailable: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  HubUnavailable: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  DiskFull: { code: "SERVICE_UNAVAILABLE", http: 503, rpc: -31503, exit: 4 },
  ConnectionFailed: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  InitializationFailed: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  ProtocolError: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 4 },
  ToolFailed: { code: "NETWORK_ERROR", http: 502, rpc: -31502, exit: 5 },
  Timeout: { code: "NETWORK_ERROR", http: 504, rpc: -31504, exit: 4 },
  Cancelled: { code: "CANCELLED", http: 499, rpc: -31499, exit: 130 },
  IoError: { code: "INTERNAL", http: 500, rpc: -32603, exit: 1 },
  DatabaseError: { code: "INTERNAL", http: 500, rpc: -32603, exit: 1 },
  Unexpected: { code: "INTERNAL", http: 500, rpc: -32603, exit: 1 },
} as const satisfies Record<string, Meaning>;

export type ErrorKind = keyof typeof ERRORS;

/**
 * How far a failed request got, if that is known. Retries depend on it.
 * - `unsent`: no byte of it left the hub.
 * - `refused`: the server rejected it before doing any work.
 * - `forgotten`: the server refused it because it no longer knows our session.
 * - `gateway`: a proxy answered HTTP 502 for the server, so the request may have run.
 * - `unknown`: it was sent without an answer, so it may have run.
 * - `rejected`: the server says that the request itself is wrong.
 * - `withheld`: the hub did not send it, since it has no valid credentials at the moment. Says nothing about the server.
 */
export type Delivery = "unsent" | "refused" | "forgotten" | "gateway" | "unknown" | "rejected" | "withheld";

/** A JSON-RPC error object, as a peer sent it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface ErrorDetails {
  /** Path of the wrong input: `env.API_KEY`. */
  readonly field?: string;
  /** Details: the missing name, or the last lines of a server's stderr. */
  readonly detail?: string;
  /** How to fix it: a command or a sentence. */
  readonly hint?: string;
  readonly delivery?: Delivery;
  /** When to try again, from the server's Retry-After or the circuit breaker. */
  readonly retryAfterMs?: number;
  /** An address of the hub that a person can open to fix it: the login of a server. */
  readonly loginUrl?: string;
  /** Which credentials the answer asks for: its header WWW-Authenticate. */
  readonly wwwAuthenticate?: string;
  /** The server's error answer, if that is the failure. For library users; `toJSON` leaves it out. */
  readonly rpcError?: RpcError;
  readonly cause?: unknown;
}

/** A HubError as JSON: the same at every edge. */
export interface ErrorBody {
  code: ErrorCode;
  kind: ErrorKind;
  message: string;
  field?: string;
  detail?: string;
  hint?: string;
  retry_after_ms?: number;
  login_url?: string;
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
  readonly loginUrl: string | undefined;
  readonly wwwAuthenticate: string | undefined;
  readonly rpcError: RpcError | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.field = details.field;
    this.detail = details.detail;
    this.hint = details.hint;
    this.delivery = details.delivery;
    this.retryAfterMs = details.retryAfterMs;
    this.loginUrl = details.loginUrl;
    this.wwwAuthenticate = details.wwwAuthenticate;
    this.rpcError = details.rpcError;
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
      ...(this.loginUrl === undefined ? {} : { login_url: this.loginUrl }),
    };
  }
}

/** Rebuilds a HubError from its JSON. */
export function fromErrorBody({ kind, message, field, detail, hint, login_url: loginUrl }: ErrorBody): HubError {
  return new HubError(kind, message, {
    ...(field === undefined ? {} : { field }),
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
    ...(loginUrl === undefined ? {} : { loginUrl }),
  });
}

/** Anything thrown, as a HubError. An unknown error keeps its cause, but its text is not shown: it may hold secrets. */
export function toHubError(thrown: unknown): HubError {
  if (thrown instanceof HubError) return thrown;
  return new HubError("Unexpected", "Something unexpected went wrong inside the hub", { cause: thrown });
}

/** The message, and the first line of the detail, which is the most telling one (servers/process/failure-line.ts). */
export function summaryOf({
  message,
  detail = "",
}: {
  readonly message: string;
  readonly detail?: string | undefined;
}): string {
  return [message, detail]
    .map(firstLine)
    .filter((line, index) => index === 0 || line !== "")
    .join(": ");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
