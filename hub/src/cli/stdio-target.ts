// Where `plugboard stdio` carries its messages: to the endpoint that its options name, or to the hub that runs. Nowhere is an
// answer too.

import type { Place } from "../bridge/endpoint.ts";
import { expandText } from "../config/expand.ts";
import { HubError } from "../errors.ts";
import { findLocalHub } from "./find-hub.ts";
import type { Io } from "./io.ts";
import { isLoopback } from "./loopback.ts";
import type { StdioOptions } from "./stdio.ts";
import { trimEnd } from "../trim.ts";
import { findRoute } from "../wire/route.ts";

export interface Target {
  /** A hub is asked for the group before the client is; of any other server nothing is known. */
  readonly kind: "hub" | "server";
  readonly place: Place;
  /** Where it is now. */
  locate(): Promise<Place>;
}

/** Undefined where no hub is running: then this is to be one. */
export async function findTarget(io: Io, options: StdioOptions): Promise<Target | undefined> {
  const { own = false, url, group, header = [] } = options;
  if (own && url !== undefined) throw usage("--own and --url cannot both be given", "own");
  if (own) return undefined;
  const elsewhere = io.env["PLUGBOARD_URL"] || undefined;
  if (url !== undefined || elsewhere !== undefined) {
    const isHub = url === undefined || group !== undefined;
    const base = parseUrl(url ?? elsewhere ?? "");
    const direct = { url: isHub ? groupUrl(base, group) : base, headers: readHeaders(io, header) };
    requireSafe(direct);
    const place = { ...direct, ...(await findRoute(direct.url, {}, io.env)) };
    return { kind: isHub ? "hub" : "server", place, locate: () => Promise.resolve(place) };
  }
  if (header.length > 0) throw usage("--header goes with --url", "header");
  const locate = async () => {
    const hub = await findLocalHub(io, options);
    return hub === undefined ? undefined : { url: groupUrl(new URL(hub.record.url), group), headers: hubHeaders() };
  };
  const place = await locate();
  if (place === undefined) return undefined;
  return { kind: "hub", place, locate: async () => (await locate()) ?? notRunning() };
}

/** What a hub of this machine wants to see of its clients. Nothing yet: whoever can reach it may use it. */
function hubHeaders(): Record<string, string> {
  return {};
}

function groupUrl(base: URL, group: string | undefined): URL {
  const path = `${trimEnd(base.pathname, "/")}/mcp`;
  return new URL(group === undefined ? path : `${path}/${encodeURIComponent(group)}`, base);
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new HubError("InvalidConfig", `"${text}" is not the address of an MCP endpoint`, {
    field: "url",
    hint: "Use https://… or http://…",
  });
}

function readHeaders(io: Io, given: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of given) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) throw usage("A header is written as 'Name: value'", "header");
    const filled = expandText(value, io.env, `header.${name}`).trim();
    if (!/^[\x20-\x7e\t]*$/.test(filled)) throw usage(`The value of ${name} fits no header`, "header");
    headers[name.toLowerCase()] = filled;
  }
  return headers;
}

/** Without TLS a credential can be read on its way, except to this very machine. */
function requireSafe({ url, headers }: Place): void {
  if (url.protocol === "https:" || isLoopback(url) || Object.keys(headers).length === 0) return;
  throw usage("Headers are not sent over plain HTTP to another machine", "url", "Use https://…");
}

function usage(message: string, field: string, hint?: string): HubError {
  return new HubError("InvalidConfig", message, { field, ...(hint === undefined ? {} : { hint }) });
}

function notRunning(): never {
  throw new HubError("ConnectionFailed", "The hub is not running", { hint: "plugboard start", delivery: "unsent" });
}
