// Normalizes an entry of a client's file from the spellings of all clients. translate.ts resolves the references in its texts;
// config/ validates the result.

import { isObject } from "../../lib/json/json.ts";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import type { ForeignTokens } from "../../config/parse/foreign-oauth.ts";
import { HubError } from "../../errors.ts";
import type { Client } from "../client.ts";
import { readLogin } from "./foreign-login.ts";
import { readMcpRemote, type McpRemote, type UnsupportedMcpRemote } from "./mcp-remote.ts";

export interface ForeignServer {
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the server inherits from the client's environment. */
  readonly inherited: readonly string[];
  /** Variables whose values only the client has. */
  readonly clientSecrets: readonly string[];
  readonly url?: string;
  /** In the hub's spelling, if the entry has a type. */
  readonly type?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose value comes from a variable. */
  readonly headerVariables: Readonly<Record<string, string>>;
  /** The variable with the bearer token. */
  readonly bearer?: string;
  readonly cwd?: string;
  readonly enabled: boolean;
  readonly startMs?: number;
  readonly requestMs?: number;
  readonly description?: string;
  /** The tools that the client uses; undefined: all. */
  readonly include?: readonly string[];
  readonly exclude: readonly string[];
  /** How the client logs in, in the hub's spelling but with the client's references. */
  readonly auth?: JsonObject | false;
  /** Tokens of the client's login, which was made with the client of `auth`. */
  readonly tokens?: ForeignTokens;
  /** Whether the texts are expanded by mcp-remote, which takes `${NAME}` from the server's env. */
  readonly isBridge: boolean;
  /** Members that the hub has no equivalent for. */
  readonly dropped: readonly string[];
  readonly notes: readonly string[];
}

const URL_KEYS = ["url", "serverUrl", "server_url", "httpUrl", "baseUrl", "uri"];
const ENV_KEYS = ["env", "envs", "environment"];
const HEADER_KEYS = ["headers", "http_headers"];
const INCLUDE_KEYS = ["includeTools", "enabled_tools", "tools", "available_tools"];
const EXCLUDE_KEYS = ["excludeTools", "disabled_tools", "disabledTools"];
const DROPPED_KEYS = ["envFile", "sandbox", "sandboxEnabled", "oauth_headers", "obo"];
/** Types of built-in extensions, which are no servers. */
const BUILT_IN = new Set(["builtin", "platform", "frontend", "inline_python"]);

const SECOND_MS = 1000;
const DESCRIPTION_MAX = 1024;

/** Undefined for built-in parts of the client. */
export function readForeign(entry: unknown, client: Client): ForeignServer | undefined {
  if (!isObject(entry)) throw new HubError("InvalidConfig", "A server must be an object");
  // Older versions of Zed have the program in a nested object.
  const nested = isObject(entry["command"]) ? entry["command"] : {};
  const words = wordsOf(entry, nested);
  const urlKey = URL_KEYS.find((key) => textOf(entry[key]) !== undefined);
  const type = typeOf(entry, urlKey, client);
  if (type !== undefined && BUILT_IN.has(type)) return undefined;
  const commandLine = withoutWindowsShell(words);
  const bridge = urlKey === undefined ? readMcpRemote(commandLine) : undefined;
  const [command, ...args] = commandLine;
  const description = textOf(entry["description"])
    ?.replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, DESCRIPTION_MAX);
  const include = firstList(entry, INCLUDE_KEYS);
  const bearer = textOf(entry["bearer_token_env_var"]);
  const cwd = textOf(entry["cwd"]);
  const login = readLogin(entry, client);
  const server: ForeignServer = {
    ...(command === undefined || command === "" ? {} : { command }),
    args,
    env: { ...recordOf(nested["env"]), ...firstRecord(entry, ENV_KEYS) },
    inherited: namesOf(entry["env_vars"]),
    clientSecrets: namesOf(entry["env_keys"]),
    ...(urlKey === undefined ? {} : { url: String(entry[urlKey]) }),
    ...(type === undefined ? {} : { type }),
    headers: {
      ...firstRecord(entry, HEADER_KEYS),
      ...(isObject(entry["requestOptions"]) ? recordOf(entry["requestOptions"]["headers"]) : {}),
    },
    headerVariables: recordOf(entry["env_http_headers"]),
    ...(bearer === undefined ? {} : { bearer }),
    ...(cwd === undefined ? {} : { cwd }),
    enabled: entry["disabled"] !== true && entry["enabled"] !== false,
    ...timeoutsOf(entry, client),
    ...(description ? { description } : {}),
    ...(include === undefined || include.includes("*") ? {} : { include }),
    exclude: firstList(entry, EXCLUDE_KEYS) ?? [],
    ...(login.auth === undefined ? {} : { auth: login.auth }),
    ...(login.tokens === undefined ? {} : { tokens: login.tokens }),
    isBridge: false,
    dropped: DROPPED_KEYS.filter((key) => Object.hasOwn(entry, key)),
    notes: login.notes,
  };
  return bridge === undefined ? server : withoutBridge(server, bridge);
}

