// Reads everything that a server offers: all pages of all four lists. An entry that clients could not read is repaired or left
// out, with a warning. A list that fails is empty, except for the tools: without them the start fails.

import { ListingReport } from "../../catalog/listing-report.ts";
import type { Listed, Listing } from "../../catalog/listing.ts";
import { KEYS, repairEntry, type EntryKind } from "../../catalog/repair.ts";
import { HubError } from "../../errors.ts";
import { findFlags } from "../../catalog/tool-flags.ts";
import { findHidden } from "../../lib/hidden-text.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { RPC, rpcErrorIn, type Reply } from "../../protocol/rpc/jsonrpc.ts";

type Send = (method: string, params: JsonObject) => Promise<Reply>;

interface ListKind {
  readonly kind: EntryKind;
  readonly method: string;
  readonly capability: string;
  /** The member of the result that holds the entries. */
  readonly entries: string;
}

const KINDS = {
  tools: { kind: "tools", method: "tools/list", capability: "tools", entries: "tools" },
  prompts: { kind: "prompts", method: "prompts/list", capability: "prompts", entries: "prompts" },
  resources: { kind: "resources", method: "resources/list", capability: "resources", entries: "resources" },
  templates: {
    kind: "templates",
    method: "resources/templates/list",
    capability: "resources",
    entries: "resourceTemplates",
  },
} as const satisfies Record<EntryKind, ListKind>;

const MAX_PAGES = 1000;
const MAX_ENTRIES = 100_000;
/** Characters that one warning names. */
const MAX_HIDDEN = 5;

/** Everything that the server's capabilities promise. */
export async function fetchListing(send: Send, capabilities: JsonObject): Promise<Listed> {
  const fetching: Fetching = { send, capabilities, report: new ListingReport(), failed: [] };
  const [tools, prompts, resources, templates] = await Promise.all([
    fetchList(fetching, KINDS.tools),
    fetchOptional(fetching, KINDS.prompts),
    fetchOptional(fetching, KINDS.resources),
    fetchOptional(fetching, KINDS.templates),
  ]);
  const { report, failed } = fetching;
  const listing = { tools, prompts, resources, templates };
  return { listing, warnings: report.warnings, isPartial: failed.length > 0 };
}

/** Only the tools, even if the server does not announce them: some servers have tools anyway. */
export async function fetchTools(send: Send): Promise<Listed> {
  const fetching: Fetching = { send, capabilities: { tools: {} }, report: new ListingReport(), failed: [] };
  const tools = await fetchList(fetching, KINDS.tools).catch((thrown: unknown) => {
    if (thrown instanceof UnknownMethod) return [];
    throw thrown;
  });
  const listing = { tools, prompts: [], resources: [], templates: [] };
  return { listing, warnings: fetching.report.warnings, isPartial: false };
}

/** For a cached listing, which an earlier version of the hub may have written. */
export function repairListing(listing: Listing): Listing {
  const report = new ListingReport();
  const repaired = (kind: EntryKind) => listing[kind].flatMap((entry, index) => usable(kind, entry, index, report));
  const [tools, prompts] = [repaired("tools"), repaired("prompts")];
  const [resources, templates] = [repaired("resources"), repaired("templates")];
  return { tools, prompts, resources, templates };
}

interface Fetching {
  readonly send: Send;
  readonly capabilities: JsonObject;
  readonly report: ListingReport;
  /** The lists that could not be read. */
  readonly failed: string[];
}

/** Some servers announce resources and then answer with an error; they still have tools. */
async function fetchOptional(fetching: Fetching, kind: ListKind): Promise<JsonObject[]> {
  try {
    return await fetchList(fetching, kind);
  } catch (error) {
    if (!(error instanceof HubError) || error.kind !== "ProtocolError") throw error;
    if (!(error instanceof UnknownMethod)) {
      fetching.failed.push(kind.method);
      fetching.report.add(`${kind.method} fails, so none are listed: ${error.detail ?? error.message}`);
    }
    return [];
  }
}

/** Not worth a warning: many servers announce resources and do not implement templates. */
class UnknownMethod extends HubError {}

async function fetchList({ send, capabilities, report }: Fetching, list: ListKind): Promise<JsonObject[]> {
  if (!isObject(capabilities[list.capability])) return [];
  const found: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    if (page >= MAX_PAGES || found.length >= MAX_ENTRIES) {
      report.add(`${list.method} has more than ${found.length} entries on ${page} pages; the rest is not listed`);
      break;
    }
    const reply = await send(list.method, cursor === undefined ? {} : { cursor });
    if (!reply.ok) throw listError(list.method, reply.error.value);
    const result = isObject(reply.result.value) ? reply.result.value : {};
    const entries = result[list.entries];
    if (!Array.isArray(entries)) report.add(`${list.method} was answered without a list of ${list.entries}`);
    for (const [index, entry] of (Array.isArray(entries) ? entries : []).entries()) {
      found.push(...usable(list.kind, entry, index, report));
    }
    // Cursors are opaque, and an empty one is valid. A repeated one would loop for ever.
    const { nextCursor } = result;
    if (typeof nextCursor !== "string" || seen.has(nextCursor)) break;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return found;
}

function listError(method: string, error: unknown): HubError {
  const { code, message } = isObject(error) ? error : {};
  const detail = typeof message === "string" ? message : "";
  const summary = `The server answered ${method} with an error`;
  const rpcError = rpcErrorIn(error);
  const details = { detail, ...(rpcError === undefined ? {} : { rpcError }) };
  if (code === RPC.methodNotFound) return new UnknownMethod("ProtocolError", summary, details);
  return new HubError("ProtocolError", summary, details);
}

function usable(kind: EntryKind, entry: unknown, index: number, report: ListingReport): JsonObject[] {
  const repaired = repairEntry(kind, entry);
  const id = isObject(entry) ? entry[KEYS[kind]] : undefined;
  const name = typeof id === "string" && id !== "" ? id : `#${index + 1}`;
  if (repaired.entry === undefined) {
    report.omitted(kind, name, repaired.reason);
    return [];
  }
  for (const fault of repaired.faults) report.repaired(kind, name, fault);
  for (const flag of kind === "tools" ? findFlags(repaired.entry) : hiddenText(repaired.entry)) {
    report.noted(kind, name, flag);
  }
  return [repaired.entry];
}

/** Of prompts and resources, which people choose: invisible text only. */
function hiddenText({ name, title, description, arguments: args, annotations }: JsonObject): string[] {
  const parts = [name, title, description].filter((part) => typeof part === "string");
  const hidden = findHidden([...parts, JSON.stringify([args, annotations])].join("\n"));
  return hidden.length === 0 ? [] : [`has invisible text: ${hidden.slice(0, MAX_HIDDEN).join(" ")}`];
}
