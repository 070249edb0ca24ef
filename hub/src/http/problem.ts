// Maps errors to RFC 9457 problem details, which are also the hub's error contract. Errors of MCP servers are not mapped here.

import { HubError, toHubError, type ErrorCode, type ErrorKind } from "../errors.ts";

export const PROBLEM_TYPE = "application/problem+json";

export interface Problem {
  type: string;
  title: string;
  status: number;
  /** The detail of the error, or its message. */
  detail: string;
  /** The id of the request. */
  instance: string;
  code: ErrorCode;
  /** Null for an error of HTTP itself. */
  kind: string | null;
  message: string;
  /** The invalid input, if the error is about one. */
  field: string | null;
  /** All invalid inputs, if there are several. */
  errors?: readonly FieldError[];
  hint?: string;
  retry_after_ms?: number;
  login_url?: string;
}

export interface FieldError {
  readonly field: string;
  readonly code: ErrorCode;
  readonly message: string;
  /** Where it is in a text, from 1. */
  readonly line?: number;
  readonly column?: number;
}

export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

/** An error of HTTP itself: an unknown address, a malformed body. */
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

export function wrongMethod(allowed: readonly string[]): HttpFailure {
  const allow = [...new Set(allowed)].toSorted().join(", ");
  return new HttpFailure(405, "VALIDATION_ERROR", `This address takes only ${allow}`, { allow });
}

/** Several invalid inputs in one request. Its message and field are those of the first. */
export class InvalidRequest extends HubError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[], kind: ErrorKind = "InvalidArgument") {
    const [first] = errors;
    super(kind, first?.message ?? "The request is not valid", first === undefined ? {} : { field: first.field });
    this.errors = errors;
  }
}

/** The text of an unexpected error is not shown. */
export function toProblem(thrown: unknown, requestId: string): ProblemAnswer {
  if (thrown instanceof HttpFailure) return { problem: ofHttp(thrown, requestId), headers: thrown.headers };
  const error = toHubError(thrown);
  const waitMs = error.retryAfterMs;
  return { problem: ofHub(error, requestId, waitMs), headers: headersOf(error) };
}

function ofHub(error: HubError, instance: string, waitMs: number | undefined): Problem {
  const { kind, code, message, field, detail, hint, loginUrl, meaning } = error;
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
    ...(loginUrl === undefined ? {} : { login_url: loginUrl }),
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

/** Headers of an answer to a request that failed so. */
export function headersOf({ kind, wwwAuthenticate, retryAfterMs }: HubError): Record<string, string> {
  // The rest of the body is not read, so the connection cannot be used again.
  if (kind === "PayloadTooLarge") return { connection: "close" };
  if (wwwAuthenticate !== undefined) return { "www-authenticate": wwwAuthenticate };
  if (kind === "Unauthenticated") return { "www-authenticate": 'Bearer realm="plugboard"' };
  return retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
}

/** @example inWords("ServerNotFound", " ") // "Server not found" */
function inWords(kind: string, between: string): string {
  return kind.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => between + letter.toLowerCase());
}
