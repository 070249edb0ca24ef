// Errors of HTTP connections to servers as HubErrors: an HTTP status in place of a reply, a broken connection, a redirect that is
// not followed.

import { parseJson } from "@plugboard/shared/lenient";
import { HubError, type Delivery, type ErrorKind } from "../../errors.ts";
import { errorCode } from "@plugboard/shared/error-code";
import { isObject } from "../../lib/json/json.ts";
import { rpcErrorIn, type RpcError } from "../rpc/jsonrpc.ts";

interface StatusHints {
  readonly retryAfterMs?: number | undefined;
  /** Headers of a 401 or 403 with the required authentication. */
  readonly challenge?: ChallengeHeaders | undefined;
  /** The server has forgotten our session, and did not process the request. */
  readonly isForgotten?: boolean;
}

export interface ChallengeHeaders {
  readonly authenticate: string | undefined;
  readonly nonce: string | undefined;
}

export function challengeIn(
  status: number,
  headers: { get(name: string): string | undefined; all(name: string): string | undefined },
): ChallengeHeaders | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return { authenticate: headers.all("www-authenticate"), nonce: headers.get("dpop-nonce") };
}

/** The server replied with an HTTP status in place of a JSON-RPC response. */
export class HttpStatusError extends HubError {
  readonly status: number;
  readonly challenge: ChallengeHeaders | undefined;

  /** `rpcError`: a JSON-RPC error in the body without a usable id. */
  constructor(
    status: number,
    rpcError: RpcError | undefined,
    { retryAfterMs, challenge, isForgotten = false }: StatusHints = {},
  ) {
    const delivery = isForgotten ? "forgotten" : deliveryOf(status);
    super(KIND_OF_STATUS.get(status) ?? "ConnectionFailed", `The server answered with HTTP status ${status}`, {
      ...(rpcError === undefined ? {} : { detail: rpcError.message, rpcError }),
      ...(delivery === undefined ? {} : { delivery }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    this.status = status;
    this.challenge = challenge;
  }
}

const KIND_OF_STATUS: ReadonlyMap<number, ErrorKind> = new Map([
  [401, "Unauthenticated"],
  [403, "Forbidden"],
  [429, "RateLimited"],
]);

/** Delivery of the request, derived from the status. Undefined for other 5xx: the server may have processed it. */
function deliveryOf(status: number): Delivery | undefined {
  if (status === 429 || status === 503) return "refused";
  if (status === 502) return "gateway";
  return status < 500 ? "rejected" : undefined;
}

/** The `error` of a JSON-RPC body without an id. */
export function errorIn(bytes: Buffer): RpcError | undefined {
  // Not JSON: for example a proxy's HTML page.
  const body = parseJson(bytes.toString());
  return isObject(body) ? rpcErrorIn(body["error"]) : undefined;
}

export function toConnectionError(error: Error, status: number): HubError {
  if (error instanceof HubError) return error;
  const tls = TLS_FAULTS[codeOf(error)];
  if (tls !== undefined) {
    const { message, hint } = tls;
    return new HubError("ConnectionFailed", message, { detail: codeOf(error), hint, delivery: "unsent", cause: error });
  }
  const detail = describeFailure(error);
  const refused = status === 0 && isUnreachable(error);
  const message = refused ? "The server cannot be reached" : "The connection broke before the answer was complete";
  return new HubError("ConnectionFailed", message, { detail, delivery: refused ? "unsent" : "unknown", cause: error });
}

export function tooLarge(maxBytes: number): HubError {
  return new HubError("ProtocolError", `The server's answer is larger than ${maxBytes} bytes`);
}

/** Whether no connection was established, so that the request cannot have been sent. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof HubError) return error.delivery === "unsent";
  return error instanceof Error && (NO_CONNECTION.has(codeOf(error)) || TLS_FAULTS[codeOf(error)] !== undefined);
}

/** The system's error code, with the address if known. @example "Nothing listens at 127.0.0.1:17499 (ECONNREFUSED)" */
function describeFailure(error: Error): string {
  const code = codeOf(error);
  // All addresses of the name were tried; the first error is reported.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { address, port, hostname } = isObject(first) ? first : {};
  if (code === "ECONNREFUSED" && typeof address === "string") {
    const host = address.includes(":") ? `[${address}]` : address;
    return `Nothing listens at ${host}:${String(port)} (${code})`;
  }
  if (code === "ENOTFOUND" && typeof hostname === "string") return `Unknown host ${hostname} (${code})`;
  return code;
}

function codeOf(error: Error): string {
  return errorCode(error) ?? error.name;
}

const TRUST =
  'Set "tls": {"ca": "/path/to/ca.pem"} in the server\'s entry to the certificate of its authority, or NODE_EXTRA_CA_CERTS for all servers';
const UNKNOWN_CA = {
  message: "The server's certificate is signed by an authority that this machine does not trust",
  hint: TRUST,
};

/** TLS errors with their remedies. In all of these cases nothing was sent. */
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
 * The target of a redirect, if it may be followed: same origin, method and body unchanged. Another origin would receive the
 * credentials of this server.
 */
export function followRedirect(status: number, location: string | undefined, from: URL): URL | HubError {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to !== undefined && to.origin === from.origin && (status === 307 || status === 308)) return to;
  const where = to === undefined ? "nowhere" : to.origin + to.pathname;
  return new HubError("ConnectionFailed", "The server redirects to another address, which is not followed", {
    detail: `HTTP status ${status}, to ${where}`,
    delivery: "rejected",
    ...(to === undefined ? {} : { hint: "If that is the right address, set it as the server's url" }),
  });
}

export const MAX_REDIRECTS = 5;

export function tooManyRedirects(): HubError {
  const message = `The server redirects more than ${MAX_REDIRECTS} times`;
  return new HubError("ConnectionFailed", message, { delivery: "rejected" });
}
