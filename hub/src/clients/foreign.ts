// An entry of a client's file in one form, whichever of the clients' many spellings it has. Its texts are still the
// client's: what they refer to is left to translate.ts, whether they may be so to config/.

import { isObject } from "../config/plain.ts";
import { HubError } from "../errors.ts";
import type { Client } from "./client.ts";

export interface ForeignServer {
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that it gets from the environment of the client. */
  readonly inherited: readonly string[];
  /** Variables whose values the client keeps to itself. */
  readonly kept: readonly string[];
  readonly url?: string;
  /** As the hub spells it; absent where the entry says nothing. */
  readonly type?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose value is that of a variable. */
  readonly headerVariables: Readonly<Record<string, string>>;
  /** The variable that has its bearer token. */
  readonly bearer?: string;
  readonly cwd?: string;
  readonly enabled: boolean;
  readonly startMs?: number;
  readonly requestMs?: number;
  readonly description?: string;
  /** The only tools that the client takes of it; undefined: all. */
  readonly include?: readonly string[];
  readonly exclude: readonly string[];
  /** Members that the hub has nothing like. */
  readonly dropped: readonly string[];
}

const URL_KEYS = ["url", "serverUrl", "server_url", "httpUrl", "baseUrl", "uri"];
const ENV_KEYS = ["env", "envs", "environment"];
const HEADER_KEYS = ["headers", "http_headers"];
const INCLUDE_KEYS = ["includeTools", "enabled_tools", "tools", "available_tools"];
const EXCLUDE_KEYS = ["excludeTools", "disabled_tools", "disabledTools"];
const DROPPED_KEYS = ["envFile", "sandbox", "sandboxEnabled", "oauth", "headersHelper"];
/** Parts of a client that are no servers. */
const BUILT_IN = new Set(["builtin", "platform", "frontend", "inline_python"]);

const SECOND_MS = 1000;
const DESCRIPTION_MAX = 1024;

/** Undefined for what is part of the client itself. */
export function readForeign(entry: unknown, client: Client): ForeignServer | undefined {
  if (!isObject(entry)) throw new HubError("InvalidConfig", "A server must be an object");
  // Zed has had the program in an object of its own, with or without the rest.
  const nested = isObject(entry["command"]) ? entry["command"] : {};
  const words = wordsOf(entry, nested);
  const urlKey = URL_KEYS.find((key) => textOf(entry[key]) !== undefined);
  const type = typeOf(entry, urlKey, client);
  if (type !== undefined && BUILT_IN.has(type)) return undefined;
  const [command, ...args] = unwrapped(words);
  const description = textOf(entry["description"])
    ?.replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, DESCRIPTION_MAX);
  const include = firstList(entry, INCLUDE_KEYS);
  const bearer = textOf(entry["bearer_token_env_var"]);
  const cwd = textOf(entry["cwd"]);
  return {
    ...(command === undefined || command === "" ? {} : { command }),
    args,
    env: { ...recordOf(nested["env"]), ...firstRecord(entry, ENV_KEYS) },
    inherited: namesOf(entry["env_vars"]),
    kept: namesOf(entry["env_keys"]),
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
    dropped: DROPPED_KEYS.filter((key) => Object.hasOwn(entry, key)),
  };
}

/** The program and its arguments: apart, in one list, or in an object. */
function wordsOf(entry: Record<string, unknown>, nested: Record<string, unknown>): string[] {
  const { command, cmd, args } = entry;
  if (Array.isArray(command)) return [...textsOf(command), ...textsOf(args)];
  const program = textOf(command) ?? textOf(cmd) ?? textOf(nested["path"]) ?? textOf(nested["command"]);
  return program === undefined ? [] : [program, ...textsOf(args ?? nested["args"])];
}

/** Windows starts npx by way of its shell; the hub knows how to start it itself. */
function unwrapped(words: readonly string[]): readonly string[] {
  const [command = "", flag = "", ...rest] = words;
  const isShell = /^(?:.*[\\/])?cmd(?:\.exe)?$/i.test(command) && /^\/c$/i.test(flag);
  return isShell && rest.length > 0 ? rest : words;
}

function typeOf(entry: Record<string, unknown>, urlKey: string | undefined, client: Client): string | undefined {
  const said = textOf(entry["type"]) ?? textOf(entry["transport"]);
  if (said !== undefined) return said.toLowerCase();
  if (urlKey === "httpUrl") return "http";
  // Gemini means the older transport by a bare url.
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

/** Names of variables, alone or as objects with more about them. */
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
