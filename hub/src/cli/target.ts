// What people type to say which server they mean: a package, an image, a program, an address or JSON, as an entry of
// mcp_server.json. Checking the entry is left to config/.

import { resolve } from "node:path";
import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { trimEnds } from "../trim.ts";

export interface Target {
  /** What it would be called if nobody says. */
  readonly name: string;
  readonly entry: JsonObject;
}

export interface TargetOptions {
  /** Words for the server itself. */
  readonly args?: readonly string[];
  /** Relative paths start here. */
  readonly cwd: string;
}

const NPM = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:@[\w.^~+-]+)?$/i;
const URL_LIKE = /^(?:https?|wss?):\/\//i;
const PATH_LIKE = /^(?:\.{1,2}|~)?[/\\]|^[A-Za-z]:[/\\]/;

/** @example parseTarget("uvx:mcp-server-time", { cwd: "/" }) // { name: "time", entry: { command: "uvx", args: ["mcp-server-time"] } } */
export function parseTarget(text: string, { args = [], cwd }: TargetOptions): Target {
  const target = text.trim();
  if (target.startsWith("{")) return fromJson(target, args);
  if (URL_LIKE.test(target)) return fromUrl(target, args);
  const [, prefix = "", rest = ""] = /^(npm|npx|uvx|pypi|docker):(?!\/\/)(.+)$/.exec(target) ?? [];
  switch (prefix) {
    case "uvx":
    case "pypi":
      return { name: toName(rest.replace(/[[@=<>!~].*/s, "")), entry: { command: "uvx", args: [rest, ...args] } };
    case "docker":
      return fromImage(rest, args);
    case "npm":
    case "npx":
      return fromNpm(rest, args);
    default:
      if (PATH_LIKE.test(target)) return fromCommand([target, ...args], cwd);
      if (NPM.test(target)) return fromNpm(target, args);
      throw new HubError("InvalidConfig", `"${target}" is neither a package, an image, a program nor an address`, {
        field: "target",
        hint: EXAMPLES,
      });
  }
}

/** @example fromCommand(["node", "./server.js"], "/srv") // { name: "server", … args: ["/srv/server.js"] } */
export function fromCommand(words: readonly string[], cwd: string): Target {
  const [command = "", ...args] = words.map((word) => (/^\.{1,2}[/\\]/.test(word) ? resolve(cwd, word) : word));
  const isTelling = (word: string) => !word.startsWith("-") && !RUNNERS.test(base(word));
  const telling = base([command, ...args].find(isTelling) ?? command).replace(/(?<=.)@.*/s, "");
  return { name: toName(telling), entry: args.length === 0 ? { command } : { command, args } };
}

/** What runs the server, but is not it. */
const RUNNERS = /^(?:node|npx|uvx|uv|bunx?|deno|python[\d.]*|sh|bash|env|docker|podman|run|exec|tool)(?:\.exe|\.cmd)?$/;

const EXAMPLES = [
  "plugboard add @modelcontextprotocol/server-memory",
  "plugboard add uvx:mcp-server-time",
  "plugboard add docker:mcp/time",
  "plugboard add https://example.com/mcp",
  "plugboard add NAME -- command arguments",
].join("\n");

function fromNpm(identifier: string, args: readonly string[]): Target {
  const name = identifier.replace(/(?<=.)@[^@/]*$/, "");
  return { name: toName(name), entry: { command: "npx", args: ["-y", identifier, ...args] } };
}

function fromImage(image: string, args: readonly string[]): Target {
  const name = image.replace(/@.*/s, "").replace(/:[^:/]*$/, "");
  return { name: toName(name), entry: { command: "docker", args: ["run", "--rm", "-i", image, ...args] } };
}

function fromUrl(url: string, args: readonly string[]): Target {
  if (args.length > 0) {
    throw new HubError("InvalidConfig", "A server at an address takes no arguments", { field: "args" });
  }
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  const labels = host.split(".").filter((label) => !/^(?:mcp|api|www|sse|remote|server)$/.test(label));
  const telling = /^[\d.]+$|^\[|^localhost$/.test(host) ? "local" : (labels[0] ?? host);
  return { name: toName(telling), entry: { url } };
}

/** An entry, a map of one entry, or the whole snippet that a server's README shows. */
function fromJson(text: string, args: readonly string[]): Target {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new HubError("SerializationError", "The entry is not valid JSON", { detail: String(error), cause: error });
  }
  if (!isObject(json)) throw new HubError("InvalidConfig", "The entry must be a JSON object");
  if (args.length > 0) throw new HubError("InvalidConfig", "Put the arguments into the JSON", { field: "args" });
  for (const root of ["mcpServers", "servers"]) {
    if (isObject(json[root])) return onlyEntry(json[root]);
  }
  const values = Object.values(json);
  if (values.length > 0 && values.every((value) => isObject(value) && isEntry(value)) && !isEntry(json))
    return onlyEntry(json);
  const { name, ...entry } = json;
  return { name: typeof name === "string" ? name : guessName(entry), entry };
}

function onlyEntry(map: JsonObject): Target {
  const [first, ...others] = Object.entries(map);
  if (first === undefined || others.length > 0) {
    throw new HubError("InvalidConfig", "The JSON must hold exactly one server", {
      hint: "Add them one by one, or put them into mcp_server.json: plugboard config path",
    });
  }
  const [key, entry] = first;
  if (!isObject(entry)) throw new HubError("InvalidConfig", "A server must be an object", { field: key });
  const { name, ...rest } = entry;
  return { name: typeof name === "string" ? name : key, entry: rest };
}

function isEntry(json: JsonObject): boolean {
  return ["command", "url", "package", "transport"].some((key) => Object.hasOwn(json, key));
}

function guessName({ command, args, url }: JsonObject): string {
  if (typeof url === "string") return fromUrl(url, []).name;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  return fromCommand(words, "/").name;
}

/** The telling part of a package's name, in the characters that a server's name may have. */
function toName(text: string): string {
  const last = text.split("/").findLast((part) => part !== "") ?? "";
  const short = last
    .replace(/\.(?:js|mjs|cjs|ts|py|exe|sh)$/i, "")
    .replace(/^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_]mcp(?:[-_]server)?$|[-_]server$/gi, "");
  const legal = trimEnds((short === "" ? last : short).replaceAll(/[^\w-]+/g, "-"), "-");
  return legal.slice(0, 64) || "server";
}

function base(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== "") ?? path;
}
