// The metadata of an authorization server (RFC 8414, OpenID Connect Discovery).

import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { readDocument, type DocumentFetch } from "./metadata-document.ts";
import { parseSafeUrl } from "../fetch/safe-url.ts";
import { shownText } from "../text.ts";
import type { AuthorizationServerMetadata } from "../types.ts";

const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";

/** All that the hub opens or requests. */
const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
  "pushed_authorization_request_endpoint",
  "device_authorization_endpoint",
  "jwks_uri",
  "userinfo_endpoint",
  "end_session_endpoint",
] as const satisfies readonly (keyof AuthorizationServerMetadata)[];

/** Undefined: it has none, at any place. */
export async function findIssuerMetadata(
  issuer: string,
  request: DocumentFetch,
): Promise<AuthorizationServerMetadata | undefined> {
  for (const place of placesOf(issuer)) {
    const document = await readDocument(place, request);
    // A document of someone else ends the search: at another place there may be one that was put there for it.
    if (document !== undefined) return check(document, (named) => named === issuer, issuer);
  }
  return undefined;
}

/** The metadata of a provider of OpenID Connect, which is at one place only. */
export async function findOpenIdMetadata(
  issuer: string,
  request: DocumentFetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const { href } = parseSafeUrl(issuer, "issuer");
  const document = await readDocument(`${href.replace(/\/$/, "")}${OPENID}`, request);
  return document && check(document, (named) => named === issuer, issuer);
}

/** Servers of revision 2025-03-26 have it at the root of their origin. The issuer is derived from that, so a trailing slash does not matter. */
export async function findMetadataOfOrigin(
  origin: string,
  request: DocumentFetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const document = await readDocument(origin + OAUTH, request);
  return document && check(document, (named) => named === origin || named === `${origin}/`, origin);
}

function placesOf(issuer: string): string[] {
  const { origin, pathname, search } = parseSafeUrl(issuer, "authorization_servers");
  if (search !== "") throw new HubError("ProtocolError", `An issuer cannot have a query: ${shownText(issuer) ?? ""}`);
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  if (path === "") return [origin + OAUTH, origin + OPENID];
  return [origin + OAUTH + path, origin + OPENID + path, origin + path + OPENID];
}

function check(
  document: JsonObject,
  isIssuer: (named: string) => boolean,
  expected: string,
): AuthorizationServerMetadata {
  const { issuer } = document;
  if (typeof issuer !== "string" || !isIssuer(issuer)) {
    throw new HubError("ProtocolError", "The authorization server's metadata is of another issuer", {
      detail: `${shownText(issuer) ?? "(none)"}, at ${shownText(expected) ?? ""}`,
    });
  }
  for (const name of ENDPOINTS) if (document[name] !== undefined) parseSafeUrl(document[name], name);
  return { ...document, issuer };
}
