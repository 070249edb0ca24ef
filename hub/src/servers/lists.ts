// Asks a server for everything it offers: all pages of all four lists. An entry that is not usable is left out and the
// rest is kept; a list that fails is empty, except for the tools, without which a server is of no use.

import type { Listing } from "../catalog/listing.ts";
import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import type { Reply } from "../wire/jsonrpc.ts";

type Ask = (method: string, params: JsonObject) => Promise<Reply>;

interface ListKind {
  readonly method: string;
  readonly capability: string;
  /** The member of the result that holds the entries, and the member that every entry must have. */
  readonly entries: string;
  readonly key: string;
}

const KINDS = {
  tools: { method: "tools/list", capability: "tools", entries: "tools", key: "name" },
  prompts: { method: "prompts/list", capability: "prompts", entries: "prompts", key: "name" },
  resources: { method: "resources/list", capability: "resources", entries: "resources", key: "uri" },
  templates: {
    method: "resources/templates/list",
    capability: "resources",
    entries: "resourceTemplates",
    key: "uriTemplate",
  },
} as const satisfies Record<keyof Listing, ListKind>;

const MAX_PAGES = 1000;
const MAX_ENTRIES = 100_000;
const MAX_TOOL_NAME = 128;

/** Everything that the server's capabilities promise. */
export async function fetchListing(ask: Ask, capabilities: JsonObject): Promise<Listing> {
  const [tools, prompts, resources, templates] = await Promise.all([
    fetchList(ask, KINDS.tools, capabilities),
    fetchList(ask, KINDS.prompts, capabilities).catch(emptyUnlessLost),
    fetchList(ask, KINDS.resources, capabilities).catch(emptyUnlessLost),
    fetchList(ask, KINDS.templates, capabilities).catch(emptyUnlessLost),
  ]);
  return { tools, prompts, resources, templates };
}

/** Servers that promise resources and then answer the question with an error exist; they still have tools. */
function emptyUnlessLost(error: unknown): JsonObject[] {
  if (error instanceof HubError && error.kind === "ProtocolError") return [];
  throw error;
}

async function fetchList(ask: Ask, kind: ListKind, capabilities: JsonObject): Promise<JsonObject[]> {
  if (!isObject(capabilities[kind.capability])) return [];
  const found: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && found.length < MAX_ENTRIES; page++) {
    const reply = await ask(kind.method, cursor === undefined ? {} : { cursor });
    if (!reply.ok) {
      const message = isObject(reply.error.value) ? String(reply.error.value["message"]) : "";
      throw new HubError("ProtocolError", `The server answered ${kind.method} with an error`, { detail: message });
    }
    const result = isObject(reply.result.value) ? reply.result.value : {};
    const entries = result[kind.entries];
    for (const entry of Array.isArray(entries) ? entries : []) {
      if (isUsable(entry, kind.key)) found.push(entry);
    }
    // Cursors are opaque, and an empty one is a cursor; one that comes again would go round for ever.
    const { nextCursor } = result;
    if (typeof nextCursor !== "string" || seen.has(nextCursor)) break;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return found;
}

function isUsable(entry: unknown, key: string): entry is JsonObject {
  if (!isObject(entry)) return false;
  const name = entry[key];
  return typeof name === "string" && name !== "" && (key !== "name" || name.length <= MAX_TOOL_NAME);
}
