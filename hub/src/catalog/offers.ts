// One server's listing by name or URI, without duplicates. Independent of groups and exposed names.
import type { Listing, Withheld, WithheldReason } from "./listing.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { uiResourceUri } from "./uris.ts";

/** A tool, prompt, resource or template of a server, by the server's own name or URI. */
export interface Offer {
  readonly own: string;
  readonly definition: JsonObject;
  /** It is not listed, and cannot be called. It keeps its name. */
  readonly withheld?: WithheldReason;
}

export interface Offers {
  readonly tools: readonly Offer[];
  readonly prompts: readonly Offer[];
  readonly resources: readonly Offer[];
  readonly templates: readonly Offer[];
  /** URIs of user interfaces in tool definitions that the server does not list: they can be read, so they have an owner too. */
  readonly uiUris: readonly string[];
  /** Number of dropped entries whose name or URI an earlier one has. */
  readonly repeats: number;
}

export const NO_OFFERS: Offers = { tools: [], prompts: [], resources: [], templates: [], uiUris: [], repeats: 0 };

export function readOffers(listing: Listing, withheld?: Withheld): Offers {
  const tools = withhold(distinct(listing.tools, "name"), withheld);
  const prompts = distinct(listing.prompts, "name");
  const resources = distinct(listing.resources, "uri");
  const templates = distinct(listing.templates, "uriTemplate");
  const offered = tools.length + prompts.length + resources.length + templates.length;
  const listed = listing.tools.length + listing.prompts.length + listing.resources.length + listing.templates.length;
  return { tools, prompts, resources, templates, uiUris: unlistedUiUris(tools, resources), repeats: listed - offered };
}

/** The first entry of a name is used: a later one must not replace what the user has seen and approved. */
function distinct(entries: readonly JsonObject[], key: string): Offer[] {
  const byKey = new Map<string, Offer>();
  for (const definition of entries) {
    const own = definition[key];
    if (typeof own === "string" && !byKey.has(own)) byKey.set(own, { own, definition });
  }
  return [...byKey.values()];
}

function withhold(tools: Offer[], withheld: Withheld | undefined): Offer[] {
  if (withheld === undefined || withheld.size === 0) return tools;
  return tools.map((tool) => {
    const reason = withheld.get(tool.own);
    return reason === undefined ? tool : { ...tool, withheld: reason };
  });
}

function unlistedUiUris(tools: readonly Offer[], resources: readonly Offer[]): string[] {
  const uris = new Set<string>();
  for (const { definition } of tools) {
    const uri = uiResourceUri(definition);
    if (uri !== undefined) uris.add(uri);
  }
  if (uris.size > 0) for (const { own } of resources) uris.delete(own);
  return [...uris];
}
