// `plugboard add registry:NAME[@VERSION]`: adds a server of a registry. Asks for required inputs on a terminal; secrets go to the
// secret store.

import { resolve } from "node:path";
import type { RegistryAdd, RegistryDraft, RegistryInput, RegistryServer } from "../../api/schemas/registry.ts";
import { HubError } from "../../errors.ts";
import type { OfferKind } from "../../registry/model.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { parseRegistryTarget, REGISTRY_PREFIX, type RegistryTarget } from "../input/registry-target.ts";
import type { EntryOptions } from "../input/given-entry.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { askLine, canAsk } from "../terminal/ask.ts";
import { readHidden } from "../terminal/read-hidden.ts";
import { waiting } from "../terminal/spinner.ts";
import { commandLineOf, sayProblems } from "./search.ts";

export interface RegistryOptions {
  readonly set: readonly string[];
  readonly package?: OfferKind;
  readonly registry?: string;
}

interface Options extends GlobalOptions, EntryOptions, RegistryOptions {}

/** Undefined: the target is not in a registry. Throws if the options are only for one that is. */
export function registryTarget(target: string | undefined, options: RegistryOptions): RegistryTarget | undefined {
  if (target?.startsWith(REGISTRY_PREFIX) === true) {
    return parseRegistryTarget(target.slice(REGISTRY_PREFIX.length));
  }
  const given = options.set.length > 0 ? "set" : options.package === undefined ? "registry" : "package";
  if (options.set.length > 0 || options.package !== undefined || options.registry !== undefined) {
    throw new HubError("InvalidArgument", `--${given} is for a server of a registry`, {
      field: given,
      hint: `plugboard add registry:NAME --${given} …`,
    });
  }
  return undefined;
}

export async function addFromRegistry(
  io: Io,
  { name, version }: RegistryTarget,
  as: string | undefined,
  options: Options,
): Promise<void> {
  requireUsableOptions(options);
  await withAccess(io, options, async (access) => {
    const { api, out } = access;
    const which = { registry: options.registry, version };
    const found = await waiting(io, out, `looking for ${name}`, api.registry.get(name, which));
    sayProblems(out, [found]);
    const draft = found.drafts.find(({ package: kind }) => kind === (options.package ?? kind));
    const values = givenValues(options, draft);
    if (draft !== undefined && canAsk(io, options)) await askMissing(io, draft, values);
    await add(access, { found, draft, options, input: toInput(found, as, options, values) });
  });
}

/** The version that was looked at is the one that is added. */
function toInput(
  found: RegistryServer,
  as: string | undefined,
  options: Options,
  values: NonNullable<RegistryAdd["values"]>,
): RegistryAdd {
  return {
    name: found.name,
    registry: found.registry,
    ...(found.version === null ? {} : { version: found.version }),
    ...(options.package === undefined ? {} : { package: options.package }),
    ...(as === undefined ? {} : { as }),
    values,
    ...(options.disabled === true ? { enabled: false } : {}),
    ...(options.group.length === 0 ? {} : { groups: options.group.flatMap((names) => names.split(",")) }),
  };
}

interface Adding {
  readonly found: RegistryServer;
  readonly draft: RegistryDraft | undefined;
  readonly options: Options;
  readonly input: RegistryAdd;
}

async function add({ api, out, where }: Access, { found, draft, input }: Adding): Promise<void> {
  const added = await api.registry.add(input);
  const { config } = added.server;
  for (const warning of added.warnings) out.warn(warning);
  const version = added.version === null ? "" : ` ${added.version}`;
  const secrets = added.secrets.length === 0 ? "" : `; stored ${added.secrets.join(", ")}`;
  const file = where("mcp_server.json");
  out.changed(`Added ${config.name} (${found.name}${version} of ${added.registry}) to ${file}${secrets}`, {
    ...added,
    file,
  });
  if (draft !== undefined && !out.json)
    out.note(`It runs: ${commandLineOf(config)}\nOnce you have looked at it: plugboard approve ${config.name}`);
}

/** What the entry of a registry decides itself. */
function requireUsableOptions({ env, header, cwd, description }: Options): void {
  const given = env.length > 0 ? "-e" : header.length > 0 ? "-H" : cwd === undefined ? "--description" : "--cwd";
  if (env.length === 0 && header.length === 0 && cwd === undefined && description === undefined) return;
  throw new HubError("InvalidArgument", `${given} is not for a server of a registry: --set gives its inputs`, {
    hint: "Add it, then: plugboard edit NAME",
  });
}

function givenValues({ set, secret }: Options, draft: RegistryDraft | undefined): NonNullable<RegistryAdd["values"]> {
  const values: NonNullable<RegistryAdd["values"]> = {};
  const isPath = new Set(draft?.inputs.filter(({ format }) => format === "filepath").map(({ name }) => name));
  for (const word of set) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw new HubError("InvalidArgument", "--set needs NAME=VALUE", { field: "set" });
    }
    const name = word.slice(0, equals);
    values[name] = isPath.has(name) ? absolute(word.slice(equals + 1)) : word.slice(equals + 1);
  }
  for (const word of secret) {
    const [name = "", stored = name] = word.split("=", 2);
    values[name] = { secret_ref: stored };
  }
  return values;
}

/** The hub may run in another folder. Several are separated by commas. */
function absolute(paths: string): string {
  return paths
    .split(",")
    .map((path) => (path.trim() === "" || /^(?:~|\$\{)/.test(path.trim()) ? path : resolve(path.trim())))
    .join(",");
}

/** Asks for each required input that has no value. An empty answer leaves it out: adding then says what is missing. */
async function askMissing(
  io: Io,
  { inputs }: RegistryDraft,
  values: NonNullable<RegistryAdd["values"]>,
): Promise<void> {
  for (const input of inputs) {
    if (!input.required || input.default !== null || values[input.name] !== undefined) continue;
    const answer = await ask(io, input);
    if (answer !== "") values[input.name] = input.format === "filepath" ? absolute(answer) : answer;
  }
}

async function ask(io: Io, { name, description, secret, choices, placeholder }: RegistryInput): Promise<string> {
  if (description !== null) io.stderr.write(`${description}\n`);
  const hint = choices.length > 0 ? ` (${choices.join(", ")})` : placeholder === null ? "" : ` (as ${placeholder})`;
  if (secret) return readHidden(io, `${name}${hint}: `);
  return (await askLine(io, `${name}${hint}: `)) ?? "";
}
