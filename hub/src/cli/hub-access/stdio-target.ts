// The target of `plugboard stdio`: the endpoint in its options, the running hub, or none.

import type { EndpointAddress } from "../../bridge/endpoint.ts";
import type { Exposure } from "../../catalog/group.ts";
import { expandText } from "../../config/parse/expand.ts";
import { HubError } from "../../errors.ts";
import { readHubSettings } from "../../config/files/hub-settings.ts";
import { findLocalHub } from "./find-hub.ts";
import { hubFoldersOf } from "./run-file.ts";
import type { Io } from "../io.ts";
import { isLoopback } from "./loopback.ts";
import type { StdioOptions } from "../commands/stdio.ts";
import { trimEnd } from "@plugboard/shared/trim";
import { findRoute } from "../../protocol/connect/remote-route.ts";

export interface Target {
  /** A hub is asked whether the group exists; other servers are not. */
  readonly kind: "hub" | "server";
  readonly address: EndpointAddress;
  /** The current address. */
  locate(): Promise<EndpointAddress>;
}

/** Undefined if no hub is running: then this process becomes one. */
export async function findTarget(io: Io, options: StdioOptions): Promise<Target | undefined> {
  const { own = false, url, group, header = [] } = options;
  if (own && url !== undefined) throw usage("Use either --own or --url", "own");
  if (own) return undefined;
  const elsewhere = io.env["PLUGBOARD_URL"] || undefined;
  if (url !== undefined || elsewhere !== undefined) {
    const isHub = url === undefined || group !== undefined;
    if (!isHub && options.tools !== undefined) throw usage("--tools is for a hub: use --group too", "tools");
    const base = parseUrl(url ?? elsewhere ?? "");
    const direct = { url: isHub ? groupUrl(base, options) : base, headers: readHeaders(io, header) };
    requireSafe(direct);
    const address = { ...direct, ...(await findRoute(direct.url, {}, io.env)) };
    return { kind: isHub ? "hub" : "server", address, locate: () => Promise.resolve(address) };
  }
  if (header.length > 0) throw usage("--header needs --url", "header");
  const locate = async () => {
    const hub = await findLocalHub(io, options);
    if (hub === undefined) return undefined;
    const headers = await hubHeaders(hubFoldersOf(io, options).config, hub.token);
    return { url: groupUrl(new URL(hub.record.url), options), headers };
  };
  const address = await locate();
  if (address === undefined) return undefined;
  return { kind: "hub", address, locate: async () => (await locate()) ?? notRunning() };
}

/** For a hub of this machine, which has proven what it is: a user who can read its token needs no other. */
async function hubHeaders(config: string, token: string): Promise<Record<string, string>> {
  const { auth } = await readHubSettings(config);
  return auth?.mcp === "required" ? { authorization: `Bearer ${token}` } : {};
}

export function exposureOf({ tools }: StdioOptions): Exposure | undefined {
  if (tools === undefined || tools === "all" || tools === "search") return tools;
  throw new HubError("InvalidArgument", `--tools must be all or search, not "${tools}"`, { field: "tools" });
}

function groupUrl(base: URL, options: StdioOptions): URL {
  const { group } = options;
  const exposure = exposureOf(options);
  const path = `${trimEnd(base.pathname, "/")}/mcp`;
  const query = exposure === undefined ? "" : `?tools=${exposure}`;
  return new URL(`${path}${group === undefined ? "" : `/${encodeURIComponent(group)}`}${query}`, base);
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new HubError("InvalidArgument", `Invalid --url "${text}"`, {
    field: "url",
    hint: "Use https://… or http://…",
  });
}

function readHeaders(io: Io, given: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of given) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) throw usage("Invalid header: use 'Name: value'", "header");
    const filled = expandText(value, io.env, `header.${name}`).trim();
    if (!/^[\x20-\x7e\t]*$/.test(filled)) throw usage(`Invalid value of the header ${name}`, "header");
    headers[name.toLowerCase()] = filled;
  }
  return headers;
}

/** Without TLS a credential can be intercepted, except on this machine. */
function requireSafe({ url, headers }: EndpointAddress): void {
  if (url.protocol === "https:" || isLoopback(url) || Object.keys(headers).length === 0) return;
  throw usage("Refused to send headers over plain HTTP to another machine", "url", "Use https://…");
}

function usage(message: string, field: string, hint?: string): HubError {
  return new HubError("InvalidArgument", message, { field, ...(hint === undefined ? {} : { hint }) });
}

function notRunning(): never {
  throw new HubError("ConnectionFailed", "No hub is running", { hint: "plugboard start", delivery: "unsent" });
}
