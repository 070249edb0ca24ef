// Requests to the endpoints of an authorization server that need the client's credentials, and what their answers mean.

import type { ClientAuth, HttpRequestOptions } from "oauth4webapi";
import { HubError, type Delivery } from "../errors.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { clientAuth, secretsOf } from "./client/client-auth.ts";
import { dpopSigner } from "./dpop.ts";
import { readAnswer, type ServerAnswer } from "./server-answer.ts";
import type { GuardedFetch, TokenEndpoint } from "./types.ts";

export type TokenFailure =
  /** Worth trying again. `delivery` says whether the authorization server may have processed the request. */
  | { readonly type: "transient"; readonly delivery: Delivery; readonly retryAfterMs?: number }
  /** The authorization server's decision: invalid_grant, invalid_client and so on. */
  | { readonly type: "refused"; readonly code: string; readonly description?: string };

/** Every failure of a token endpoint. Callers decide by `failure`, never by the text. */
export class TokenEndpointError extends HubError {
  readonly failure: TokenFailure;

  constructor(failure: TokenFailure, message: string, detail?: string) {
    const { delivery, retryAfterMs } = failure.type === "transient" ? failure : {};
    super(failure.type === "transient" ? "ConnectionFailed" : "LoginFailed", message, {
      ...(detail === undefined ? {} : { detail }),
      ...(delivery === undefined ? {} : { delivery }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    this.failure = failure;
  }
}

const TIMEOUT_MS = 10_000;
/** Parameters of grants that no error may quote. */
const SENSITIVE = ["code", "code_verifier", "refresh_token", "assertion", "subject_token", "device_code"];

/** Sends a grant and gives the answer's body. Rejects with TokenEndpointError, UnsafeAddress, InvalidConfig or Cancelled. */
export async function requestToken(
  endpoint: TokenEndpoint,
  grantType: string,
  grant: Readonly<Record<string, string | undefined>>,
): Promise<JsonObject> {
  const { discovery, client, dpopKey, resource } = endpoint;
  const { genericTokenEndpointRequest } = await import("oauth4webapi");
  const { token_endpoint: url } = discovery.metadata;
  if (url === undefined) throw new HubError("ProtocolError", `${discovery.issuer} has no token endpoint`);
  const parameters = definedOf({ ...grant, resource });
  const prove = dpopKey && dpopSigner(dpopKey);
  const send = async (nonce?: string): Promise<Response> => {
    const headers = prove === undefined ? {} : { dpop: prove({ method: "POST", url, nonce }) };
    const { as, auth, options } = await authenticated(endpoint, headers);
    return genericTokenEndpointRequest(as, { client_id: client.id }, auth, grantType, parameters, options);
  };
  const sent = SENSITIVE.map((name) => grant[name]);
  const answer = await sendOnce(endpoint, send, sent);
  // So Glewlwyd answers a refresh token that is over. Nothing in between answers 400 without a word.
  const isRefusal = answer.type === "failed" && answer.status === 400 && answer.isEmpty;
  return bodyOf(isRefusal ? { type: "refused", status: 400, code: "invalid_grant" } : answer, discovery.issuer);
}

/** Sends a request and gives the body of the answer. `sent`: what no error may quote. */
export async function sendAndRead(
  endpoint: Pick<TokenEndpoint, "discovery" | "client" | "dpopKey">,
  send: (nonce?: string) => Promise<Response>,
  sent: readonly (string | undefined)[],
): Promise<JsonObject> {
  return bodyOf(await sendOnce(endpoint, send, sent), endpoint.discovery.issuer);
}

/** Sends a request; once more if the authorization server wants a nonce in its DPoP proof. */
export async function sendOnce(
  { discovery, client, dpopKey }: Pick<TokenEndpoint, "discovery" | "client" | "dpopKey">,
  send: (nonce?: string) => Promise<Response>,
  sent: readonly (string | undefined)[],
): Promise<ServerAnswer> {
  if (client.issuer !== discovery.issuer) throw wrongIssuer(client.issuer, discovery.issuer);
  const secrets = [...secretsOf(client), ...sent.filter((value) => value !== undefined)];
  try {
    const response = await send();
    const answer = await readAnswer(response, secrets);
    const nonce = dpopKey && response.headers.get("dpop-nonce");
    if (typeof nonce !== "string" || answer.type !== "refused" || answer.code !== "use_dpop_nonce") return answer;
    return await readAnswer(await send(nonce), secrets);
  } catch (thrown) {
    throw toTokenEndpointError(thrown, discovery.issuer);
  }
}

/** Throws if there is no valid answer. */
export function bodyOf(answer: ServerAnswer, issuer: string): JsonObject {
  switch (answer.type) {
    case "ok":
      return answer.body;
    case "refused": {
      const { code, description } = answer;
      const failure = { type: "refused", code, ...(description === undefined ? {} : { description }) } as const;
      const detail = description === undefined ? code : `${code}: ${description}`;
      throw new TokenEndpointError(failure, `${issuer} refused the request`, detail);
    }
    case "failed": {
      const { status, retryAfterMs } = answer;
      const delivery = status === 429 || status === 503 ? "refused" : "unknown";
      const failure = { type: "transient", delivery, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } as const;
      throw new TokenEndpointError(failure, `${issuer} did not answer as it should`, `HTTP status ${status}`);
    }
  }
}

/** An answer of the right form that lacks what it is for. */
export function unusable(issuer: string, detail: string): TokenEndpointError {
  const failure = { type: "transient", delivery: "unknown" } as const;
  return new TokenEndpointError(failure, `${issuer} did not answer as it should`, detail);
}

function toTokenEndpointError(thrown: unknown, issuer: string): unknown {
  if (!(thrown instanceof HubError)) return thrown;
  const { kind, detail, message, delivery = "unknown" } = thrown;
  if (kind !== "ConnectionFailed" && kind !== "Timeout" && kind !== "ProtocolError") return thrown;
  return new TokenEndpointError({ type: "transient", delivery }, `${issuer} could not be asked`, detail ?? message);
}

function wrongIssuer(known: string, current: string): TokenEndpointError {
  const failure = { type: "refused", code: "issuer_changed" } as const;
  return new TokenEndpointError(
    failure,
    "The server has changed its authorization server",
    `The login is at ${known}, and is not used at ${current}`,
  );
}

/** Options for the requests of oauth4webapi. */
export async function authenticated(
  { discovery, client, fetch, signal }: Omit<TokenEndpoint, "resource">,
  headers: Readonly<Record<string, string>> = {},
) {
  const { allowInsecureRequests, customFetch } = await import("oauth4webapi");
  const options = {
    // Discovery has checked the endpoints: http is on this machine.
    [allowInsecureRequests]: true,
    [customFetch]: withTimeout(fetch, signal),
    headers: { ...headers, "user-agent": "plugboard" },
  } satisfies HttpRequestOptions<"POST", URLSearchParams>;
  const auth: ClientAuth = clientAuth(client);
  return { as: discovery.metadata, auth, options };
}

function withTimeout(fetch: GuardedFetch, signal: AbortSignal | undefined): GuardedFetch {
  return (url, init) => fetch(url, { ...init, signal, timeoutMs: TIMEOUT_MS });
}

function definedOf(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) defined[name] = value;
  return defined;
}
