// Whether npm and Python's package index have a package of a name, asked through their own programs, so that registries,
// proxies and credentials are those that an install would use. Not to know is an answer, too.

import { execFile } from "node:child_process";
import type { Io } from "./io.ts";

/** Undefined where it cannot be told: no such program, no network, no answer in time. */
export interface Found {
  readonly npm: boolean | undefined;
  readonly pypi: boolean | undefined;
}

type Surroundings = Pick<Io, "env" | "home">;

const ANSWER_MS = 10_000;
const MAX_OUTPUT_BYTES = 1 << 20;

/** @param name without a version; the caller has made sure that it is a package's name and no option. */
export async function findInRegistries(name: string, io: Pick<Io, "env" | "home">): Promise<Found> {
  const [npm, pypi] = await Promise.all([isOnNpm(name, io), isOnPypi(name, io)]);
  return { npm, pypi };
}

async function isOnNpm(name: string, io: Surroundings): Promise<boolean | undefined> {
  const args = ["view", "--json", "--fetch-retries=0", "--loglevel=silent", "--", name, "name"];
  const { code, stdout } = await run("npm", args, io);
  // A name without a version that can be installed is answered with nothing.
  if (code === 0) return stdout.trim() !== "";
  return /"code": ?"(?:E404|ENOVERSIONS)"/.test(stdout) ? false : undefined;
}

async function isOnPypi(name: string, io: Surroundings): Promise<boolean | undefined> {
  const compile = ["pip", "compile", "-", "--no-deps", "--no-header", "--quiet", "--no-python-downloads"];
  const uv = await run("uv", compile, io, `${name}\n`);
  if (uv.code === 0) return true;
  if (uv.code !== undefined && /was not found in the package registry/.test(uv.stderr)) return false;
  // It is there, for another Python.
  if (uv.code !== undefined && /requires Python|does not satisfy Python/.test(uv.stderr)) return true;
  const pip = await run("pip", ["index", "versions", "--disable-pip-version-check", "--retries=0", "--", name], io);
  if (pip.code === 0) return true;
  if (/require a different python version/.test(pip.stderr)) return true;
  return /No matching distribution found/.test(pip.stderr) && !/connection|retrying/i.test(pip.stderr)
    ? false
    : undefined;
}

interface Run {
  /** Undefined where it could not be run to its end. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], { env, home }: Surroundings, input = ""): Promise<Run> {
  return new Promise((resolve) => {
    // Not in the folder where somebody happens to be: its settings are not those of the hub.
    const options = { env, cwd: home, timeout: ANSWER_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ code: typeof code === "number" ? code : undefined, stdout, stderr });
    });
    child.stdin?.on("error", () => undefined); // it ended before it read
    child.stdin?.end(input);
  });
}
