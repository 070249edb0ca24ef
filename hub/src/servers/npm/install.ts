// Runs `npm install` into a separate folder, in a process group that ends with the hub.

import { randomBytes } from "node:crypto";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import * as z from "zod/mini";
import { HubError } from "../../errors.ts";
import { exists } from "@plugboard/shared/files/exists";
import { diagnoseInstall } from "../process/diagnose.ts";
import { START_VARIABLE } from "../process/environment.ts";
import type { Watchdog } from "../process/watchdog.ts";
import { ServerProcess } from "../process/process.ts";
import { manifest, type Manifest } from "./program.ts";

export interface InstallOptions {
  /** `name@version`, by grammar. */
  readonly spec: string;
  readonly name: string;
  /** Query the registry again, ignoring npm's cache. */
  readonly anew: boolean;
  /** Created here. */
  readonly folder: string;
  readonly npm: Npm;
  /** The server's whole environment, so that registries, proxies and tokens are the same as for npx. */
  readonly env: Readonly<Record<string, string>>;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
  /** npm's stderr. */
  readonly onOutput: (chunk: Buffer) => void;
}

/** npm as a command line without arguments. */
export type Npm = readonly [command: string, ...args: string[]];

/** The npm beside the hub's Node, or else the first one in PATH. Always run by the hub's Node. */
export async function findNpm(path = ""): Promise<Npm | undefined> {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of [dirname(process.execPath), ...folders]) {
    const npm =
      process.platform === "win32" ? join(folder, "node_modules", "npm", "bin", "npm-cli.js") : join(folder, "npm");
    if (!(await exists(npm))) continue;
    const script = await realpath(npm);
    return script.endsWith(".js") ? [process.execPath, script] : [npm];
  }
  return undefined;
}

export interface Installed {
  readonly manifest: Manifest;
  readonly integrity: string | null;
}

const SEARCHED_LINES = 50;
/** Overrides user settings that would make npm do something else than install here. */
const OPTIONS = [
  "--global=false",
  "--location=project",
  "--workspaces=false",
  "--dry-run=false",
  "--package-lock=true",
  "--package-lock-only=false",
  "--bin-links=true",
  "--save=true",
  "--audit=false",
  "--fund=false",
  "--update-notifier=false",
  "--progress=false",
];
const ALLOW_SCRIPTS = /^npm_config_allow_scripts$/i;
const GRACE_MS = { stdin: 0, term: 2000 };

export async function installPackage(options: InstallOptions): Promise<Installed> {
  const { spec, anew, folder, watchdog, signal, onOutput } = options;
  await makeProject(options);
  const [program, ...first] = options.npm;
  const command = {
    command: program,
    args: [...first, "install", ...OPTIONS, ...(anew ? ["--prefer-online"] : []), `--prefix=${folder}`, "--", spec],
    cwd: folder,
    env: environmentOf(options),
    launcher: "npx",
  } as const;
  const npm = await ServerProcess.spawn(command, { watchdog, graceMs: GRACE_MS, onStderr: onOutput });
  npm.stdin.end();
  npm.stdout.resume();
  const end = () => void npm.kill();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const exit = await npm.exited;
  signal.removeEventListener("abort", end);
  if (signal.aborted) throw new HubError("Cancelled", "The install was cancelled");
  if (exit.code !== 0) throw diagnoseInstall(spec, exit, npm.stderr.tail(SEARCHED_LINES));
  return readInstalled(options);
}

async function makeProject(options: InstallOptions): Promise<void> {
  const { folder } = options;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, "package.json"), JSON.stringify(projectOf(options)), { mode: 0o600 });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new HubError("IoError", `Cannot write ${folder}`, { detail, cause: error });
  }
}

/** npm accepts a list of allowed scripts in the environment of npx, but not of an install: there it is part of the project. */
function projectOf({ env }: InstallOptions): object {
  const names = Object.entries(env).flatMap(([name, value]) => (ALLOW_SCRIPTS.test(name) ? value.split(",") : []));
  const allowed = names.map((name) => name.trim()).filter((name) => name !== "");
  return {
    private: true,
    ...(allowed.length === 0 ? {} : { allowScripts: Object.fromEntries(allowed.map((name) => [name, true])) }),
  };
}

function environmentOf({ env }: InstallOptions): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !ALLOW_SCRIPTS.test(name));
  // Install scripts must find the Node that will run the package.
  const path = [dirname(process.execPath), env["PATH"] ?? ""].filter((part) => part !== "").join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, [START_VARIABLE]: `install.${randomBytes(8).toString("hex")}` };
}

const lock = z.looseObject({ packages: z.record(z.string(), z.looseObject({ integrity: z.optional(z.string()) })) });

async function readInstalled({ folder, name, spec }: InstallOptions): Promise<Installed> {
  try {
    const [own, locked] = await Promise.all(
      [join("node_modules", name, "package.json"), "package-lock.json"].map(async (file): Promise<unknown> =>
        JSON.parse(await readFile(join(folder, file), "utf8")),
      ),
    );
    const { integrity } = lock.parse(locked).packages[`node_modules/${name}`] ?? {};
    return { manifest: pick(manifest.parse(own)), integrity: integrity ?? null };
  } catch (error) {
    const about = { detail: error instanceof Error ? error.message : String(error), cause: error };
    throw new HubError("IoError", `npm left no usable ${spec}`, about);
  }
}

/** The rest of a package.json is long and not needed. */
function pick({ name, version, bin }: Manifest): Manifest {
  return { name, version, ...(bin === undefined ? {} : { bin }) };
}
