// `plugboard add`: adds a server from a package, image, command, URL or JSON. The server is tested first and not saved if the
// test fails.

import type { Server, TestResult } from "../../api/schemas/server.ts";
import { HubError, toHubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { isLoginError } from "../../servers/login/login-errors.ts";
import type { Register } from "../command.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { fromBody } from "../input/error-body.ts";
import type { EntryOptions } from "../input/given-entry.ts";
import type { Given } from "../input/given-target.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { DEFAULT_PORT } from "../../network/defaults.ts";
import { askYes, canAsk } from "../terminal/ask.ts";
import type { Output } from "../terminal/output.ts";
import { waiting } from "../terminal/spinner.ts";
import { count } from "../terminal/text.ts";
import { seconds } from "../terminal/times.ts";
import { Option } from "commander";
import { OFFER_KINDS } from "../../registry/model.ts";
import { addFromRegistry, registryTarget, type RegistryOptions } from "./add-from-registry.ts";
import { logInAndConnect } from "./auth.ts";

interface AddOptions extends GlobalOptions, EntryOptions, RegistryOptions {
  readonly test: boolean;
}

export const addCommand: Register = (program, { io, args }) => {
  program
    .command("add")
    .description("add a server, after a test")
    .argument(
      "[target]",
      "package, npm:…, uvx:…, docker:image, registry:NAME[@VERSION], ./program, URL, '{json}', - for JSON on stdin, or a command",
    )
    .argument("[name]", "the name of the server")
    .argument("[arguments...]", "after --: the arguments of the target, or a command")
    .option("-e, --env <name=value>", "an environment variable; NAME alone passes on the hub's own value", collect, [])
    .option(
      "-s, --secret <name=secret>",
      "an environment variable with a stored secret as its value (plugboard secret set)",
      collect,
      [],
    )
    .option("--set <name=value>", "an input of a server of a registry; secrets are stored encrypted", collect, [])
    .addOption(new Option("--package <kind>", "which package of a server of a registry").choices([...OFFER_KINDS]))
    .option("--registry <name>", "the registry of registry:NAME, by its name, address or folder")
    .option("-H, --header <name: value>", "a header, for a URL", collect, [])
    .option("--group <name>", "add it to this group; repeatable", collect, [])
    .option("--description <text>", "description of the server")
    .option("--cwd <dir>", "working folder of the server")
    .option("--disabled", "do not start it")
    .option("--no-test", "save it without testing it")
    .addHelpText("after", EXAMPLES)
    .action(
      async (
        _target: string | undefined,
        _name: string | undefined,
        _rest: string[],
        options: AddOptions,
        command: { args: string[] },
      ) => {
        const inRegistry = registryTarget(command.args[0], options);
        if (inRegistry !== undefined) return addFromRegistry(io, inRegistry, command.args[1], options);
        const [{ toTarget, wordsAfterDashes }, { inItsRegistry }] = await Promise.all([
          import("../input/given-target.ts"),
          import("../input/which-registry.ts"),
        ]);
        const given = await toTarget(io, command.args, wordsAfterDashes(args));
        // A remote hub uses its own registries.
        const isLocal = options.url === undefined && !io.env["PLUGBOARD_URL"];
        const target = isTested(options) && isLocal ? await inItsRegistry(io, given, options) : given;
        const isPasted = /^(?:-$|\s*\{)/.test(command.args[0] ?? "");
        await withAccess(io, options, (access) => add(io, access, { target, isPasted }, options));
      },
    );
};

function isTested({ test, disabled }: AddOptions): boolean {
  return test && disabled !== true;
}

function collect(value: string, all: readonly string[]): string[] {
  return [...all, value];
}

const EXAMPLES = `
  plugboard add @modelcontextprotocol/server-memory
  plugboard add @modelcontextprotocol/server-filesystem files -- /srv/data
  plugboard add uvx mcp-server-time
  plugboard add docker:mcp/time --group work
  plugboard add https://example.com/mcp tickets -s TOKEN=tickets -H 'Authorization: Bearer \${TOKEN}'
  plugboard add registry:brave-search --set BRAVE_API_KEY=…
  plugboard add search -- node ./server.js --port 0`;

interface AddRequest {
  readonly target: Given;
  /** The entry comes from JSON that the user may not have written. */
  readonly isPasted: boolean;
}

async function add(io: Io, access: Access, { target, isPasted }: AddRequest, options: AddOptions): Promise<void> {
  const { api, out, hub } = access;
  const { credentialWarnings, toEntry } = await import("../input/given-entry.ts");
  const entry = toEntry(target, options, { isPasted });
  const known = await api.servers.list();
  const names = new Set(known.map(({ config }) => config.name));
  if (names.has(target.name)) {
    throw new HubError("ServerAlreadyExists", `A server named "${target.name}" already exists`, {
      field: "name",
      hint: target.again({ name: freeName(target.name, names) }),
    });
  }
  const file = access.where("mcp_server.json");
  for (const warning of credentialWarnings(entry, file)) out.warn(warning);
  const test = isTested(options) ? await tried(io, access, entry, target) : undefined;
  const saved = await api.servers.create(entry);
  if (test?.success === false) {
    const result = { server: saved, file, test, needs_login: true };
    out.changed(`Added ${target.name} to ${file}; it needs a login`, result);
    return offerLogin(io, access, saved, options);
  }
  // Start it before returning, so that the next command of a script finds it running.
  const isWanted = test !== undefined && hub !== undefined;
  const server = isWanted ? await started(io, out, hub.client.servers.start(saved.config.id), saved) : saved;
  const found = test === undefined ? "" : ` (${count(test.tools.length, "tool")}, ${seconds(test.latency_ms)})`;
  const missing = lackOf(entry);
  if (missing !== undefined)
    out.warn(`${target.name} ${missing}: plugboard rm ${target.name}, then ${target.again({})} -- FOLDER`);
  out.changed(`Added ${target.name}${found} to ${file}`, { server, file, ...(test === undefined ? {} : { test }) });
}

/** The server after its start. A failed start is only a warning: `plugboard status` shows it too. */
async function started(io: Io, out: Output, starting: Promise<Server>, saved: Server): Promise<Server> {
  try {
    return await waiting(io, out, `starting ${saved.config.name}`, starting);
  } catch (thrown) {
    out.warn(`${saved.config.name} does not run: ${toHubError(thrown).message}`);
    return saved;
  }
}

/** The server is saved, and of no use before the login. */
async function offerLogin(io: Io, access: Access, server: Server, options: AddOptions): Promise<void> {
  const { name } = server.config;
  if (!canAsk(io, options) || !(await askYes(io, `Log in to ${name} now?`))) {
    return access.out.note(`Log in: plugboard auth ${name}`);
  }
  await logInAndConnect(io, access, { server, request: {}, port: DEFAULT_PORT }, options);
}

/** Fails unless the server works, or only needs a login. */
async function tried(io: Io, { api, out }: Access, entry: JsonObject, given: Given): Promise<TestResult> {
  const result = await waiting(io, out, `testing ${String(entry["name"])}`, api.servers.test(entry));
  if (result.success || (result.error !== undefined && isLoginError(result.error))) return result;
  const { hint, field, kind } = result.error ?? {};
  // A missing package will not appear later, so --no-test is not offered.
  const how = kind === "PackageNotFound" ? "Not saved" : "Not saved. Use --no-test to save it anyway";
  const variable = kind === "ProcessSpawnFailed" && field?.startsWith("env.") === true ? field.slice(4) : undefined;
  const first = variable === undefined ? hint : missingKey(variable, given);
  throw fromBody({ message: result.message, ...result.error, hint: first === undefined ? how : `${first}\n${how}` });
}

/** The command line that adds a variable which the server requires. */
function missingKey(variable: string, given: Given): string {
  const plain = given.again({ options: `-e ${variable}=…` });
  return `${plain}\nor, stored encrypted: plugboard secret set ${variable}, and -s ${variable} in place of -e`;
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 2; ; n++) if (!taken.has(`${name}-${n}`)) return `${name}-${n}`;
}

/** The missing argument of a server that starts but cannot work. */
function lackOf({ command, args }: JsonObject): string | undefined {
  const words = Array.isArray(args) ? args.map(String) : [];
  const isFilesystem = /^@modelcontextprotocol\/server-filesystem(?:@|$)/.test(words.at(-1) ?? "");
  return command === "npx" && isFilesystem ? "has no folder to work in" : undefined;
}
