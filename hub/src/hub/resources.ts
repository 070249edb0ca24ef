// What tokens can be issued for, by the paths of the edges.

import { decodeUri } from "@plugboard/shared/lenient";
import { BASE_PATH } from "../api/server/base-path.ts";
import type { Resource, ResourceAddresses } from "../auth/resource.ts";
import { DEFAULT_GROUP } from "../catalog/membership.ts";
import { isAdminPath, targetOf, type Target } from "../http/mcp-paths.ts";

const ADMIN_ENDPOINT: Resource = {
  name: "admin",
  path: "/mcp/@admin",
  scope: "hub:admin",
  title: "Plugboard: management",
};
const API: Resource = { name: "api", path: BASE_PATH, scope: "hub:operate", title: "Plugboard: management API" };

/** What a request is for. Whatever is no MCP endpoint belongs to the management. */
function resourceFor(url = ""): Resource {
  if (isAdminPath(url)) return ADMIN_ENDPOINT;
  const target = targetOf(url);
  return target === undefined ? API : groupResource(target, url.split("?", 1)[0] ?? "");
}

/** The resource of which this is an address: one that clients are given. */
function resourceAt(path: string): Resource | undefined {
  if (path.endsWith("/") || path.includes("?")) return undefined;
  if (path === API.path) return API;
  const resource = resourceFor(path);
  return resource.path === path || isAdminPath(path) ? resource : undefined;
}

function groupResource({ route, group }: Target, path: string): Resource {
  const name = group === undefined ? DEFAULT_GROUP : decodeUri(group);
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  // Messages of HTTP+SSE belong to a stream, which has the address.
  const own = route === "messages" ? trimmed.replace("/messages", "/sse") : trimmed;
  return { name: `group ${name}`, path: own, scope: "mcp", title: `Plugboard: ${name}` };
}

/** `base`: set when the hub listens. */
export function resourceAddresses(base = ""): ResourceAddresses {
  return { base, at: resourceAt, for: resourceFor };
}
