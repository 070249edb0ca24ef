// Turns what users type (a package, an image, a program, a URL or JSON) into an entry of mcp_server.json. config/ validates the
// entry.

import { resolve } from "node:path";
import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { serversIn } from "./json-entries.ts";
import { isLauncher } from "./launch-words.ts";
import { nameOfCommand, nameOfUrl, toName, withoutTag } from "./server-name.ts";

export interface Target {
  /** Default name. */
  readonly name: string;
  readonly entry: JsonObject;
}

export interface TargetOptions {
  /** Arguments for the server. */
  readonly args?: readonly string[];
  /** Base of relative paths. */
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
      throw new HubError("InvalidArgument", `Cannot tell what "${target}" is: not a package, image, program or URL`, {
        field: "target",
        hint: EXAMPLES,
      });
  }
}

/** Whether a word identifies a server by itself, and is not just a name for one. */
export function isTarget(word: string): boolean {
  return word === "-" || /^[{@]|^[a-z]{2,8}:/i.test(word) || PATH_LIKE.test(word);
}

/** Whether a word may be a package on npm or on the Python package index, without saying which. */
export function isBareName(word: string): boolean {
  return NPM.test(word) && !word.startsWith("@") && !isLauncher(word);
}

function noServer(launcher: string): HubError {
  return new HubError("InvalidArgument", `Missing server after ${launcher}`, {
    field: "target",
    hint: `Give the whole command: plugboard add ${launcher} …   For a package of that name: plugboard add npm:${launcher}`,
  });
}

/** @example fromCommand(["node", "./server.js"], "/srv") // { name: "srv", … args: ["/srv/server.js"] } */
export function fromCommand(words: readonly string[], cwd: string): Target {
  const [command = "", ...args] = words.map((word) => (/^\.{1,2}[/\\]/.test(word) ? resolve(cwd, word) : word));
  return { name: nameOfCommand(command, args), entry: args.length === 0 ? { command } : { command, args } };
}

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
    throw new HubError("InvalidArgument", "A remote server takes no arguments", { field: "args" });
  }
  return { name: nameOfUrl(url), entry: { url } };
}

/** Accepts an entry, a map with one entry, or a whole config snippet from a README. */
function fromJson(text: string, args: readonly string[]): Target {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new HubError("SerializationError", "The entry is not valid JSON", { detail: String(error), cause: error });
  }
  if (args.length > 0)
    throw new HubError("InvalidArgument", "Arguments are not allowed with JSON: put them into its args", {
      field: "args",
    });
  const [first, ...others] = serversIn(json);
  if (first === undefined || others.length > 0) {
    throw new HubError("InvalidArgument", "The JSON must contain exactly one server", {
      hint: "Add them one by one, or put them into mcp_server.json: plugboard config path",
    });
  }
  const { name: _, ...entry } = isObject(first.entry) ? first.entry : {};
  return { name: first.name, entry };
}
