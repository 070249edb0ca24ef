// Finds the authorization server of a server, and its metadata: by the rules of revision 2026-07-28, and by those of 2025-03-26
// if the server has no metadata. The revision of a server is not known when it answers 401.

import { HubError } from "../../errors.ts";
import { findIssuerMetadata, findMetadataOfOrigin } from "./issuer-metadata.ts";
import type { DocumentFetch } from "./metadata-document.ts";
import { findResourceMetadata, type ResourceMetadata } from "./resource-metadata.ts";
import { parseSafeUrl, toHttpUrl } from "../fetch/safe-url.ts";
import { shownText } from "../text.ts";
import type { AuthorizationServerMetadata, Challenge, Discovery } from "../types.ts";

export interface DiscoverOptions extends DocumentFetch {
  readonly server: URL;
  readonly challenge: Challenge | undefined;
  /** The only issuer that may be used. */
  readonly issuer?: string | undefined;
  /** For authorization servers without metadata. */
  readonly endpoints?: { readonly authorizationUrl: string; readonly tokenUrl: string } | undefined;
}

/** Maximum number of authorization servers; the rest is ignored. */
const MAX_ISSUERS = 5;

export async function discover(options: DiscoverOptions): Promise<Discovery> {
  const { server, challenge, endpoints } = options;
  const found = await findResourceMetadata(toHttpUrl(server), challenge, options);
  const issuers = usableIssuers(found, options.issuer);
  const { metadata, isFallback } =
    endpoints === undefined ? await metadataOf(issuers, options) : configured(issuers, endpoints);
  return {
    issuer: metadata.issuer,
    metadata,
    resource: found?.resource,
    resourceScopes: found?.scopes,
    dpopRequired: found?.dpopRequired === true || challenge?.scheme === "DPoP",
    isFallback,
  };
}

/** Undefined: the server names none. */
function usableIssuers(found: ResourceMetadata | undefined, pinned: string | undefined): readonly string[] | undefined {
  const named = found?.issuers ?? [];
  if (pinned === undefined) {
    if (found !== undefined && named.length === 0) {
      throw new HubError("ProtocolError", "The server's metadata names no authorization server");
    }
    return found && named.slice(0, MAX_ISSUERS);
  }
  if (named.length > 0 && !named.includes(pinned)) {
    throw new HubError("ProtocolError", `The server does not use the authorization server ${pinned}`, {
      detail: `It names ${named.map((issuer) => shownText(issuer, { max: 60 }) ?? "").join(", ")}`,
      hint: 'Change or remove "issuer" in "auth" of the server\'s entry',
    });
  }
  return [pinned];
}

interface FoundMetadata {
  readonly metadata: AuthorizationServerMetadata;
  readonly isFallback: boolean;
}

async function metadataOf(issuers: readonly string[] | undefined, options: DiscoverOptions): Promise<FoundMetadata> {
  if (issuers === undefined) return ofOrigin(options);
  for (const issuer of issuers) {
    const metadata = await findIssuerMetadata(issuer, options);
    if (metadata !== undefined) return { metadata, isFallback: false };
  }
  throw withoutMetadata(issuers[0]);
}

/** Revision 2025-03-26: the server's origin is the authorization server. */
async function ofOrigin(options: DiscoverOptions): Promise<FoundMetadata> {
  const { origin } = toHttpUrl(options.server);
  const metadata = await findMetadataOfOrigin(origin, options);
  if (metadata !== undefined) return { metadata, isFallback: false };
  const conventional: AuthorizationServerMetadata = {
    issuer: origin,
    authorization_endpoint: parseSafeUrl(`${origin}/authorize`, "The address /authorize").href,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  return { metadata: conventional, isFallback: true };
}

function configured(
  issuers: readonly string[] | undefined,
  { authorizationUrl, tokenUrl }: NonNullable<DiscoverOptions["endpoints"]>,
): FoundMetadata {
  const token = parseSafeUrl(tokenUrl, "token_url");
  const metadata: AuthorizationServerMetadata = {
    issuer: issuers?.[0] ?? token.origin,
    authorization_endpoint: parseSafeUrl(authorizationUrl, "authorization_url").href,
    token_endpoint: token.href,
  };
  return { metadata, isFallback: true };
}

export interface DiscoverIssuerOptions extends DocumentFetch {
  readonly issuer: string;
  /** For an issuer without metadata. */
  readonly tokenUrl?: string | undefined;
}

/** The metadata of an issuer that the config names, such as an enterprise's identity provider. */
export async function discoverIssuer(options: DiscoverIssuerOptions): Promise<Pick<Discovery, "issuer" | "metadata">> {
  const { issuer, tokenUrl } = options;
  if (tokenUrl !== undefined) {
    return { issuer, metadata: { issuer, token_endpoint: parseSafeUrl(tokenUrl, "token_url").href } };
  }
  const metadata = await findIssuerMetadata(issuer, options);
  if (metadata === undefined) throw withoutMetadata(issuer);
  return { issuer, metadata };
}

function withoutMetadata(issuer = ""): HubError {
  return new HubError("ProtocolError", `The authorization server ${shownText(issuer) ?? ""} has no metadata`, {
    hint: 'If it has none, set "authorization_url" and "token_url" in "auth" of the server\'s entry',
  });
}
