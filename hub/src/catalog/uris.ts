// The exposed URIs of resources: the server's own, unless an earlier server of the group has the same or it is not a valid URI, for
// which some clients reject a whole list. resource-table.ts resolves them.
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { UriTemplate } from "./uri-template.ts";

const SCHEME = "plugboard://";

export interface OwnedUri {
  readonly server: string;
  /** The server's URI. */
  readonly uri: string;
}

/** @example toOwnedUri({ server: "git", uri: "file:///a" }) // "plugboard://git/file:///a" */
function toOwnedUri({ server, uri }: OwnedUri): string {
  return `${SCHEME}${server}/${uri}`;
}

/** The reverse; undefined for any other URI. */
export function parseOwnedUri(exposed: string): OwnedUri | undefined {
  if (!exposed.startsWith(SCHEME)) return undefined;
  const slash = exposed.indexOf("/", SCHEME.length);
  if (slash === -1) return undefined;
  return { server: exposed.slice(SCHEME.length, slash), uri: exposed.slice(slash + 1) };
}

/** One URI (or template) for each claim, in order: the first server that claims a URI keeps it. */
export function exposeUris(claims: readonly OwnedUri[]): string[] {
  const owners = new Map<string, string>();
  return claims.map((claim) => {
    // Otherwise a server's own `plugboard://git/…` would shadow a resource of the server git.
    if (claim.uri.startsWith(SCHEME) || !isAbsolute(claim.uri)) return toOwnedUri(claim);
    const owner = owners.get(claim.uri);
    if (owner === undefined) owners.set(claim.uri, claim.server);
    return owner === undefined || owner === claim.server ? claim.uri : toOwnedUri(claim);
  });
}

/** Templates are not checked: clients treat them as text. */
function isAbsolute(uri: string): boolean {
  return uri.includes("{") || URL.canParse(uri);
}

/** The exposed form of a server's URI, by the group's `rewrittenUris(server)`. */
export function exposedUri(uri: string, mapping: ReadonlyMap<string, string>): string {
  const exposed = mapping.get(uri);
  if (exposed !== undefined) return exposed;
  for (const [own, rewritten] of mapping) {
    // The exposed form of a template is a prefix and the template, so its URIs get the same prefix.
    if (own.includes("{") && new UriTemplate(own).matches(uri)) return rewritten.slice(0, -own.length) + uri;
  }
  return uri;
}

/** The URI of an MCP App's page in a tool's definition. */
export function uiResourceUri({ _meta: meta }: JsonObject): string | undefined {
  if (!isObject(meta)) return undefined;
  const uri = isObject(meta["ui"]) ? meta["ui"]["resourceUri"] : undefined;
  if (typeof uri === "string") return uri;
  const older = meta["ui/resourceUri"];
  return typeof older === "string" ? older : undefined;
}

/** A tool's definition with the URI of its page rewritten, in the current and in the older member. */
export function rewriteUiResource(definition: JsonObject, mapping: ReadonlyMap<string, string>): JsonObject {
  const uri = uiResourceUri(definition);
  if (mapping.size === 0 || uri === undefined || !isObject(definition["_meta"])) return definition;
  const meta = { ...definition["_meta"] };
  if (isObject(meta["ui"])) meta["ui"] = rewriteField(meta["ui"], "resourceUri", mapping);
  return { ...definition, _meta: rewriteField(meta, "ui/resourceUri", mapping) };
}

function rewriteField(object: JsonObject, key: string, mapping: ReadonlyMap<string, string>): JsonObject {
  const uri = object[key];
  return typeof uri === "string" ? { ...object, [key]: exposedUri(uri, mapping) } : object;
}
