// Command lines of supergateway and mcp-proxy as the config file that says the same, so that they are imported in one way.

import type { JsonObject } from "../config/parse/plain-object.ts";
import { HubError } from "../errors.ts";
import { splitWords } from "../lib/shell-words.ts";
import { nameOfCommand, nameOfUrl } from "./server-name.ts";

export interface GatewayLine {
  /** A config file that the line names. */
  readonly file?: string;
  /** What the line itself says, in the format of that file. Undefined if it names no server. */
  readonly data?: JsonObject;
}

type Reader = (words: readonly string[]) => GatewayLine;

const READERS: Readonly<Record<string, { readonly programs: readonly string[]; readonly read: Reader }>> = {
  supergateway: { programs: ["supergateway", "supergateway.cmd", "supergateway.js"], read: readSupergateway },
  "mcp-proxy": { programs: ["mcp-proxy", "mcp-proxy.exe"], read: readMcpProxy },
};

/** Undefined for a product that has no command lines. */
export function readGatewayLine(product: string, words: readonly string[]): GatewayLine | undefined {
  const reader = Object.hasOwn(READERS, product) ? READERS[product] : undefined;
  if (reader === undefined) return undefined;
  const end = words.indexOf("--");
  const at = words
    .slice(0, end < 0 ? words.length : end)
    .findIndex((word) => reader.programs.includes(programName(word)));
  return reader.read(words.slice(at + 1));
}

/** Of a path, a package with its version, or an image with its tag. */
function programName(word: string): string {
  const last = word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1);
  return last.split(/[@:]/, 1)[0] ?? "";
}

/** How many values an option takes; "list": all words up to the next option. */
type Arity = 0 | 1 | 2 | "list";

interface Parsed {
  /** Each time that an option is given, its values. */
  readonly given: ReadonlyMap<string, readonly (readonly string[])[]>;
  readonly rest: readonly string[];
}

function parse(product: string, words: readonly string[], options: Readonly<Record<string, Arity>>): Parsed {
  const given = new Map<string, (readonly string[])[]>();
  const rest: string[] = [];
  for (let at = 0; at < words.length;) {
    const word = words[at++] ?? "";
    if (word === "--") return { given, rest: [...rest, ...words.slice(at)] };
    if (!word.startsWith("-") || word === "-") {
      rest.push(word);
      continue;
    }
    const [flag = "", ...assigned] = word.split("=");
    const name = camelCase(flag.replace(/^-+/, ""));
    const arity = Object.hasOwn(options, name) ? options[name] : undefined;
    if (arity === undefined) throw unknownOption(product, flag);
    const values = assigned.length > 0 ? [assigned.join("=")] : [];
    const isList = arity === "list";
    while (isList ? !(words[at] ?? "-").startsWith("-") : values.length < arity) {
      const value = words[at++];
      if (value === undefined)
        throw new HubError("InvalidArgument", `${flag} of ${product} needs a value`, { field: flag });
      values.push(value);
    }
    given.set(name, [...(given.get(name) ?? []), values]);
  }
  return { given, rest };
}

function unknownOption(product: string, flag: string): HubError {
  return new HubError("InvalidArgument", `${product} has no option ${flag}`, {
    field: flag,
    hint: `An option of the server comes after -- (mcp-proxy), or within the quotes of --stdio (supergateway)`,
  });
}

