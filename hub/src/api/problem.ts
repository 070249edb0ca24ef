// How a failure looks to an HTTP client: RFC 9457 problem details that are the hub's error contract at the same time.
// The one mapping of this edge; the servers' own errors never come here.

import { HubError, toHubError, type ErrorCode } from "../errors.ts";

export const PROBLEM_TYPE = "application/problem+json";

export interface Problem {
  type: string;
  title: string;
  status: number;
  /** What exactly happened; the message where there is no more to say. */
  detail: string;
  /** The id of the request. */
  instance: string;
  code: ErrorCode;
  /** Null where nothing but the HTTP status tells what is wrong. */
  kind: string | null;
  message: string;
  /** The input that is wrong; null where it is not about one. */
  field: string | null;
  /** Where several inputs are wrong, each of them. */
  errors?: readonly FieldError[];
  hint?: string;
  retry_after_ms?: number;
}

export interface FieldError {
  readonly field: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

/** A failure of HTTP itself, which no other edge knows: an unknown address, a body in a wrong form. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The address is there, but does not take this method. */
export function wrongMethod(allowed: readonly string[]): HttpFailure {
  const allow = [...new Set(allowed)].toSorted().join(", ");
  return new HttpFailure(405, "VALIDATION_ERROR", `This address takes only ${allow}`, { allow });
}

/** Several inputs of one request are wrong; as an error it is the first of them. */
export class InvalidRequest extends HubError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const [first] = errors;
    super(
      "InvalidConfig",
      first?.message ?? "The request is not valid",
      first === undefined ? {} : { field: first.field },
    );
    this.errors = errors;
  }
}

/** What we did not foresee shows nothing of its inner text. */
export function toProblem(thrown: unknown, requestId: string): ProblemAnswer {
  if (thrown instanceof HttpFailure) return { problem: ofHttp(thrown, requestId), headers: thrown.headers };
  const error = toHubError(thrown);
  const waitMs = error.retryAfterMs;
  return { problem: ofHub(error, requestId, waitMs), headers: headersOf(error, waitMs) };
}

function ofHub(error: HubError, instance: string, waitMs: number | undefined): Problem {
  const { kind, code, message, field, detail, hint, meaning } = error;
  return {
    type: `urn:plugboard:problem:${inWords(kind, "-").toLowerCase()}`,
    title: inWords(kind, " "),
    status: meaning.http,
    detail: detail ?? message,
    instance,
    code,
    kind,
    message,
    field: field ?? null,
    ...(error instanceof InvalidRequest ? { errors: error.errors } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(waitMs === undefined ? {} : { retry_after_ms: Math.ceil(waitMs) }),
  };
}

function ofHttp({ status, code, message }: HttpFailure, instance: string): Problem {
  return {
    type: "about:blank",
    title: message,
    status,
    detail: message,
    instance,
    code,
    kind: null,
    message,
    field: null,
  };
}

function headersOf({ kind }: HubError, waitMs: number | undefined): Record<string, string> {
  // The rest of the body is on its way, and nobody will read it: the next request needs another connection.
  if (kind === "PayloadTooLarge") return { connection: "close" };
  if (kind === "Unauthenticated") return { "www-authenticate": 'Bearer realm="plugboard"' };
  return waitMs === undefined ? {} : { "retry-after": String(Math.ceil(waitMs / 1000)) };
}

/** @example inWords("ServerNotFound", " ") // "Server not found" */
function inWords(kind: string, between: string): string {
  return kind.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => between + letter.toLowerCase());
}
