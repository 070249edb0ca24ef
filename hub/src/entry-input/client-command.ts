// Command lines of clients that add a server to the client, as READMEs have them: `claude mcp add …`.

import { HubError } from "../errors.ts";
import { parseJson } from "@plugboard/shared/lenient";
import { clientOf, type DescribedServer } from "./described-server.ts";
import { serversIn } from "./json-entries.ts";
import { fromCommand } from "./target.ts";

/** Options that take a value. Others are flags. */
const SCOPES = ["-s", "--scope"];
const TRANSPORTS = ["-t", "--transport"];
const VARIABLES = ["-e", "--env"];
const HEADERS = ["-H", "--header"];
const WITH_VALUE = new Set([
  ...SCOPES,
  ...TRANSPORTS,
  ...VARIABLES,
  ...HEADERS,
  "--url",
  "--timeout",
  "--bearer-token-env-var",
  "--description",
]);
const URL_LIKE = /^(?:https?|wss?):\/\//i;

/** Undefined if the words are no such command. */
export function parseClientCommand(words: readonly string[]): DescribedServer[] | undefined {
  const [program = "", ...rest] = words;
  if (/^code(?:-insiders)?$/.test(program) && rest[0] === "--add-mcp") return fromJson(rest[1], "vscode");
  if (!/^(?:claude|codex|gemini|plugboard)$/.test(program)) return undefined;
  const [area, verb, ...args] = program === "plugboard" ? ["mcp", ...rest] : rest;
  if (area !== "mcp") return undefined;
  if (verb === "add-json") {
    const [name, text] = args.filter((word, index) => !isOption(word, args[index - 1]));
    return fromJson(text, "claude-code", name);
  }
  return verb === "add" ? [fromAdd(program, args)] : undefined;
}

interface Options {
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

function fromAdd(program: string, args: readonly string[]): DescribedServer {
  const { values, operands } = readOptions(args);
  const all = (names: readonly string[]) => names.flatMap((name) => values.get(name) ?? []);
  const [name, ...target] = operands;
  const [url] = [...all(["--url"]), ...target.filter((word) => URL_LIKE.test(word))];
  if (name === undefined || (url === undefined && target.length === 0)) {
    throw new HubError("InvalidArgument", `This ${program} command names no server`, {
      field: "text",
      hint: `${program} mcp add NAME -- COMMAND ARGUMENTS`,
    });
  }
  const pairs = all(VARIABLES).map((pair) => splitAt(pair, "="));
  const headers = all(HEADERS).map((header) => splitAt(header, ":"));
  const [transport] = all(TRANSPORTS);
  const [bearer] = all(["--bearer-token-env-var"]);
  const place =
    url === undefined
      ? fromCommand(target, "/").entry
      : {
          url,
          ...(transport === undefined || transport === "stdio" ? {} : { type: transport }),
          ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
          ...(bearer === undefined ? {} : { bearer_token_env_var: bearer }),
        };
  const entry = { ...place, ...(pairs.length === 0 ? {} : { env: Object.fromEntries(pairs) }) };
  return { name, entry, client: clientOf("claude-code") };
}

function readOptions(args: readonly string[]): Options {
  const values = new Map<string, string[]>();
  const operands: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    if (word === "--") return { values, operands: [...operands, ...args.slice(index + 1)] };
    // After the name and the command, options are those of the server; an address has none.
    if (!word.startsWith("-") || (operands.length > 1 && !URL_LIKE.test(operands[1] ?? ""))) {
      operands.push(word);
      continue;
    }
    const [option, given] = word.startsWith("--") && word.includes("=") ? splitAt(word, "=") : [word, undefined];
    if (!WITH_VALUE.has(option)) continue;
    values.set(option, [...(values.get(option) ?? []), given ?? args[++index] ?? ""]);
  }
  return { values, operands };
}

function isOption(word: string, before: string | undefined): boolean {
  return word.startsWith("-") || (before !== undefined && WITH_VALUE.has(before));
}

function fromJson(text: string | undefined, client: string, name?: string): DescribedServer[] {
  return serversIn(parseJson(text ?? "")).map((server) => ({
    ...server,
    ...(name === undefined ? {} : { name }),
    client: server.client === undefined ? undefined : clientOf(client),
  }));
}

function splitAt(text: string, separator: string): [name: string, value: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