/** The hub connects to the server itself, if it supports the options of the bridge. */
function withoutBridge(server: ForeignServer, bridge: McpRemote | UnsupportedMcpRemote): ForeignServer {
  if ("unsupported" in bridge) {
    const note = `mcp-remote stays between the hub and the server: the hub has no equivalent for ${bridge.unsupported}`;
    return { ...server, notes: [...server.notes, note] };
  }
  const { command: _command, cwd: _cwd, type: _type, ...rest } = server;
  const { auth, exclude, ...remote } = bridge;
  return {
    ...rest,
    ...remote,
    args: [],
    ...(auth === undefined ? {} : { auth }),
    exclude: [...server.exclude, ...exclude],
    isBridge: true,
    notes: [...server.notes, "the hub connects to the server itself, without mcp-remote"],
  };
}

/** Program and arguments: separate, in one list, or in an object. */
function wordsOf(entry: Record<string, unknown>, nested: Record<string, unknown>): string[] {
  const { command, cmd, args } = entry;
  if (Array.isArray(command)) return [...textsOf(command), ...textsOf(args)];
  const program = textOf(command) ?? textOf(cmd) ?? textOf(nested["path"]) ?? textOf(nested["command"]);
  return program === undefined ? [] : [program, ...textsOf(args ?? nested["args"])];
}

/** Removes `cmd /c`, which clients on Windows need for npx and the hub does not. */
function withoutWindowsShell(words: readonly string[]): readonly string[] {
  const [command = "", flag = "", ...rest] = words;
  const isShell = /^(?:.*[\\/])?cmd(?:\.exe)?$/i.test(command) && /^\/c$/i.test(flag);
  return isShell && rest.length > 0 ? rest : words;
}

function typeOf(entry: Record<string, unknown>, urlKey: string | undefined, client: Client): string | undefined {
  const declared = textOf(entry["type"]) ?? textOf(entry["transport"]);
  if (declared !== undefined) return declared.toLowerCase();
  if (urlKey === "httpUrl") return "http";
  // In Gemini, `url` without a type means SSE.
  return urlKey === "url" && client.shape === "gemini" ? "sse" : undefined;
}

function timeoutsOf(
  entry: Record<string, unknown>,
  { timeoutUnit }: Client,
): Pick<ForeignServer, "startMs" | "requestMs"> {
  const startMs =
    milliseconds(entry["startup_timeout_ms"], 1) ??
    milliseconds(entry["startup_timeout_sec"], SECOND_MS) ??
    milliseconds(entry["connectionTimeout"], 1);
  const requestMs =
    milliseconds(entry["tool_timeout_sec"], SECOND_MS) ??
    milliseconds(entry["timeout"], timeoutUnit === "s" ? SECOND_MS : 1);
  return { ...(startMs === undefined ? {} : { startMs }), ...(requestMs === undefined ? {} : { requestMs }) };
}

function milliseconds(value: unknown, unit: number): number | undefined {
  return typeof value === "number" && value > 0 ? Math.round(value * unit) : undefined;
}

function firstRecord(entry: Record<string, unknown>, keys: readonly string[]): Record<string, string> {
  return recordOf(keys.map((key) => entry[key]).find(isObject));
}

function firstList(entry: Record<string, unknown>, keys: readonly string[]): string[] | undefined {
  const list = keys.map((key) => entry[key]).find((value) => Array.isArray(value));
  return list === undefined ? undefined : textsOf(list);
}

function recordOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const text = scalarOf(member);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** Names of variables, as strings or as objects with `name`. */
function namesOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => textOf(isObject(item) ? item["name"] : item) ?? []);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((item) => scalarOf(item) ?? []) : [];
}

function scalarOf(value: unknown): string | undefined {
  return ["string", "number", "boolean", "bigint"].includes(typeof value) ? String(value) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
