// Dynamic client registration (RFC 7591).

import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { isSafeUrl } from "../fetch/safe-url.ts";
import { readAnswer, type ServerAnswer } from "../server-answer.ts";
import type { AuthorizationServerMetadata, ClientAuthMethod, Discovery, GuardedFetch, OAuthClient } from "../types.ts";

export interface RegisterOptions {
  readonly discovery: Pick<Discovery, "issuer" | "metadata">;
  readonly redirectUri: string;
  readonly scope?: string | undefined;
  readonly softwareVersion?: string | undefined;
  readonly fetch: GuardedFetch;
  readonly signal?: AbortSignal | undefined;
}

/** In the order of preference: a secret that any program on this machine can ask for protects nothing. */
const METHODS = ["none", "client_secret_basic", "client_secret_post"] as const satisfies readonly ClientAuthMethod[];

export type Registration =
  | { readonly type: "registered"; readonly client: OAuthClient }
  /** The authorization server registers no one, or not us. */
  | { readonly type: "refused"; readonly reason: string };

/** `client.redirectUri` may have another name for this machine than `redirectUri`: some servers accept only an address. */
export async function register(endpoint: string, options: RegisterOptions): Promise<Registration> {
  const answer = await send(endpoint, options);
  const again = answer.type === "refused" ? withoutProblem(answer.code, options) : undefined;
  return again === undefined
    ? outcome(endpoint, answer, options)
    : outcome(endpoint, await send(endpoint, again), again);
}

/** What to try after a refusal, if anything. */
function withoutProblem(code: string, options: RegisterOptions): RegisterOptions | undefined {
  const byAddress = withAddress(options.redirectUri);
  if (code === "invalid_redirect_uri" && byAddress !== undefined) return { ...options, redirectUri: byAddress };
  // Scopes of a server are not always known to its authorization server before they are asked for.
  if (code === "invalid_client_metadata" && options.scope !== undefined) return { ...options, scope: undefined };
  return undefined;
}

/** The redirect URI of a name for this machine, with its address. */
export function withAddress(redirectUri: string): string | undefined {
  const url = new URL(redirectUri);
  if (url.hostname !== "localhost") return undefined;
  url.hostname = "127.0.0.1";
  return url.href;
}

async function send(endpoint: string, options: RegisterOptions): Promise<ServerAnswer> {
  const { fetch, signal, discovery, redirectUri, scope, softwareVersion } = options;
  const metadata = {
    client_name: "Plugboard",
    redirect_uris: [redirectUri],
    application_type: redirectUri.startsWith("https:") ? "web" : "native",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: wantedMethod(discovery.metadata),
    software_id: "plugboard",
    scope,
    software_version: softwareVersion,
  };
  const headers = { "content-type": "application/json", accept: "application/json" };
  const body = JSON.stringify(metadata);
  return readAnswer(await fetch(endpoint, { method: "POST", headers, body, signal }));
}

/** An authorization server that lists nothing supports Basic (RFC 8414). */
function wantedMethod({
  token_endpoint_auth_methods_supported: listed,
}: AuthorizationServerMetadata): ClientAuthMethod {
  return METHODS.find((method) => listed?.includes(method) === true) ?? "client_secret_basic";
}

function outcome(endpoint: string, answer: ServerAnswer, options: RegisterOptions): Registration {
  switch (answer.type) {
    case "refused":
      return { type: "refused", reason: [answer.code, answer.description].filter(Boolean).join(": ") };
    case "failed":
      // It does not register us, for any reason. 408 and 429 are temporary.
      if (answer.status >= 400 && answer.status < 500 && answer.status !== 408 && answer.status !== 429) {
        return { type: "refused", reason: `HTTP status ${answer.status}` };
      }
      throw failed(endpoint, `HTTP status ${answer.status}, without a usable answer`, answer.retryAfterMs);
    case "ok":
      return { type: "registered", client: toClient(endpoint, answer.body, options) };
  }
}

/** Only the id is required: servers leave out what the standard asks for. */
function toClient(endpoint: string, body: JsonObject, { discovery, redirectUri }: RegisterOptions): OAuthClient {
  const id = textIn(body, "client_id");
  if (id === undefined) throw failed(endpoint, "The answer has no client_id");
  const secret = textIn(body, "client_secret");
  const expires = Number(body["client_secret_expires_at"] ?? 0);
  const uri = textIn(body, "registration_client_uri");
  const token = textIn(body, "registration_access_token");
  return {
    id,
    how: "registered",
    issuer: discovery.issuer,
    method: methodIn(body, secret, discovery.metadata),
    redirectUri,
    ...(secret === undefined ? {} : { secret }),
    // Zero: never.
    ...(expires > 0 ? { secretExpiresAt: expires * 1000 } : {}),
    ...(uri !== undefined && token !== undefined && isSafeUrl(uri) ? { management: { uri, token } } : {}),
  };
}

/** The method in the registration, if it is possible. */
function methodIn(
  body: JsonObject,
  secret: string | undefined,
  metadata: AuthorizationServerMetadata,
): ClientAuthMethod {
  const said = METHODS.find((method) => method === body["token_endpoint_auth_method"]);
  if (secret === undefined) return "none";
  if (said !== undefined) return said;
  const wanted = wantedMethod(metadata);
  return wanted === "none" ? "client_secret_basic" : wanted;
}

function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function failed(endpoint: string, detail: string, retryAfterMs?: number): HubError {
  const { origin } = new URL(endpoint);
  return new HubError("ConnectionFailed", `The registration at ${origin} failed`, {
    detail,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
