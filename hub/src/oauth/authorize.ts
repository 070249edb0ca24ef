// The authorization request of a login, and the check of its callback.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { HubError } from "../errors.ts";
import { dpopThumbprint } from "./dpop.ts";
import { pushRequest } from "./push-request.ts";
import { parseSafeUrl } from "./fetch/safe-url.ts";
import { OFFLINE_ACCESS } from "./scopes.ts";
import { shownText } from "./text.ts";
import type { AuthorizationRequest, Discovery, DpopKey, GuardedFetch, OAuthClient } from "./types.ts";

export interface AuthorizationOptions {
  readonly discovery: Discovery;
  readonly client: OAuthClient;
  /** Used unless the client was registered with another one. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  /** "assume": the authorization server supports S256 although its metadata does not say so. */
  readonly pkce?: "assume" | undefined;
  readonly dpopKey?: DpopKey | undefined;
  /** For pushed authorization requests. */
  readonly fetch: GuardedFetch;
  readonly signal?: AbortSignal | undefined;
}

export async function createAuthorizationRequest(options: AuthorizationOptions): Promise<AuthorizationRequest> {
  const { discovery, client, scopes, resource, dpopKey } = options;
  const { issuer, metadata } = discovery;
  requirePkce(options);
  const redirectUri = client.redirectUri ?? options.redirectUri;
  const state = randomText();
  const verifier = randomText();
  const nonce = scopes.includes("openid") ? randomText() : undefined;
  const parameters = new URLSearchParams({
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  if (scopes.length > 0) parameters.set("scope", scopes.join(" "));
  if (resource !== undefined) parameters.set("resource", resource);
  if (nonce !== undefined) parameters.set("nonce", nonce);
  // OpenID Connect gives offline access only to who has been asked.
  if (scopes.includes(OFFLINE_ACCESS)) parameters.set("prompt", "consent");
  if (dpopKey !== undefined) parameters.set("dpop_jkt", dpopThumbprint(dpopKey));
  const query =
    metadata.require_pushed_authorization_requests === true ? await pushRequest(options, parameters) : parameters;
  return {
    url: addressOf(discovery, query),
    state,
    verifier,
    redirectUri,
    scopes,
    issuer,
    resource,
    ...(nonce === undefined ? {} : { nonce }),
  };
}

/** Without a challenge a stolen code would be enough. Where there is no metadata, nothing can be advertised. */
export function requirePkce({ discovery, pkce }: Pick<AuthorizationOptions, "discovery" | "pkce">): void {
  const { issuer, metadata, isFallback } = discovery;
  if (isFallback || pkce === "assume" || metadata.code_challenge_methods_supported?.includes("S256") === true) return;
  throw new HubError("LoginRequired", `${issuer} does not say that it supports PKCE with S256`, {
    hint: 'If it does all the same, set "auth": {"pkce": "assume"} in the server\'s entry',
  });
}

/** 256 bits. */
function randomText(): string {
  return randomBytes(32).toString("base64url");
}

/** For a person's browser: checked once more as a whole. */
function addressOf({ issuer, metadata }: Discovery, query: URLSearchParams): string {
  const endpoint = metadata.authorization_endpoint;
  if (endpoint === undefined) throw new HubError("ProtocolError", `${issuer} has no authorization endpoint`);
  const url = parseSafeUrl(endpoint, "authorization_endpoint");
  for (const [name, value] of query) url.searchParams.set(name, value);
  return parseSafeUrl(url.href, "authorization_endpoint").href;
}

/** The authorization server refused a login. */
export class AuthorizationRefused extends HubError {
  /** As that of a token endpoint: callers decide by it, never by the text. */
  readonly failure: { readonly type: "refused"; readonly code: string };

  constructor(code: string, detail: string) {
    super("LoginFailed", REFUSALS.get(code) ?? "The authorization server refused the login", { detail });
    this.failure = { type: "refused", code };
  }
}

/** RFC 6749, section 4.1.2.1; OpenID Connect Core, section 3.1.2.6; RFC 8707. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "The login was declined"],
  ["login_required", "The authorization server wants the person to log in there first"],
  ["consent_required", "The authorization server wants the person's consent"],
  ["interaction_required", "The authorization server wants the person to do something there first"],
  ["account_selection_required", "The authorization server wants the person to choose an account"],
  ["invalid_scope", "The authorization server does not grant the requested scopes"],
  ["invalid_target", "The authorization server does not know the server"],
  ["unauthorized_client", "The authorization server does not let this client log in"],
  ["unsupported_response_type", "The authorization server does not support logins by code"],
  ["invalid_request", "The authorization server does not accept the request"],
  ["server_error", "The authorization server failed"],
  ["temporarily_unavailable", "The authorization server is not available at the moment"],
]);

/** The code of a callback. Makes no request. Throws LoginFailed, as AuthorizationRefused if the authorization server refused. */
export function checkCallback(
  callback: URL,
  request: Pick<AuthorizationRequest, "state" | "issuer">,
  { metadata }: Pick<Discovery, "metadata">,
): { readonly code: string } {
  const { searchParams } = callback;
  const names = ["state", "iss", "code", "error"];
  if (names.some((name) => searchParams.getAll(name).length > 1)) throw notOurs("It has a parameter twice");
  if (!isEqual(searchParams.get("state") ?? "", request.state)) throw notOurs("It belongs to another login");
  checkIssuer(searchParams.get("iss") ?? undefined, request.issuer, metadata);
  const error = searchParams.get("error");
  if (error !== null) {
    const texts = [shownText(error, { max: 64 }) ?? "(empty)", shownText(searchParams.get("error_description"))];
    throw new AuthorizationRefused(error, texts.filter(Boolean).join(": "));
  }
  const code = searchParams.get("code") ?? "";
  if (code === "") throw notOurs("It has no code");
  return { code };
}

/** RFC 9207: another authorization server could send us the code of a login that was started at it. */
function checkIssuer(iss: string | undefined, issuer: string, metadata: Discovery["metadata"]): void {
  if (iss === undefined && metadata.authorization_response_iss_parameter_supported === true) {
    throw notOurs("It does not say which authorization server it is from");
  }
  // Nothing else of it is shown: it is not from whom we asked.
  if (iss !== undefined && iss !== issuer) throw notOurs("It is from another authorization server");
}

function notOurs(detail: string): HubError {
  return new HubError("LoginFailed", "The answer does not belong to the login", { detail });
}

/** Constant-time comparison. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
