// The transport of a server, from both spellings of its entry. servers/process/command-line.ts adds options for the launcher.

import { HubError } from "../../errors.ts";
import { registryOf, toSource } from "./source.ts";
import { requireIdentifier } from "../schema/identifier.ts";
import type { PackageType } from "../schema/identifier.ts";
import { ARGS_MAX } from "../schema/limits.ts";
import { declaredKind, toRemote } from "./remote.ts";
import { parseWith } from "../schema/schema.ts";
import type { PackageEntry, ServerEntry } from "../schema/schema.ts";
import { command as commandRule } from "../schema/text.ts";
import { quoted } from "./error-path.ts";
import type { Launcher, RemoteTransport, StdioTransport, Transport } from "../schema/types.ts";

/** The transport of an entry: from `package`, `command`, or `url`, in this order. */
export function toTransport(entry: ServerEntry): Transport {
  const transport = chooseTransport(entry);
  if (entry.hardened === true && !(transport.type === "stdio" && transport.launcher === "docker")) {
    throw invalid("hardened", "Only docker servers can be hardened");
  }
  if (entry.npm !== undefined && !(transport.type === "stdio" && transport.launcher === "npx")) {
    throw invalid("npm", "npm is only allowed for servers that are npm packages");
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
  throw registryOf(toSource(entry.source)) === undefined ? transportRequired() : onlySource();
}

function onlySource(): HubError {
  return new HubError("InvalidConfig", "It names only its source, which has to be completed from its registry", {
    field: "source",
    hint: "A running hub does that: plugboard start",
  });
}

/** `command: "http"`: the url is the first argument. */
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

/** The command line for a package of each type (CF-2). The runtime hint chooses the runner. */
const LAUNCHES: Readonly<Record<Exclude<PackageType, "http">, (identifier: string, hint: string) => Launch>> = {
  npm: (identifier, hint) => launchWith(NPM_RUNNERS, identifier, hint),
  pypi: (identifier, hint) => launchWith(PYPI_RUNNERS, identifier, hint),
  docker: (identifier, hint) => launchWith(DOCKER_RUNNERS, identifier, hint),
  // The hint is an interpreter for the file; without one the file is the program.
  binary: (identifier, hint) =>
    hint === ""
      ? { command: parseWith(commandRule, identifier, "package.identifier"), args: [] }
      : { command: parseWith(commandRule, hint, "package.runtime_hint"), args: [identifier] },
};

/** The arguments before the package, by runner. The first runner is the default. */
type Runners = Readonly<Record<string, readonly string[]>>;

const NPM_RUNNERS: Runners = { npx: ["-y"], bunx: [], bun: ["x"], pnpm: ["dlx"], pnpx: [], yarn: ["dlx"] };
const PYPI_RUNNERS: Runners = { uvx: [], uv: ["tool", "run"], pipx: ["run"], python: ["-m"], python3: ["-m"] };
const DOCKER_RUNNERS: Runners = { docker: ["run", "--rm", "-i"], podman: ["run", "--rm", "-i"] };

/** An unknown hint (`node`) selects the default runner. An edit through the hub rejects it. */
function launchWith(runners: Runners, identifier: string, hint: string): Launch {
  const isKnown = Object.hasOwn(runners, launcherName(hint));
  const command = isKnown ? parseWith(commandRule, hint, "package.runtime_hint") : (Object.keys(runners)[0] ?? "");
  return { command, args: [...(runners[launcherName(command)] ?? []), identifier] };
}

const RUNNERS: Readonly<Partial<Record<PackageType, Runners>>> = {
  npm: NPM_RUNNERS,
  pypi: PYPI_RUNNERS,
  docker: DOCKER_RUNNERS,
};

/** Throws for a runtime hint that would be ignored. */
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

/** The declared type, else the type that the hint implies. */
function typeOf(pkg: ServerEntry["package"], hint: string): PackageType | undefined {
  const declared = pkg?.type ?? pkg?.package_type ?? pkg?.packageType ?? pkg?.registryType ?? pkg?.registry_type;
  return declared === undefined ? TYPE_OF_HINT[launcherName(hint)] : toPackageType(declared);
}

/** Appends the version, which the registry has in a separate field. An identifier with a version is unchanged. */
function withVersion(type: Exclude<PackageType, "http">, identifier: string, version: string): string {
  if (version === "" || type === "binary") return identifier;
  if (type === "npm") return identifier.lastIndexOf("@") > 0 ? identifier : `${identifier}@${version}`;
  if (type === "pypi") return /[@=<>~!]/.test(identifier) ? identifier : `${identifier}==${version}`;
  const name = identifier.slice(identifier.lastIndexOf("/") + 1);
  return /[:@]/.test(name) ? identifier : `${identifier}:${version}`;
}

/** Throws if an entry with a `package` does not declare its transport. */
export function requireDeclaredTransport({ package: pkg, transport, type, url }: ServerEntry): void {
  if (!pkg || transport || type || url || pkg.transport) return;
  const kind = pkg.type ?? pkg.package_type ?? pkg.packageType ?? "";
  if (kind.toLowerCase() !== "http") throw transportRequired();
}

function transportRequired(): HubError {
  return new HubError("InvalidConfig", "Transport required", {
    field: "transport",
    hint: 'Set a command, a url, or a package with its transport: "stdio", or {"type": "http", "url": "…"}',
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
