// How a server is reached, from either spelling of its entry. Starting it, and the options that the hub adds to a
// launcher, are left to servers/launch.ts.

import { HubError } from "../errors.ts";
import { requireIdentifier } from "./identifier.ts";
import type { PackageType } from "./identifier.ts";
import { ARGS_MAX } from "./limits.ts";
import { declaredKind, toRemote } from "./remote.ts";
import { parseWith } from "./schema.ts";
import type { PackageEntry, ServerEntry } from "./schema.ts";
import { command as commandRule } from "./text.ts";
import { quoted } from "./where.ts";
import type { Launcher, RemoteTransport, StdioTransport, Transport } from "./types.ts";

/** The transport of an entry: from `package`, `command`, or `url`, in this order. */
export function toTransport(entry: ServerEntry): Transport {
  const transport = chooseTransport(entry);
  if (entry.hardened === true && !(transport.type === "stdio" && transport.launcher === "docker")) {
    throw invalid("hardened", "Only docker servers can be hardened");
  }
  if (entry.npm !== undefined && !(transport.type === "stdio" && transport.launcher === "npx")) {
    throw invalid("npm", "Only a server that is an npm package can say how that is run");
  }
  return transport;
}

function chooseTransport(entry: ServerEntry): Transport {
  if (typeof entry.transport === "string" && entry.transport.trim() === "") throw transportRequired();
  if (entry.package) return fromPackage(entry.package, entry);
  const { command } = entry;
  if (command === "http") return fromHttpCommand(entry);
  const remote = toRemote(entry);
  if (command && remote) throw invalid("url", "An entry has either a command or a url, not both");
  if (command) return stdio(entry, { command, args: entry.args ?? [] });
  if (remote) return remote;
  throw isCatalogued(entry) ? notFromCatalogue() : transportRequired();
}

/** A source names what to run, but where to get it is not known here yet. */
function isCatalogued({ source }: ServerEntry): boolean {
  const type = (typeof source === "string" ? source : source?.type)?.toLowerCase();
  const parts = typeof source === "object" ? source : undefined;
  return type === "official" || type === "smithery" || !!parts?.Official || !!parts?.Smithery;
}

function notFromCatalogue(): HubError {
  return new HubError(
    "InvalidConfig",
    "A source alone is not enough: Smithery and the official registry cannot be asked yet",
    {
      field: "source",
      hint: 'Give the package and transport that they name, such as {"type": "npm", "identifier": "…"} with "stdio", or the url; the source may stay',
    },
  );
}

/** The source spec's `command: "http"`: the address is the first argument. */
function fromHttpCommand(entry: ServerEntry): RemoteTransport {
  const remote = toRemote(entry) ?? toRemote({ ...entry, url: entry.args?.[0] }, "args.0");
  if (remote) return remote;
  throw invalid("args.0", 'The command "http" needs a url as its first argument');
}

function fromPackage(pkg: PackageEntry, given: ServerEntry): Transport {
  const identifier = pkg.identifier?.trim() ?? "";
  if (identifier === "") throw invalid("package.identifier", "Package identifier required");
  const entry = given.transport == null && pkg.transport != null ? { ...given, transport: pkg.transport } : given;
  const hint = hintOf(pkg);
  const type = typeOf(pkg, hint) ?? toPackageType("");
  if (type === "http") return toRemote(entry) ?? fromHttpIdentifier(identifier, entry);
  if (toRemote(entry) || (declaredKind(entry) ?? "stdio") !== "stdio") {
    throw invalid("transport", `A ${type} package is started over stdio; use package type http for a url`);
  }
  const versioned = withVersion(type, identifier, pkg.version?.trim() ?? "");
  requireIdentifier(type, versioned);
  const args = [...(pkg.args ?? []), ...(entry.args ?? [])];
  if (args.length > ARGS_MAX) throw invalid("args", `At most ${ARGS_MAX} arguments are allowed`);
  const launch = LAUNCHES[type](versioned, hint);
  return stdio(entry, { command: launch.command, args: [...launch.args, ...args] });
}

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** What starts a package of each type (CF-2), by the runtime hint: the program that shall run it. */
const LAUNCHES: Readonly<Record<Exclude<PackageType, "http">, (identifier: string, hint: string) => Launch>> = {
  npm: (identifier, hint) => runBy(NPM_RUNNERS, identifier, hint),
  pypi: (identifier, hint) => runBy(PYPI_RUNNERS, identifier, hint),
  docker: (identifier, hint) => runBy(DOCKER_RUNNERS, identifier, hint),
  // An interpreter gets the file; without one the file itself is the program.
  binary: (identifier, hint) =>
    hint === ""
      ? { command: parseWith(commandRule, identifier, "package.identifier"), args: [] }
      : { command: parseWith(commandRule, hint, "package.runtime_hint"), args: [identifier] },
};

/** By the runner's name, what comes before the package; the first one is taken where there is no hint. */
type Runners = Readonly<Record<string, readonly string[]>>;

