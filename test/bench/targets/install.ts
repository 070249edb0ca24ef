// Peers from package registries, in exact versions, not in our own dependencies: installed on first use.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PEERS } from "../places.ts";

export interface Package {
  readonly from: "npm" | "crates.io" | "go" | "pypi";
  readonly name: string;
  readonly version: string;
  /** The program: relative to the package's folder (npm), else its name. */
  readonly bin: string;
}

/** Nothing is measured during the installation. A registry may be slow, and a Rust program takes minutes to build. */
const LIMIT_MS = 1_800_000;

interface Source {
  /** The program, relative to the folder of the installation. */
  readonly program: (pack: Package) => string;
  /** A file that names the package, if the installer reads one. */
  readonly manifest?: (pack: Package) => readonly [name: string, text: string];
  readonly commands: (pack: Package, folder: string) => readonly (readonly string[])[];
}

const SOURCES: Readonly<Record<Package["from"], Source>> = {
  npm: {
    program: ({ name, bin }) => join("node_modules", name, bin),
    manifest: ({ name, version }) => [
      "package.json",
      JSON.stringify({ private: true, dependencies: { [name]: version } }),
    ],
    // Our npm settings enforce the Node versions of packages; whether a peer runs is seen when it is started.
    commands: () => [
      ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false", "--loglevel=error"],
    ],
  },
  "crates.io": {
    program: ({ bin }) => join("bin", bin),
    commands: ({ name, version }, folder) => [
      ["cargo", "install", name, "--version", version, "--locked", "--quiet", "--root", folder],
    ],
  },
  go: {
    program: ({ bin }) => join("bin", bin),
    // `go install` needs the list of all versions, which some proxies do not give.
    manifest: ({ name, version }) => ["go.mod", `module bench\n\ngo 1.23\n\nrequire ${name} v${version}\n`],
    commands: ({ name, bin }) => [["go", "build", "-mod=mod", "-o", join("bin", bin), name]],
  },
  pypi: {
    program: ({ bin }) => join("bin", bin),
    commands: ({ name, version }, folder) => [
      ["python3", "-m", "venv", folder],
      [join(folder, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", `${name}==${version}`],
    ],
  },
};

/** The full path of its program. Throws the output of the installer if it fails, and if there is no installer. */
export async function install(pack: Package): Promise<string> {
  const { from, name, version } = pack;
  const source = SOURCES[from];
  const folder = join(PEERS, `${from}-${name.replaceAll("/", "-")}-${version}`);
  const program = join(folder, source.program(pack));
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const [file, text] = source.manifest?.(pack) ?? [];
  if (file !== undefined && text !== undefined) await writeFile(join(folder, file), text);
  for (const command of source.commands(pack, folder)) {
    const problem = await run(command, folder);
    if (problem === undefined) continue;
    // A partial installation must not be used by the next run.
    await rm(folder, { recursive: true, force: true });
    throw new Error(`${name} ${version} could not be installed: ${problem}`);
  }
  if (!existsSync(program)) throw new Error(`${name} ${version} was installed without ${program}`);
  return program;
}

/** Undefined if it succeeds. */
async function run([program = "", ...args]: readonly string[], cwd: string): Promise<string | undefined> {
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const isThere = await once(child, "close").then(
    () => true,
    () => false,
  );
  if (!isThere) return `there is no ${program}`;
  if (child.exitCode === 0) return undefined;
  const how = child.signalCode === null ? `exit code ${child.exitCode}` : `not done in ${LIMIT_MS / 1000} s`;
  return `${how}; ${program} said: ${said.trim().slice(-500)}`;
}
