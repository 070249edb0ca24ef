// What goes wrong on the way to a server over HTTP, in the hub's own words: a status in place of an answer, a broken
// connection, a redirect that is not followed.

import { HubError, type Delivery, type ErrorKind } from "../errors.ts";
import { isObject } from "./json.ts";
import type { RpcError } from "./jsonrpc.ts";

interface StatusHints {
  readonly retryAfterMs?: number | undefined;
  /** The server no longer knows our session, and so turned the request away unread. */
  readonly isForgotten?: boolean;
}

/** The server answered with an HTTP status in place of a JSON-RPC answer. */
export class HttpStatusError extends HubError {
  readonly status: number;
  /** The JSON-RPC error in the body, where there was one without a usable id. */
  readonly rpcError: RpcError | undefined;

  constructor(status: number, rpcError: RpcError | undefined, { retryAfterMs, isForgotten = false }: StatusHints = {}) {
    const delivery = isForgotten ? "forgotten" : deliveryOf(status);
    super(KIND_OF_STATUS.get(status) ?? "ConnectionFailed", `The server answered with HTTP status ${status}`, {
      ...(rpcError === undefined ? {} : { detail: rpcError.message }),
      ...(delivery === undefined ? {} : { delivery }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    this.status = status;
    this.rpcError = rpcError;
  }
}

const KIND_OF_STATUS: ReadonlyMap<number, ErrorKind> = new Map([
  [401, "Unauthenticated"],
  [403, "Forbidden"],
  [429, "RateLimited"],
]);

/** What a status says about the request. Nothing is known for the others: the server, or one in between, failed over it. */
function deliveryOf(status: number): Delivery | undefined {
  if (status === 429 || status === 503) return "refused";
  if (status === 502) return "gateway";
  return status < 500 ? "rejected" : undefined;
}

/** Retry-After in either of its forms: seconds, or a date. */
export function retryAfter(header = ""): number | undefined {
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** The `error` of a JSON-RPC body that names no request. */
export function errorIn(bytes: Buffer): RpcError | undefined {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    return undefined; // an HTML page of a proxy, say
  }
  const error = isObject(body) ? body["error"] : undefined;
  if (!isObject(error) || typeof error["code"] !== "number" || typeof error["message"] !== "string") return undefined;
  return { ...error, code: error["code"], message: error["message"] };
}

export function broken(error: Error, status: number): HubError {
  if (error instanceof HubError) return error;
  const tls = TLS_FAULTS[codeOf(error)];
  if (tls !== undefined) {
    const { message, hint } = tls;
    return new HubError("ConnectionFailed", message, { detail: codeOf(error), hint, delivery: "unsent", cause: error });
  }
  const detail = whatFailed(error);
  const refused = status === 0 && isUnreachable(error);
  const message = refused ? "The server cannot be reached" : "The connection broke before the answer was complete";
  return new HubError("ConnectionFailed", message, { detail, delivery: refused ? "unsent" : "unknown", cause: error });
}

export function tooLarge(maxBytes: number): HubError {
  return new HubError("ProtocolError", `The server's answer is larger than ${maxBytes} bytes`);
}

/** Whether there was never a connection that the request could have gone through. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof HubError) return error.delivery === "unsent";
  return error instanceof Error && (NO_CONNECTION.has(codeOf(error)) || TLS_FAULTS[codeOf(error)] !== undefined);
}

/** The code of the system, and where it says so the address. @example "Nothing listens at 127.0.0.1:17499 (ECONNREFUSED)" */
function whatFailed(error: Error): string {
  const code = codeOf(error);
  // Of a name with several addresses all were tried.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { address, port, hostname } = isObject(first) ? first : {};
  if (code === "ECONNREFUSED" && typeof address === "string") {
    const host = address.includes(":") ? `[${address}]` : address;
    return `Nothing listens at ${host}:${String(port)} (${code})`;
  }
  if (code === "ENOTFOUND" && typeof hostname === "string") return `There is no host ${hostname} (${code})`;
  return code;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

const TRUST =
  'Set "tls": {"ca": "/path/to/ca.pem"} in the server\'s entry to the certificate of its authority, or NODE_EXTRA_CA_CERTS for all servers';
const UNKNOWN_CA = {
  message: "The server's certificate is signed by an authority that is not known here",
  hint: TRUST,
};

/** What a certificate can have against it, and who can help. Nothing was sent in any of these cases. */
const TLS_FAULTS: Readonly<Partial<Record<string, { readonly message: string; readonly hint: string }>>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    message: "The server's certificate is self-signed",
    hint: 'Set "tls": {"ca": "/path/to/the-certificate.pem"} in the server\'s entry to that certificate, or NODE_EXTRA_CA_CERTS for all servers',
  },
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  CERT_HAS_EXPIRED: {
    message: "The server's certificate has expired",
    hint: "Its operator has to renew it; also check the clock of this machine",
  },
  CERT_NOT_YET_VALID: {
    message: "The server's certificate is not valid yet",
    hint: "Check the clock of this machine",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    message: "The server's certificate is for another host name",
    hint: 'Use the name that it is for in the url, or set "tls": {"servername": "…"} in the server\'s entry',
  },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    message: "The server does not speak TLS at this address",
    hint: "Perhaps its url begins with http:// (or ws://)",
  },
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: {
    message: "The server asks for a client certificate",
    hint: 'Set "tls": {"cert": "/path/to/cert.pem", "key": "/path/to/key.pem"} in the server\'s entry',
  },
};

const NO_CONNECTION: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Where a redirect leads, if it may be followed: within the origin, with method and body as they are. Elsewhere the
 * credentials of this server would go to somebody else.
 */
export function followRedirect(status: number, location: string | undefined, from: URL): URL | HubError {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to !== undefined && to.origin === from.origin && (status === 307 || status === 308)) return to;
  const where = to === undefined ? "nowhere" : to.origin + to.pathname;
  return new HubError("ConnectionFailed", "The server redirects to another address, which is not followed", {
    detail: `HTTP status ${status}, to ${where}`,
    delivery: "rejected",
    ...(to === undefined ? {} : { hint: "If that is the right address, give it as the server's url" }),
  });
}

export const MAX_REDIRECTS = 5;

export function tooManyRedirects(): HubError {
  const message = `The server redirects more than ${MAX_REDIRECTS} times`;
  return new HubError("ConnectionFailed", message, { delivery: "rejected" });
}