const NPM_RUNNERS: Runners = { npx: ["-y"], bunx: [], bun: ["x"], pnpm: ["dlx"], pnpx: [], yarn: ["dlx"] };
const PYPI_RUNNERS: Runners = { uvx: [], uv: ["tool", "run"], pipx: ["run"], python: ["-m"], python3: ["-m"] };
const DOCKER_RUNNERS: Runners = { docker: ["run", "--rm", "-i"], podman: ["run", "--rm", "-i"] };

/** What a hint says that is none of them (`node`) leaves it at the usual one; saved through the hub, it is refused. */
function runBy(runners: Runners, identifier: string, hint: string): Launch {
  const isKnown = Object.hasOwn(runners, launcherName(hint));
  const command = isKnown ? parseWith(commandRule, hint, "package.runtime_hint") : (Object.keys(runners)[0] ?? "");
  return { command, args: [...(runners[launcherName(command)] ?? []), identifier] };
}

const RUNNERS: Readonly<Partial<Record<PackageType, Runners>>> = {
  npm: NPM_RUNNERS,
  pypi: PYPI_RUNNERS,
  docker: DOCKER_RUNNERS,
};

/** Refuses a runtime hint that would be passed over. */
export function requireKnownHint({ package: pkg }: ServerEntry): void {
  const hint = hintOf(pkg);
  const type = typeOf(pkg, hint);
  const runners = type === undefined ? undefined : RUNNERS[type];
  if (hint === "" || runners === undefined || Object.hasOwn(runners, launcherName(hint))) return;
  const names = Object.keys(runners);
  throw invalid(
    "package.runtime_hint",
    `The runtime hint ${quoted(hint)} cannot run a package of type ${type}: use ${names.join(", ")}`,
  );
}

function hintOf(pkg: ServerEntry["package"]): string {
  return (pkg?.runtime_hint ?? pkg?.runtimeHint ?? "").trim();
}

/** As declared, or as its hint says. */
function typeOf(pkg: ServerEntry["package"], hint: string): PackageType | undefined {
  const declared = pkg?.type ?? pkg?.package_type ?? pkg?.packageType ?? pkg?.registryType ?? pkg?.registry_type;
  return declared === undefined ? TYPE_OF_HINT[launcherName(hint)] : toPackageType(declared);
}

/** The registry gives the version apart; an identifier that has one keeps it. */
function withVersion(type: Exclude<PackageType, "http">, identifier: string, version: string): string {
  if (version === "" || type === "binary") return identifier;
  if (type === "npm") return identifier.lastIndexOf("@") > 0 ? identifier : `${identifier}@${version}`;
  if (type === "pypi") return /[@=<>~!]/.test(identifier) ? identifier : `${identifier}==${version}`;
  const name = identifier.slice(identifier.lastIndexOf("/") + 1);
  return /[:@]/.test(name) ? identifier : `${identifier}:${version}`;
}

/** Whether an S0-shaped entry says how its package is reached; S0 wants it said. */
export function requireDeclaredTransport({ package: pkg, transport, type, url }: ServerEntry): void {
  if (!pkg || transport || type || url || pkg.transport) return;
  const kind = pkg.type ?? pkg.package_type ?? pkg.packageType ?? "";
  if (kind.toLowerCase() !== "http") throw transportRequired();
}

function transportRequired(): HubError {
  return new HubError("InvalidConfig", "Transport required", {
    field: "transport",
    hint: 'Give a command, a url, or a package with its transport: "stdio", or {"type": "http", "url": "…"}',
  });
}

function fromHttpIdentifier(identifier: string, entry: ServerEntry): RemoteTransport {
  const remote = toRemote({ ...entry, url: identifier }, "package.identifier");
  if (remote) return remote;
  throw invalid("package.identifier", "An http package needs a url");
}

const TYPE_OF_HINT: Readonly<Partial<Record<string, PackageType>>> = {
  npx: "npm",
  uvx: "pypi",
  docker: "docker",
  podman: "docker",
};

function toPackageType(type: string): PackageType {
  const lower = type.toLowerCase();
  switch (lower) {
    case "oci":
      return "docker";
    case "npm":
    case "pypi":
    case "docker":
    case "binary":
    case "http":
      return lower;
    default:
      throw invalid("package.type", "Package type must be npm, pypi, docker, binary or http");
  }
}

function stdio(entry: ServerEntry, { command, args }: Launch): StdioTransport {
  return {
    type: "stdio",
    launcher: toLauncher(command),
    command,
    args,
    ...(entry.cwd ? { cwd: entry.cwd } : {}),
    hardened: entry.hardened ?? false,
  };
}

function toLauncher(command: string): Launcher {
  const name = launcherName(command);
  if (name === "npx" || name === "uvx" || name === "docker") return name;
  return name === "podman" ? "docker" : "binary";
}

/** `C:\Program Files\nodejs\npx.cmd` is npx. */
function launcherName(command: string): string {
  const base = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return base.replace(/\.(exe|cmd|bat|ps1)$/i, "");
}

function invalid(field: string, message: string): HubError {
  return new HubError("InvalidConfig", message, { field });
}
