// The URIs under which resources are offered: the server's own, unless another server of the group has it already. Which
// server a URI leads to is left to resource-table.ts.
import type { JsonObject } from "./listing.ts";
import { UriTemplate } from "./uri-template.ts";

const SCHEME = "plugboard://";

export interface OwnedUri {
  readonly server: string;
  /** As the server knows it. */
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

/** One URI (or template) for each claim, in order: the first server that claims it keeps it. */
export function exposeUris(claims: readonly OwnedUri[]): string[] {
  const owners = new Map<string, string>();
  return claims.map((claim) => {
    // A server's own `plugboard://git/…` would otherwise stand in for the server git.
    if (claim.uri.startsWith(SCHEME)) return toOwnedUri(claim);
    const owner = owners.get(claim.uri);
    if (owner === undefined) owners.set(claim.uri, claim.server);
    return owner === undefined || owner === claim.server ? claim.uri : toOwnedUri(claim);
  });
}

/** The exposed form of a URI that a server speaks of, by the group's `rewrittenUris(server)`. */
export function exposedUri(uri: string, mapping: ReadonlyMap<string, string>): string {
  const exposed = mapping.get(uri);
  if (exposed !== undefined) return exposed;
  for (const [own, rewritten] of mapping) {
    // The exposed form of a template is a prefix and the template, so a URI made from it gets the same prefix.
    if (own.includes("{") && new UriTemplate(own).matches(uri)) return rewritten.slice(0, -own.length) + uri;
  }
  return uri;
}

/** The URI of an MCP App's page, from a tool's definition. */
export function uiResourceUri({ _meta: meta }: JsonObject): string | undefined {
  if (!isObject(meta)) return undefined;
  const uri = isObject(meta["ui"]) ? meta["ui"]["resourceUri"] : undefined;
  if (typeof uri === "string") return uri;
  const older = meta["ui/resourceUri"];
  return typeof older === "string" ? older : undefined;
}

/** A tool's definition with the URI of its page rewritten, in the current and in the older place. */
export function rewriteUiResource(definition: JsonObject, mapping: ReadonlyMap<string, string>): JsonObject {
  const uri = uiResourceUri(definition);
  if (mapping.size === 0 || uri === undefined || !isObject(definition["_meta"])) return definition;
  const meta = { ...definition["_meta"] };
  if (isObject(meta["ui"])) meta["ui"] = rewriteField(meta["ui"], "resourceUri", mapping);
  return { ...definition, _meta: rewriteField(meta, "ui/resourceUri", mapping) };
}

/**
 * A result with the URIs of its resource links and embedded resources rewritten: of `tools/call` (`content`),
 * `resources/read` (`contents`) and `prompts/get` (`messages`). Everything else stays as it is.
 */
export function rewriteUris(result: JsonObject, mapping: ReadonlyMap<string, string>): JsonObject {
  if (mapping.size === 0) return result;
  const block = (value: unknown): unknown => rewriteBlock(value, mapping);
  const rewritten: Record<string, unknown> = { ...result };
  if (Array.isArray(result["content"])) rewritten["content"] = result["content"].map(block);
  if (Array.isArray(result["contents"])) {
    rewritten["contents"] = result["contents"].map((item: unknown) =>
      isObject(item) ? rewriteField(item, "uri", mapping) : item,
    );
  }
  if (Array.isArray(result["messages"])) {
    rewritten["messages"] = result["messages"].map((message: unknown) => {
      if (!isObject(message)) return message;
      const content = message["content"];
      return { ...message, content: Array.isArray(content) ? content.map(block) : block(content) };
    });
  }
  return rewritten;
}

function rewriteBlock(block: unknown, mapping: ReadonlyMap<string, string>): unknown {
  if (!isObject(block)) return block;
  if (block["type"] === "resource_link") return rewriteField(block, "uri", mapping);
  if (block["type"] === "resource" && isObject(block["resource"])) {
    return { ...block, resource: rewriteField(block["resource"], "uri", mapping) };
  }
  return block;
}

function rewriteField(object: JsonObject, key: string, mapping: ReadonlyMap<string, string>): JsonObject {
  const uri = object[key];
  return typeof uri === "string" ? { ...object, [key]: exposedUri(uri, mapping) } : object;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
