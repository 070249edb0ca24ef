// What people type to say which server they mean: a package, an image, a program, an address or JSON, as an entry of
// mcp_server.json. Checking the entry is left to config/.

import { resolve } from "node:path";
import { HubError } from "../errors.ts";
import { parseDockerRun } from "../config/docker-flags.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { trimEnds } from "../trim.ts";
import { isLauncher } from "./launch-words.ts";

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
      if (isLauncher(target)) throw noServer(target);
      if (NPM.test(target)) return fromNpm(target, args);
      throw new HubError("InvalidConfig", `"${target}" is neither a package, an image, a program nor an address`, {
        field: "target",
        hint: EXAMPLES,
      });
  }
}

/** Whether a word names a server by itself, and is not only what it may be called. */
export function isTarget(word: string): boolean {
  return word === "-" || /^[{@]|^[a-z]{2,8}:/i.test(word) || PATH_LIKE.test(word);
}

/** Whether a word may be a package of npm or of Python's index, and does not say of which. */
export function isBareName(word: string): boolean {
  return NPM.test(word) && !word.startsWith("@") && !isLauncher(word);
}

function noServer(launcher: string): HubError {
  return new HubError("InvalidConfig", `${launcher} starts a server, but which one?`, {
    field: "target",
    hint: `plugboard add ${launcher} …, with the rest of the command; a package of that name: plugboard add npm:${launcher}`,
  });
}

/** @example fromCommand(["node", "./server.js"], "/srv") // { name: "srv", … args: ["/srv/server.js"] } */
export function fromCommand(words: readonly string[], cwd: string): Target {
  const [command = "", ...args] = words.map((word) => (/^\.{1,2}[/\\]/.test(word) ? resolve(cwd, word) : word));
  return { name: toName(tellingWord(command, args)), entry: args.length === 0 ? { command } : { command, args } };
}

/** The word of a command line that says which server it is. */
function tellingWord(command: string, args: readonly string[]): string {
  const image = CONTAINERS.test(base(command)) ? parseDockerRun(args)?.image : undefined;
  if (image !== undefined) return withoutTag(image);
  const word = [command, ...args].find(isTelling) ?? command;
  return word.replace(/^(?:npm|jsr):/, "").replace(/(?<=[^/])@[^/]*$/, "");
}

function isTelling(word: string): boolean {
  return !word.startsWith("-") && !/\s/.test(word) && !isLauncher(word) && !SUBCOMMANDS.test(word);
}

const CONTAINERS = /^(?:docker|podman|nerdctl)(?:\.exe)?$/;
/** Of launchers: what to do, and not with what. */
const SUBCOMMANDS = /^(?:run|exec|dlx|x|tool|create|start)$/;

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
  return { name: toName(withoutTag(image)), entry: { command: "docker", args: ["run", "--rm", "-i", image, ...args] } };
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

function withoutTag(image: string): string {
  return image.replace(/@.*/s, "").replace(/:[^:/]*$/, "");
}

/** The telling part of a package's name or a path, in the characters that a server's name may have. */
function toName(text: string): string {
  const parts = text.split(/[/\\]/).filter((part) => part !== "");
  // `@playwright/mcp` is playwright, `/srv/weather/dist/index.js` is weather.
  const short = parts.map(shorten).findLast((part) => part !== "" && !SAYS_NOTHING.test(part));
  const legal = trimEnds((short ?? parts.at(-1) ?? "").replaceAll(/[^\w-]+/g, "-"), "-");
  return legal.slice(0, 64) || "server";
}

const SAYS_NOTHING = /^(?:mcp|server|mcp-server|index|main|cli|app|dist|build|out|src|bin|lib)$/i;

function shorten(part: string): string {
  return part
    .replace(/^@/, "")
    .replace(/\.(?:js|mjs|cjs|ts|py|exe|sh)$/i, "")
    .replace(/^(?:mcp[-_])?server[-_]|^mcp[-_]|[-_]mcp(?:[-_]server)?$|[-_]server$/gi, "");
}

function base(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== "") ?? path;
}
