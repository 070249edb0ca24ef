// Reads a command line of mcp-remote, which connects clients without OAuth to remote servers. The hub connects itself.

import type { JsonObject } from "../../config/parse/plain-object.ts";
import { isObject } from "../../lib/json/json.ts";

export interface McpRemote {
  readonly url: string;
  readonly type?: "http" | "sse";
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: JsonObject;
  /** Patterns of tools. */
  readonly exclude: readonly string[];
}

/** A command line of mcp-remote with an option that the hub has no equivalent for. */
export interface UnsupportedMcpRemote {
  readonly unsupported: string;
}

/** Undefined for other programs. */
export function readMcpRemote(words: readonly string[]): McpRemote | UnsupportedMcpRemote | undefined {
  const args = argsOf(words);
  const [url = "", ...rest] = args ?? [];
  return args === undefined || !/^https?:\/\//i.test(url) ? undefined : readOptions(url, rest);
}

const PACKAGE = /^mcp-remote(?:@[\w.^~+-]+)?$/;
const PROGRAM = /(?:^|[\\/])mcp-remote(?:\.cmd|[\\/]dist[\\/]proxy\.js)?$/;
const LAUNCHER = /^(?:.*[\\/])?(?:npx|bunx|pnpx|npm|pnpm|yarn|bun|node)(?:\.cmd|\.exe)?$/i;
/** Words of a launcher before the package. */
const BEFORE = /^(?:-y|--yes|-q|--quiet|--silent|--prefer-offline|--|exec|x|dlx)$/;

/** The arguments of mcp-remote itself. */
function argsOf([command = "", ...args]: readonly string[]): readonly string[] | undefined {
  if (PROGRAM.test(command)) return args;
  if (!LAUNCHER.test(command)) return undefined;
  const at = args.findIndex((word) => !BEFORE.test(word));
  const name = args[at] ?? "";
  return PACKAGE.test(name) || PROGRAM.test(name) ? args.slice(at + 1) : undefined;
}

/** Options that do not matter to the hub, and whether they have a value. */
const IRRELEVANT: ReadonlyMap<string, boolean> = new Map([
  ["--allow-http", false],
  ["--auth-success-url", true],
  ["--auth-timeout", true],
  ["--body-timeout", true],
  ["--connect-timeout", true],
  ["--debug", false],
  ["--device-code", false],
  ["--disable-cookies", false],
  ["--enable-proxy", false],
  ["--headers-timeout", true],
  ["--ipv4", false],
  ["--keep-alive", false],
  ["--ping-interval", true],
  ["--protocol", true],
  ["--silent", false],
]);

interface Found {
  type?: "http" | "sse";
  readonly headers: Record<string, string>;
  readonly auth: JsonObject;
  readonly exclude: string[];
}

/** Applies an option with its value. False: the value has no equivalent. */
type Option = (value: string, found: Found) => boolean;

const WITH_VALUE: ReadonlyMap<string, Option> = new Map<string, Option>([
  ["--header", readHeader],
  ["--transport", readTransport],
  ["--host", readHost],
  ["--static-oauth-client-info", readClient],
  ["--static-oauth-client-metadata", readClientMetadata],
  ["--resource", setting("resource")],
  ["--client-metadata-url", setting("client_metadata_url")],
  ["--token-endpoint", setting("token_url")],
  ["--ignore-tool", (value, { exclude }) => exclude.push(value) > 0],
]);

/** The settings of `auth` for an option without a value. */
const SWITCHES: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["--disable-resource-parameter", { resource: false }],
  ["--client-credentials", { type: "client_credentials" }],
]);

function setting(name: string): Option {
  return (value, { auth }) => {
    auth[name] = value;
    return true;
  };
}

function readOptions(url: string, words: readonly string[]): McpRemote | UnsupportedMcpRemote {
  const found: Found = { headers: {}, auth: {}, exclude: [] };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const option = WITH_VALUE.get(word);
    const change = SWITCHES.get(word);
    if (at === 0 && /^\d{1,5}$/.test(word)) found.auth["redirect_port"] = Number(word);
    else if (change !== undefined) Object.assign(found.auth, change);
    else if (option !== undefined) {
      if (!option(words[++at] ?? "", found)) return { unsupported: word };
    } else if (IRRELEVANT.has(word)) at += IRRELEVANT.get(word) === true ? 1 : 0;
    else return { unsupported: word.startsWith("-") ? word : "an argument" };
  }
  const { auth, ...rest } = found;
  if (auth["client_id"] === undefined && auth["client_metadata_url"] === undefined) {
    // The hub registers its own redirect URI.
    delete auth["redirect_host"];
    delete auth["redirect_port"];
  }
  return { url, ...rest, ...(Object.keys(auth).length === 0 ? {} : { auth }) };
}

function readHeader(line: string, { headers }: Found): boolean {
  const colon = line.indexOf(":");
  if (colon <= 0) return false;
  headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  return true;
}

/** Without a strategy the hub finds out which transport the server has, as mcp-remote does. */
function readTransport(strategy: string, found: Found): boolean {
  if (strategy === "http-only") found.type = "http";
  else if (strategy === "sse-only" || strategy === "sse-first") found.type = "sse";
  else return strategy === "http-first";
  return true;
}

function readHost(host: string, { auth }: Found): boolean {
  if (host === "127.0.0.1") auth["redirect_host"] = host;
  return host === "127.0.0.1" || host === "localhost";
}

function readClient(json: string, { auth }: Found): boolean {
  const { client_id: id, client_secret: secret } = parsed(json) ?? {};
  if (typeof id !== "string") return false;
  auth["client_id"] = id;
  if (typeof secret === "string") auth["client_secret"] = secret;
  return true;
}

function readClientMetadata(json: string, { auth }: Found): boolean {
  const metadata = parsed(json);
  if (metadata === undefined) return false;
  const { scope, token_endpoint_auth_method: method } = metadata;
  if (typeof scope === "string") auth["scopes"] = scope.split(/\s+/).filter((word) => word !== "");
  if (typeof method === "string") auth["token_endpoint_auth_method"] = method;
  return true;
}

/** Undefined also for `@file`. */
function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // not JSON
  }
}
