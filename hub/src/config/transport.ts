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
  if (entry.package) return fromPackage(entry.package, entry);
  const { command } = entry;
  if (command === "http") return fromHttpCommand(entry);
  const remote = toRemote(entry);
  if (command && remote) throw invalid("url", "An entry has either a command or a url, not both");
  if (command) return stdio(entry, { command, args: entry.args ?? [] });
  if (remote) return remote;
  throw new HubError("InvalidConfig", "Transport required", {
    field: "transport",
    hint: "Give a command, a url, or a package",
  });
}

/** The source spec's `command: "http"`: the address is the first argument. */
function fromHttpCommand(entry: ServerEntry): RemoteTransport {
  const remote = toRemote(entry) ?? toRemote({ ...entry, url: entry.args?.[0] }, "args.0");
  if (remote) return remote;
  throw invalid("args.0", 'The command "http" needs a url as its first argument');
}

function fromPackage(pkg: PackageEntry, entry: ServerEntry): Transport {
  const identifier = pkg.identifier?.trim() ?? "";
  if (identifier === "") throw invalid("package.identifier", "Package identifier required");
  const hint = launcherName(pkg.runtime_hint ?? pkg.runtimeHint ?? "");
  const type = toPackageType(pkg.type ?? pkg.package_type ?? pkg.packageType ?? TYPE_OF_HINT[hint] ?? "");
  if (type === "http") return toRemote(entry) ?? fromHttpIdentifier(identifier, entry);
  if (toRemote(entry) || (declaredKind(entry) ?? "stdio") !== "stdio") {
    throw invalid("transport", `A ${type} package is started over stdio; use package type http for a url`);
  }
  requireIdentifier(type, identifier);
  const args = [...(pkg.args ?? []), ...(entry.args ?? [])];
  if (args.length > ARGS_MAX) throw invalid("args", `At most ${ARGS_MAX} arguments are allowed`);
  const launch = LAUNCHES[type](identifier, hint);
  return stdio(entry, { command: launch.command, args: [...launch.args, ...args] });
}

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** What starts a package of each type (CF-2). */
const LAUNCHES: Readonly<Record<Exclude<PackageType, "http">, (identifier: string, hint: string) => Launch>> = {
  npm: (identifier) => ({ command: "npx", args: ["-y", identifier] }),
  pypi: (identifier) => ({ command: "uvx", args: [identifier] }),
  docker: (identifier, hint) => ({
    command: hint === "podman" ? "podman" : "docker",
    args: ["run", "--rm", "-i", identifier],
  }),
  binary: (identifier) => ({ command: parseWith(commandRule, identifier, "package.identifier"), args: [] }),
};

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
