// One run of `npm install` into a folder of its own, as a process group that ends with the hub. What is on record about
// it, and who may use it, is left to packages.ts.

import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import * as z from "zod/mini";
import { HubError } from "../../errors.ts";
import { diagnoseInstall } from "../diagnose.ts";
import { START_VARIABLE } from "../environment.ts";
import type { Guard } from "../guard.ts";
import { ServerProcess } from "../process.ts";
import { manifest, type Manifest } from "./program.ts";
import type { NpmTools } from "./tools.ts";

export interface InstallOptions {
  /** `name@version`, by grammar. */
  readonly spec: string;
  readonly name: string;
  /** What npm has heard from the registry minutes ago does not count. */
  readonly anew: boolean;
  /** It is made here. */
  readonly folder: string;
  readonly tools: NpmTools;
  /** The server's whole environment: registries, proxies and tokens are as they would be for npx. */
  readonly env: Readonly<Record<string, string>>;
  readonly guard: Guard;
  readonly signal: AbortSignal;
  /** What npm writes to stderr. */
  readonly onOutput: (chunk: Buffer) => void;
}

export interface Installed {
  readonly manifest: Manifest;
  readonly integrity: string | null;
}

const SEARCHED_LINES = 50;
/** The user's own settings stay, except for those by which npm would do something else than install here. */
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
  const { spec, anew, folder, tools, guard, signal, onOutput } = options;
  await makeProject(options);
  const [program, ...first] = tools.npm;
  const command = {
    command: program,
    args: [...first, "install", ...OPTIONS, ...(anew ? ["--prefer-online"] : []), `--prefix=${folder}`, "--", spec],
    cwd: folder,
    env: environmentOf(options),
    launcher: "npx",
  } as const;
  const npm = await ServerProcess.spawn(command, { guard, graceMs: GRACE_MS, onStderr: onOutput });
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

/**
 * npm refuses a list of allowed scripts in the environment of such an install, and takes it of npx. In the project it says
 * the same.
 */
function projectOf({ env }: InstallOptions): object {
  const names = Object.entries(env).flatMap(([name, value]) => (ALLOW_SCRIPTS.test(name) ? value.split(",") : []));
  const allowed = names.map((name) => name.trim()).filter((name) => name !== "");
  return {
    private: true,
    ...(allowed.length === 0 ? {} : { allowScripts: Object.fromEntries(allowed.map((name) => [name, true])) }),
  };
}

function environmentOf({ env, tools }: InstallOptions): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !ALLOW_SCRIPTS.test(name));
  // Install scripts find the node that will run what they make.
  const path = [dirname(tools.node), env["PATH"] ?? ""].filter((part) => part !== "").join(delimiter);
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

/** The rest of a package.json is long, and nobody asks for it. */
function pick({ name, version, bin }: Manifest): Manifest {
  return { name, version, ...(bin === undefined ? {} : { bin }) };
}
