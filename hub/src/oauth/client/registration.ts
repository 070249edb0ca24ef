// The hub's client identity at an authorization server: a configured client id, a client metadata document, or a registration.

import { HubError } from "../../errors.ts";
import { defaultMethod } from "./client-auth.ts";
import { register, withAddress, type RegisterOptions } from "./register.ts";
import { parseSafeUrl } from "../fetch/safe-url.ts";
import type { ClientAuthMethod, ClientKey, Discovery, GuardedFetch, OAuthClient } from "../types.ts";

export interface ConfiguredClient {
  readonly id: string;
  readonly secret?: string | undefined;
  readonly method?: ClientAuthMethod | undefined;
  readonly key?: ClientKey | undefined;
}

export interface ObtainClientOptions extends RegisterOptions {
  readonly discovery: Discovery;
  readonly configured?: ConfiguredClient | undefined;
  /** An https address with the hub's client metadata document, which is its client id. */
  readonly clientMetadataUrl?: string | undefined;
  /** The client of an earlier login, used again if it is still good. */
  readonly known?: OAuthClient | undefined;
}

/** A secret is replaced this long before it expires. */
const RENEW_SECRET_MS = 7 * 86_400_000;

/**
 * Configured, else by metadata document, else registered. Rejects with ClientIdRequired if none of them is possible. The redirect
 * URI of the login is `client.redirectUri` if there is one.
 */
export async function obtainClient(options: ObtainClientOptions): Promise<OAuthClient> {
  const { discovery, configured, known } = options;
  if (configured !== undefined) return configuredClient(configured, discovery, known);
  const documented = documentedClient(options);
  if (documented !== undefined) return documented;
  if (known !== undefined && isStillGood(known, options)) return known;
  const endpoint = discovery.metadata.registration_endpoint;
  if (endpoint === undefined) throw clientIdRequired(options, "It offers no registration");
  const registration = await register(endpoint, options);
  if (registration.type === "registered") return registration.client;
  throw clientIdRequired(options, registration.reason);
}

function configuredClient(
  { id, secret, method, key }: ConfiguredClient,
  { issuer, metadata }: Discovery,
  known: OAuthClient | undefined,
): OAuthClient {
  if (known?.how === "configured" && known.id === id && known.issuer !== issuer) {
    throw new HubError("LoginFailed", "The server has changed its authorization server", {
      detail: `The client id was used at ${known.issuer}, and is not sent to ${issuer}`,
      hint: 'If that is right, set "issuer" in "auth" of the server\'s entry, with a client id of that issuer',
    });
  }
  return {
    id,
    how: "configured",
    issuer,
    method: method ?? defaultMethod(metadata, { secret, key }),
    ...(secret === undefined ? {} : { secret }),
    ...(key === undefined ? {} : { key }),
  };
}

function documentedClient({ discovery, clientMetadataUrl }: ObtainClientOptions): OAuthClient | undefined {
  const { issuer, metadata } = discovery;
  if (clientMetadataUrl === undefined || metadata["client_id_metadata_document_supported"] !== true) return undefined;
  const { protocol } = parseSafeUrl(clientMetadataUrl, "client_metadata_url");
  if (protocol !== "https:") return undefined;
  return { id: clientMetadataUrl, how: "metadata_document", issuer, method: "none" };
}

function isStillGood(known: OAuthClient, { discovery, redirectUri }: ObtainClientOptions): boolean {
  const { how, issuer, secretExpiresAt = Infinity } = known;
  if (how !== "registered" || issuer !== discovery.issuer) return false;
  if (secretExpiresAt - RENEW_SECRET_MS < Date.now()) return false;
  return known.redirectUri === redirectUri || known.redirectUri === withAddress(redirectUri);
}

function clientIdRequired({ discovery, redirectUri }: ObtainClientOptions, reason: string): HubError {
  return new HubError("ClientIdRequired", `${discovery.issuer} does not register the hub by itself`, {
    detail: reason,
    hint: `Register an application there with the redirect URI ${redirectUri}, then: plugboard auth SERVER --client-id ID [--client-secret-stdin]`,
  });
}

/** Deletes a registration (RFC 7592), if the authorization server offers that. */
export async function deleteRegistration({
  client,
  fetch,
  signal,
}: {
  readonly client: OAuthClient;
  readonly fetch: GuardedFetch;
  readonly signal?: AbortSignal | undefined;
}): Promise<void> {
  const { management } = client;
  if (management === undefined) return;
  const headers = { authorization: `Bearer ${management.token}` };
  const { status } = await fetch(management.uri, { method: "DELETE", headers, signal });
  // These mean that it was deleted already.
  if ((status >= 200 && status < 300) || status === 401 || status === 404) return;
  throw new HubError("ConnectionFailed", `The registration at ${client.issuer} was not deleted`, {
    detail: `HTTP status ${status}`,
  });
}
