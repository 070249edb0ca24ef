// The metadata of a protected server (RFC 9728): which authorization servers it trusts, and what it is called there.

import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { readDocument, textsIn, unreadable, type DocumentFetch } from "./metadata-document.ts";
import { shownText } from "../text.ts";
import type { Challenge } from "../types.ts";

export interface ResourceMetadata {
  /** Verbatim. */
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopes: readonly string[] | undefined;
  readonly dpopRequired: boolean;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** Undefined: the server has none, at any place. */
export async function findResourceMetadata(
  server: URL,
  challenge: Challenge | undefined,
  request: DocumentFetch,
): Promise<ResourceMetadata | undefined> {
  const named = challenge?.resourceMetadata;
  if (named !== undefined) {
    const document = await readDocument(absolute(named), request);
    // The server has announced it. Continuing without it would be a downgrade.
    if (document === undefined) throw unreadable(named, "There is no document, although the server names it");
    return check(document, server);
  }
  for (const place of placesOf(server)) {
    const document = await readDocument(place, request);
    if (document !== undefined) return check(document, server);
  }
  return undefined;
}

function placesOf({ origin, pathname, search }: URL): string[] {
  const root = origin + WELL_KNOWN;
  return pathname === "/" && search === "" ? [root] : [root + (pathname === "/" ? "" : pathname) + search, root];
}

function absolute(text: string): string {
  if (URL.canParse(text)) return text;
  throw new HubError("ProtocolError", "The server names its metadata by something that is not an address", {
    detail: shownText(text) ?? "(empty)",
  });
}

function check(document: JsonObject, server: URL): ResourceMetadata {
  const { resource } = document;
  if (typeof resource !== "string" || !isFor(resource, server)) {
    const detail = `${shownText(resource) ?? "(none)"}, for ${server.origin}${server.pathname}`;
    throw new HubError("ProtocolError", "The server's metadata is about another resource", { detail });
  }
  return {
    resource,
    issuers: textsIn(document, "authorization_servers") ?? [],
    scopes: textsIn(document, "scopes_supported"),
    dpopRequired: document["dpop_bound_access_tokens_required"] === true,
  };
}

/** Whether it is the server's address, or one above it: of the same origin, with whole segments of its path. */
function isFor(resource: string, server: URL): boolean {
  const url = URL.canParse(resource) ? new URL(resource) : undefined;
  if (url?.origin !== server.origin || resource.includes("#") || url.username !== "" || url.password !== "") {
    return false;
  }
  if (url.search !== "" && url.search !== server.search) return false;
  const prefix = segmentsOf(url);
  const path = segmentsOf(server);
  return prefix.every((segment, index) => path[index] === segment);
}

function segmentsOf({ pathname }: URL): string[] {
  const segments = pathname.split("/").slice(1);
  // A slash at the end makes no difference.
  return segments.at(-1) === "" ? segments.slice(0, -1) : segments;
}
