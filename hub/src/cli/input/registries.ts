// Asks npm and uv whether their registries have a package. Using the programs respects their registries, proxies and
// credentials.

import { execFile } from "node:child_process";
import type { Io } from "../io.ts";

/** Undefined if unknown: program missing, no network, or timeout. */
export interface Found {
  readonly npm: boolean | undefined;
  readonly pypi: boolean | undefined;
}

type LookupContext = Pick<Io, "env" | "home"> & {
  /** Overall timeout. */
  readonly deadline: AbortSignal;
};

const ANSWER_MS = 10_000;
const MAX_OUTPUT_BYTES = 1 << 20;

/** @param name without a version; the caller has checked that it is a package name and not an option. */
export async function findInRegistries(
  name: string,
  { env, home }: Pick<Io, "env" | "home">,
  deadline = AbortSignal.timeout(ANSWER_MS),
): Promise<Found> {
  const around = { env, home, deadline };
  const [npm, pypi] = await Promise.all([isOnNpm(name, around), isOnPypi(name, around)]);
  return { npm, pypi };
}

async function isOnNpm(name: string, io: LookupContext): Promise<boolean | undefined> {
  const args = ["view", "--json", "--fetch-retries=0", "--loglevel=silent", "--", name, "name"];
  const { code, stdout } = await run("npm", args, io);
  // npm prints nothing for a name without an installable version.
  if (code === 0) return stdout.trim() !== "";
  return /"code": ?"(?:E404|ENOVERSIONS)"/.test(stdout) ? false : undefined;
}

async function isOnPypi(name: string, io: LookupContext): Promise<boolean | undefined> {
  const compile = ["pip", "compile", "-", "--no-deps", "--no-header", "--quiet", "--no-python-downloads"];
  const uv = await run("uv", compile, io, `${name}\n`);
  if (uv.code === 0) return true;
  if (uv.code !== undefined && /was not found in the package registry/.test(uv.stderr)) return false;
  // The package exists for another version of Python.
  if (uv.code !== undefined && /requires Python|does not satisfy Python/.test(uv.stderr)) return true;
  const pip = await run("pip", ["index", "versions", "--disable-pip-version-check", "--retries=0", "--", name], io);
  if (pip.code === 0) return true;
  if (/require a different python version/.test(pip.stderr)) return true;
  return /No matching distribution found/.test(pip.stderr) && !/connection|retrying/i.test(pip.stderr)
    ? false
    : undefined;
}

interface Run {
  /** Undefined if it could not be run to its end. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

const NO_ANSWER: Run = { code: undefined, stdout: "", stderr: "" };

function run(
  program: string,
  args: readonly string[],
  { env, home, deadline }: LookupContext,
  input = "",
): Promise<Run> {
  if (deadline.aborted) return Promise.resolve(NO_ANSWER);
  return new Promise((resolve) => {
    // Not in the current folder: its npm or uv settings do not apply to the hub.
    const options = { env, cwd: home, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      deadline.removeEventListener("abort", giveUp);
      const code = error === null ? 0 : error.code;
      resolve({ code: typeof code === "number" ? code : undefined, stdout, stderr });
    });
    const giveUp = () => {
      child.kill("SIGKILL");
      // Grandchildren may keep the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(NO_ANSWER);
    };
    deadline.addEventListener("abort", giveUp, { once: true });
    child.stdin?.on("error", () => undefined); // it exited before reading
    child.stdin?.end(input);
  });
}
