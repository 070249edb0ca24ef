// `plugboard add`: a new server, from whatever people have at hand. It is tried out first; what does not work is not
// saved.

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import type { Server, TestResult } from "../api/schemas/server.ts";
import { hideAll, maskArgs, maskUrl } from "../config/mask.ts";
import { HubError, toHubError } from "../errors.ts";
import type { JsonObject } from "../wire/json.ts";
import { exists } from "../exists.ts";
import { withAccess, type Access } from "./access.ts";
import { canAsk, choose } from "./ask.ts";
import { fromBody } from "./error-body.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { isLauncher } from "./launch-words.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { quoted } from "./quoted.ts";
import { findInRegistries } from "./registries.ts";
import { fromCommand, isBareName, isTarget, parseTarget, type Target } from "./target.ts";
import { count } from "./text.ts";
import { seconds } from "./times.ts";
import { waiting } from "./waiting.ts";
import { findProgram } from "./which.ts";

interface AddOptions extends GlobalOptions {
  readonly env: readonly string[];
  readonly secret: readonly string[];
  readonly header: readonly string[];
  readonly group: readonly string[];
  readonly description?: string;
  readonly cwd?: string;
  readonly disabled?: boolean;
  readonly test: boolean;
}

export const addCommand: Register = (program, { io, args, done }) => {
  program
    .command("add")
    .description("add a server, after a test")
    .argument(
      "[target]",
      "package, npm:…, uvx:…, docker:image, ./program, URL, '{json}', - for JSON on stdin, or a command",
    )
    .argument("[name]", "what to call it")
    .argument("[arguments...]", "after --: the arguments of the target, or a command")
    .option("-e, --env <name=value>", "a variable; a name alone takes it from the hub's environment", collect, [])
    .option(
      "-s, --secret <name=secret>",
      "a variable whose value is a stored secret (plugboard secret set)",
      collect,
      [],
    )
    .option("-H, --header <name: value>", "a header, for a URL", collect, [])
    .option("--group <name>", "a group that it joins; may be given again", collect, [])
    .option("--description <text>", "what it is for")
    .option("--cwd <dir>", "the folder it runs in")
    .option("--disabled", "do not start it")
    .option("--no-test", "save it without trying it out")
    .addHelpText("after", EXAMPLES)
    .action(
      async (
        _target: string | undefined,
        _name: string | undefined,
        _rest: string[],
        options: AddOptions,
        command: { args: string[] },
      ) => {
        const given = await toTarget(io, command.args, wordsAfterDashes(args));
        const target = await inItsRegistry(io, given, options);
        const isPasted = /^(?:-$|\s*\{)/.test(command.args[0] ?? "");
        await withAccess(io, options, (access) => add(io, access, { target, isPasted }, options));
        done(0);
      },
    );
};

function collect(value: string, all: readonly string[]): string[] {
  return [...all, value];
}

const EXAMPLES = `
  plugboard add @modelcontextprotocol/server-memory
  plugboard add @modelcontextprotocol/server-filesystem files -- /srv/data
  plugboard add uvx mcp-server-time
  plugboard add docker:mcp/time --group work
  plugboard add https://example.com/mcp tickets -s TOKEN=tickets -H 'Authorization: Bearer \${TOKEN}'
  plugboard add search -- node ./server.js --port 0`;

/** Those after the first `--`; undefined where there is none. */
export function wordsAfterDashes(args: readonly string[]): string[] | undefined {
  const at = args.indexOf("--");
  return at < 0 ? undefined : args.slice(at + 1);
}

/** A target, and the line that gives it another name or more options. */
export interface Given extends Target {
  /** The package that was named without saying which registry has it. */
  readonly bare?: string;
  /** The server's own arguments. */
  readonly args: readonly string[];
  again(change: { readonly target?: string; readonly name?: string; readonly options?: string }): string;
}

/**
 * Two words before `--` are a target and its name, and its arguments follow. One is a target too, unless it can only be the
 * name of the command that follows.
 */
export async function toTarget(
  io: Pick<Io, "stdin" | "env">,
  operands: readonly string[],
  after: readonly string[] | undefined,
): Promise<Given> {
  const before = operands.slice(0, operands.length - (after?.length ?? 0));
  const [first, second, third] = before;
  if (third !== undefined) {
    throw new HubError("InvalidConfig", `What does "${third}" mean here?`, {
      hint: `For a command with arguments: plugboard add NAME -- ${before.join(" ")}`,
    });
  }
  const cwd = process.cwd();
  const rest = after ?? [];
  if (rest.length > 0 && second === undefined && (first === undefined || (await isCommand(first, rest, io)))) {
    const words = await withPaths(rest, cwd);
    const target = fromCommand(words, cwd);
    return {
      ...target,
      ...(first === undefined ? {} : { name: first }),
      args: [],
      again: ({ name = first ?? target.name, options = "" }) => typed([name, options, "--", ...shown(words)]),
    };
  }
  if (first === undefined) throw new HubError("InvalidConfig", "Which server?", { hint: `plugboard add --help` });
  const text = first === "-" ? await readAll(io.stdin) : first;
  const target = parseTarget(text, { args: rest, cwd });
  return {
    ...target,
    ...(second === undefined ? {} : { name: second }),
    ...(isBareName(first) ? { bare: first } : {}),
    args: rest,
    again: ({ target: other = first, name = second ?? "", options = "" }) =>
      typed([shownTarget(other), name, options, ...(rest.length === 0 ? [] : ["--", ...shown(rest)])]),
  };
}

/** Credentials are left for the user to fill in: what is printed may end up in a log. */
function shown(words: readonly string[]): string[] {
  return maskArgs(words, hideAll).map(quoted);
}

function shownTarget(target: string): string {
  return target.trimStart().startsWith("{") ? "'{…}'" : quoted(maskUrl(target, hideAll));
}

function typed(words: readonly string[]): string {
  return ["plugboard add", ...words.filter((word) => word !== "")].join(" ");
}

/** Whether `first -- rest` is a name and a command, and not a package and its arguments. */
async function isCommand(first: string, rest: readonly string[], { env }: Pick<Io, "env">): Promise<boolean> {
  const [program = ""] = rest;
  if (isTarget(first) || program.startsWith("-")) return false;
  if (isLauncher(program) || !isBareName(first)) return true;
  const isFolder = await stat(program).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return !isFolder && (/[/\\]/.test(program) || (await findProgram(program, env["PATH"])) !== undefined);
}

/** The hub runs elsewhere: a script that is named as it is seen from here is named in full. */
async function withPaths(words: readonly string[], cwd: string): Promise<string[]> {
  const [command = "", ...args] = words;
  const at = isLauncher(command) ? args.findIndex((word) => !word.startsWith("-")) : -1;
  const script = args[at];
  if (script === undefined || !/\.[cm]?[jt]s$|\.py$|\.sh$|\.rb$|\.php$|\.jar$/.test(script)) return [...words];
  const path = resolve(cwd, script);
  return (await exists(path)) ? [command, ...args.with(at, path)] : [...words];
}

/** A name that npm and Python's index both may have: which of them is meant is asked, or has to be said. */
async function inItsRegistry(io: Io, given: Given, options: AddOptions): Promise<Given> {
  const { bare } = given;
  // A hub elsewhere has registries of its own.
  const isAsked = options.test && options.disabled !== true && options.url === undefined && !io.env["PLUGBOARD_URL"];
  if (bare === undefined || !isAsked) return given;
  const out = new Output(io, options);
  const name = bare.replace(/@.*/s, "");
  const { npm, pypi } = await waiting(io, out, `looking for ${name}`, findInRegistries(name, io));
  // Where npm cannot be asked, the test says why.
  if (pypi !== true && npm !== false) return given;
  const forms = { npm: `npm:${bare}`, pypi: `uvx:${bare}` };
  if (npm === false && pypi !== true) {
    throw new HubError("PackageNotFound", "Package not found", {
      detail: `${name} is not on the npm registry${pypi === false ? ", nor on the Python package index" : ""}`,
      hint:
        pypi === false ? "Check the name" : `Check the name; of the Python package index: plugboard add ${forms.pypi}`,
    });
  }
  const ways = npm === false ? [forms.pypi] : [forms.npm, forms.pypi];
  const chosen = canAsk(io, options) ? await choose(io, questionOf(name, npm), ways) : undefined;
  if (chosen === undefined) {
    throw new HubError("InvalidConfig", `${questionOf(name, npm)}: say which one you mean`, {
      field: "target",
      hint: ways.map((way) => given.again({ target: way })).join("\n"),
    });
  }
  const target = parseTarget(chosen, { args: given.args, cwd: process.cwd() });
  return { ...given, entry: target.entry, again: (change) => given.again({ target: chosen, ...change }) };
}

function questionOf(name: string, npm: boolean | undefined): string {
  return npm === false
    ? `${name} is not on the npm registry, but on the Python package index`
    : `${name} is on the npm registry and on the Python package index`;
}

interface Wanted {
  readonly target: Given;
  /** It is somebody's JSON, and not what the user typed. */
  readonly isPasted: boolean;
}

async function add(io: Io, access: Access, { target, isPasted }: Wanted, options: AddOptions): Promise<void> {
  const { api, out, hub } = access;
  const entry = await declared(await toEntry(target, options), options, isPasted);
  const known = await api.listServers();
  const names = new Set(known.map(({ config }) => config.name));
  if (names.has(target.name)) {
    throw new HubError("ServerAlreadyExists", `There is a server "${target.name}" already`, {
      field: "name",
      hint: target.again({ name: freeName(target.name, names) }),
    });
  }
  const file = access.where("mcp_server.json");
  for (const warning of await credentialWarnings(entry, file)) out.warn(warning);
  const test = options.test && options.disabled !== true ? await tried(io, access, entry, target) : undefined;
  const saved = await api.createServer(entry);
  // It has shown that it works: who calls it next, perhaps in the same line of a script, finds it up.
  const isWanted = test !== undefined && hub !== undefined;
  const server = isWanted ? await started(io, out, hub.client.startServer(saved.config.id), saved) : saved;
  const found = test === undefined ? "" : ` (${count(test.tools.length, "tool")}, ${seconds(test.latency_ms)})`;
  const lack = lackOf(entry);
  if (lack !== undefined)
    out.warn(`${target.name} ${lack}: plugboard rm ${target.name}, then ${target.again({})} -- FOLDER`);
  out.changed(`Added ${target.name}${found} to ${file}`, { server, file, ...(test === undefined ? {} : { test }) });
}

/** The server as it is then. That it does not start after all is to be seen in its status, too. */
async function started(io: Io, out: Output, starting: Promise<Server>, saved: Server): Promise<Server> {
  try {
    return await waiting(io, out, `starting ${saved.config.name}`, starting);
  } catch (thrown) {
    out.warn(`${saved.config.name} does not run: ${toHubError(thrown).message}`);
    return saved;
  }
}

async function tried(io: Io, { api, out }: Access, entry: JsonObject, given: Given): Promise<TestResult> {
  const result = await waiting(io, out, `testing ${String(entry["name"])}`, api.testServer(entry));
  if (result.success) return result;
  const { hint, field, kind } = result.error ?? {};
  // What is not there will not be there later.
  const how = kind === "PackageNotFound" ? "Not saved" : "Not saved. With --no-test it is saved all the same";
  const variable = kind === "ProcessSpawnFailed" && field?.startsWith("env.") === true ? field.slice(4) : undefined;
  const first = variable === undefined ? hint : missingKey(variable, given);
  throw fromBody({ message: result.message, ...result.error, hint: first === undefined ? how : `${first}\n${how}` });
}

/** The line to type where a server wants a variable that it was not given. */
function missingKey(variable: string, given: Given): string {
  const plain = given.again({ options: `-e ${variable}=…` });
  return `${plain}\nor, stored encrypted: plugboard secret set ${variable}, and -s ${variable} in place of -e`;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 2; ; n++) if (!taken.has(`${name}-${n}`)) return `${name}-${n}`;
}