/** @example camelCase("named-server") // "namedServer" */
function camelCase(text: string): string {
  return text.replaceAll(/-([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase());
}

const SUPERGATEWAY = {
  ...ofArity(
    1,
    "stdio sse streamableHttp config outputTransport port host baseUrl ssePath messagePath streamableHttpPath logLevel logFormat oauth2Bearer apiKeyFile sessionTimeout protocolVersion exitWithProcess healthCheck",
  ),
  ...ofArity("list", "cors healthEndpoint header apiKey"),
  ...ofArity(0, "stateful"),
};
/** Read here, and so not written as they are. */
const SOURCES: ReadonlySet<string> = new Set(["stdio", "sse", "streamableHttp", "config", "header"]);

function readSupergateway(words: readonly string[]): GatewayLine {
  const { given, rest } = parse("supergateway", words, SUPERGATEWAY);
  const [word] = rest;
  if (word !== undefined) {
    throw new HubError("InvalidArgument", `supergateway does not expect the word ${JSON.stringify(word)}`, {
      hint: 'Write the command of --stdio in quotes: --stdio "npx -y package"',
    });
  }
  const value = (name: string) => given.get(name)?.at(-1)?.[0];
  const [stdio, sse, http, file] = ["stdio", "sse", "streamableHttp", "config"].map(value);
  const sources = [stdio, sse, http].filter((source) => source !== undefined);
  if (file !== undefined && sources.length === 0) return { file };
  if (sources.length !== 1)
    throw new HubError("InvalidArgument", "supergateway needs exactly one of --stdio, --sse and --streamableHttp");
  const url = sse ?? http;
  const headers = Object.fromEntries((given.get("header") ?? []).flat().flatMap((header) => headerOf(header)));
  const others = [...given].filter(([name]) => !SOURCES.has(name));
  const entry: JsonObject = {
    ...(url === undefined ? { stdio: stdio ?? "" } : { url, type: sse === undefined ? "streamableHttp" : "sse" }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    // True for options without a value.
    ...Object.fromEntries(others.map(([name, values]) => [name, values.flat()[0] ?? true])),
  };
  const name = url === undefined ? nameOfLine(stdio ?? "") : nameOfUrl(url);
  return { data: { mcpServers: { [name]: entry } } };
}

function headerOf(header: string): [name: string, value: string][] {
  const colon = header.indexOf(":");
  return colon > 0 ? [[header.slice(0, colon).trim(), header.slice(colon + 1).trim()]] : [];
}

const MCP_PROXY = {
  ...ofArity(2, "H headers e env namedServer"),
  ...ofArity(
    1,
    "transport cwd logLevel namedServerConfig port host ssePort sseHost clientId clientSecret tokenUrl config addr baseUrl",
  ),
  ...ofArity(
    0,
    "passEnvironment noPassEnvironment debug noDebug stateless noStateless verifySsl noVerifySsl insecure expandEnv",
  ),
  ...ofArity("list", "allowOrigin exposeHeader"),
};
/** Options that say something about the servers, and have no member in the file. */
const KEPT = ["passEnvironment", "clientId", "clientSecret", "tokenUrl"] as const;

function readMcpProxy(words: readonly string[]): GatewayLine {
  const { given, rest } = parse("mcp-proxy", words, MCP_PROXY);
  const value = (name: string) => given.get(name)?.at(-1)?.[0];
  const file = value("namedServerConfig") ?? value("config");
  const pairs = (...names: string[]) =>
    Object.fromEntries(names.flatMap((name) => given.get(name) ?? []).map(([key = "", text = ""]) => [key, text]));
  const kept = Object.fromEntries(KEPT.flatMap((name) => (given.has(name) ? [[name, true]] : [])));
  const servers: JsonObject = {};
  const [first, ...args] = rest;
  if (first !== undefined && /^https?:\/\//i.test(first)) {
    const transportType = value("transport") === "streamablehttp" ? "streamable-http" : "sse";
    servers[nameOfUrl(first)] = { url: first, transportType, headers: pairs("H", "headers"), ...kept };
  } else if (first !== undefined) {
    const cwd = value("cwd");
    const where = cwd === undefined ? {} : { cwd };
    servers[nameOfCommand(first, args)] = { command: first, args, env: pairs("e", "env"), ...where, ...kept };
  }
  // The file replaces the named servers of the line.
  for (const [name = "", line = ""] of file === undefined ? (given.get("namedServer") ?? []) : []) {
    const [command = "", ...more] = splitWords(line);
    servers[name] = { command, args: more, ...kept };
  }
  if (Object.keys(servers).length === 0 && file === undefined)
    throw new HubError("InvalidArgument", "The command line of mcp-proxy names no server");
  return {
    ...(file === undefined ? {} : { file }),
    ...(Object.keys(servers).length === 0 ? {} : { data: { mcpServers: servers } }),
  };
}

function nameOfLine(line: string): string {
  const words = splitWords(line);
  const [command = "", ...args] = words.slice(words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word)));
  return nameOfCommand(command, args);
}

function ofArity(arity: Arity, names: string): Record<string, Arity> {
  return Object.fromEntries(names.split(" ").map((name) => [name, arity]));
}
