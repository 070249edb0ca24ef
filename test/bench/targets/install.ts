// Peers from npm, in exact versions, not in our own dependencies: installed on first use.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PEERS } from "../places.ts";

export interface Package {
  readonly name: string;
  readonly version: string;
  /** The program, relative to the package's folder. */
  readonly bin: string;
}

/** Nothing is measured during the installation, and a registry may be slow: mcp-proxy has a hundred packages. */
const LIMIT_MS = 600_000;

/** The full path of its program. Throws npm's output if the installation fails. */
export async function install({ name, version, bin }: Package): Promise<string> {
  const folder = join(PEERS, `${name}-${version}`);
  const program = join(folder, "node_modules", name, bin);
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: version } }));
  // Our npm settings enforce the Node versions of packages; whether a peer runs is seen when it is started.
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false", "--loglevel=error"];
  const stdio = ["ignore", "ignore", "pipe"] as const;
  const npm = spawn("npm", args, { cwd: folder, stdio: [...stdio], timeout: LIMIT_MS, killSignal: "SIGKILL" });
  let said = "";
  npm.stderr?.on("data", (chunk) => (said += chunk));
  const failed = await once(npm, "close").then(
    () => npm.exitCode !== 0,
    () => true, // there is no npm
  );
  if (!failed && existsSync(program)) return program;
  // A partial installation must not be used by the next run.
  await rm(folder, { recursive: true, force: true });
  const how = npm.signalCode === null ? `exit code ${npm.exitCode}` : `not done in ${LIMIT_MS / 1000} s`;
  throw new Error(`${name} ${version} could not be installed: ${how}; npm said: ${said.trim().slice(-500)}`);
}
