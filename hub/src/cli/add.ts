// `plugboard add`: a new server, from whatever people have at hand. It is tried out first; what does not work is not
// saved.

import { text as readAll } from "node:stream/consumers";
import type { Server, TestResult } from "../api/schemas/server.ts";
import { HubError, toHubError } from "../errors.ts";
import type { JsonObject } from "../wire/json.ts";
import { withAccess, type Access } from "./access.ts";
import { fromBody } from "./error-body.ts";
import type { GlobalOptions, Io } from "./io.ts";
import type { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { fromCommand, parseTarget, type Target } from "./target.ts";
import { count } from "./text.ts";
import { seconds } from "./times.ts";
import { waiting } from "./waiting.ts";

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
    .argument("[target]", "npm package, uvx:package, docker:image, ./program, URL, '{json}', or - for JSON on stdin")
    .argument("[name]", "what to call it")
    .argument("[command...]", "after --: the command, or the arguments of the target")
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
        const target = await toTarget(io, command.args, wordsAfterDashes(args));
        await withAccess(io, options, (access) => add(io, access, target, options));
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
  plugboard add uvx:mcp-server-time time
  plugboard add docker:mcp/time --group work
  plugboard add https://example.com/mcp tickets -s TOKEN=tickets -H 'Authorization: Bearer \${TOKEN}'
  plugboard add search -- node ./server.js --port 0`;

/** Those after the first `--`; undefined where there is none. */
export function wordsAfterDashes(args: readonly string[]): string[] | undefined {
  const at = args.indexOf("--");
  return at < 0 ? undefined : args.slice(at + 1);
}

/** Two words before `--` are a target and its name, and its arguments follow; one is the name of a command. */
export async function toTarget(
  io: Pick<Io, "stdin">,
  operands: readonly string[],
  after: readonly string[] | undefined,
): Promise<Target> {
  const before = operands.slice(0, operands.length - (after?.length ?? 0));
  const [first, second, third] = before;
  if (third !== undefined) {
    throw new HubError("InvalidConfig", `What does "${third}" mean here?`, {
      hint: `For a command with arguments: plugboard add NAME -- ${before.join(" ")}`,
    });
  }
  const cwd = process.cwd();
  if (after !== undefined && after.length > 0 && second === undefined) {
    const target = fromCommand(after, cwd);
    return first === undefined ? target : { ...target, name: first };
  }
  if (first === undefined) throw new HubError("InvalidConfig", "Which server?", { hint: `plugboard add --help` });
  const text = first === "-" ? await readAll(io.stdin) : first;
  const target = parseTarget(text, { args: after ?? [], cwd });
  return second === undefined ? target : { ...target, name: second };
}

async function add(io: Io, access: Access, target: Target, options: AddOptions): Promise<void> {
  const { api, out, hub } = access;
  const entry = await toEntry(target, options);
  const known = await api.listServers();
  if (known.some(({ config }) => config.name === target.name)) {
    throw new HubError("ServerAlreadyExists", `There is a server "${target.name}" already`, {
      field: "name",
      hint: `Give another name, or remove it first: plugboard rm ${target.name}`,
    });
  }
  const file = access.where("mcp_server.json");
  for (const warning of await credentialWarnings(entry, file)) out.warn(warning);
  const test = options.test && options.disabled !== true ? await tried(io, access, entry) : undefined;
  const saved = await api.createServer(entry);
  // It has shown that it works: who calls it next, perhaps in the same line of a script, finds it up.
  const isWanted = test !== undefined && hub !== undefined;
  const server = isWanted ? await started(io, out, hub.client.startServer(saved.config.id), saved) : saved;
  const found = test === undefined ? "" : ` (${count(test.tools.length, "tool")}, ${seconds(test.latency_ms)})`;
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

async function tried(io: Io, { api, out }: Access, entry: JsonObject): Promise<TestResult> {
  const result = await waiting(io, out, `testing ${String(entry["name"])}`, api.testServer(entry));
  if (result.success) return result;
  const how = "Not saved. With --no-test it is saved all the same";
  const { hint } = result.error ?? {};
  throw fromBody({ message: result.message, ...result.error, hint: hint === undefined ? how : `${hint}\n${how}` });
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
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.disabled === true ? { enabled: false } : {}),
  };
}

function variables({ env, secret }: AddOptions): Record<string, unknown> {
  return Object.fromEntries([
    ...env.map((word) => {
      const [name, value] = parsePair(word);
      return [name, value ?? `\${${name}}`];
    }),
    ...secret.map((word) => {
      const [name, value] = parsePair(word);
      return [name, { secretRef: value ?? name }];
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