/** What a server that starts cannot work without. */
function lackOf({ command, args }: JsonObject): string | undefined {
  const words = Array.isArray(args) ? args.map(String) : [];
  const isFilesystem = /^@modelcontextprotocol\/server-filesystem(?:@|$)/.test(words.at(-1) ?? "");
  return command === "npx" && isFilesystem ? "has no folder to work in" : undefined;
}

async function toEntry({ name, entry }: Target, options: AddOptions): Promise<JsonObject> {
  const { isObject } = await import("../wire/json.ts");
  const env = { ...(isObject(entry["env"]) ? entry["env"] : {}), ...variables(options) };
  const headers = {
    ...(isObject(entry["headers"]) ? entry["headers"] : {}),
    ...Object.fromEntries(options.header.map(parseHeader)),
  };
  return {
    name,
    ...entry,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(options.group.length === 0 ? {} : { groups: options.group.flatMap((names) => names.split(",")) }),
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.cwd === undefined ? {} : { cwd: absolute(options.cwd) }),
    ...(options.disabled === true ? { enabled: false } : {}),
  };
}

/** Whoever types `${NAME}` means it; in JSON from elsewhere it is for the user to declare. */
async function declared(entry: JsonObject, { header }: AddOptions, isPasted: boolean): Promise<JsonObject> {
  const { withDeclared } = await import("../config/allowed-env.ts");
  const ownHeaders = new Set(header.map((word) => `headers.${parseHeader(word)[0]}`));
  try {
    return withDeclared(entry, ({ field }) => !isPasted || ownHeaders.has(field));
  } catch {
    return entry; // what is wrong with it is said by whoever saves it
  }
}

