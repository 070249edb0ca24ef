// Peers from npm, in exact versions, outside of our own dependencies: installed when they are first asked for.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PEERS } from "../places.ts";

export interface Package {
  readonly name: string;
  readonly version: string;
  /** The program, from the package's folder. */
  readonly bin: string;
}

const LIMIT_MS = 180_000;

/** The full path of its program; undefined where it cannot be installed. */
export async function install({ name, version, bin }: Package): Promise<string | undefined> {
  const folder = join(PEERS, `${name}-${version}`);
  const program = join(folder, "node_modules", name, bin);
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: version } }));
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const npm = spawn("npm", args, { cwd: folder, stdio: "ignore", timeout: LIMIT_MS, killSignal: "SIGKILL" });
  const code = await once(npm, "exit").then(
    () => npm.exitCode,
    () => null,
  );
  if (code === 0 && existsSync(program)) return program;
  // A half of it must not be taken for the whole next time.
  await rm(folder, { recursive: true, force: true });
  return undefined;
}