/** For a hub that may run anywhere. */
function absolute(folder: string): string {
  return /^(?:~|\$\{)/.test(folder) ? folder : resolve(folder);
}

function variables({ env, secret }: AddOptions): Record<string, unknown> {
  return Object.fromEntries([
    ...env.map((word) => {
      const [name, value] = parsePair(word);
      return [name, value ?? `\${${name}}`];
    }),
    ...secret.map((word) => {
      const [name, value] = parsePair(word);
      // Whoever names a secret means the server to have it: an optional one that is absent would only be left empty.
      return [name, { secretRef: value ?? name, required: true }];
    }),
  ]);
}

function parsePair(word: string): [name: string, value: string | undefined] {
  const equals = word.indexOf("=");
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function parseHeader(word: string): [name: string, value: string] {
  const colon = word.indexOf(":");
  if (colon > 0) return [word.slice(0, colon).trim(), word.slice(colon + 1).trim()];
  // Not repeated in the message: it may be the credential itself.
  throw new HubError("InvalidConfig", "A header is a name, a colon and a value", {
    field: "header",
    hint: "-H 'Authorization: Bearer ${TOKEN}'",
  });
}

/** A credential as plain text works, but everyone who reads the file or the shell's history has it. */
async function credentialWarnings(entry: JsonObject, file: string): Promise<string[]> {
  const [{ isCredentialName, maskSecret }, { isObject }] = await Promise.all([
    import("../config/mask.ts"),
    import("../wire/json.ts"),
  ]);
  const plain = (map: unknown) =>
    Object.entries(isObject(map) ? map : {})
      .filter(([name, value]) => isCredentialName(name) && typeof value === "string" && isLiteral(value))
      .map(([name]) => name);
  const isLiteral = (value: string) => {
    let literal = false;
    maskSecret(value, (secret) => {
      literal = true;
      return secret;
    });
    return literal;
  };
  const inEnv = plain(entry["env"]).map(
    (name) => `${name} stands in ${file} as plain text. Better: plugboard secret set ${name}, and -s ${name} here`,
  );
  const inHeaders = plain(entry["headers"]).map(
    (name) =>
      `The header ${name} stands in ${file} as plain text. Better: plugboard secret set TOKEN, then -s TOKEN -H '${name}: Bearer \${TOKEN}'`,
  );
  return [...inEnv, ...inHeaders];
}
