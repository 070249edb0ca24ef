// Builds the web interface into dist/ui, unless its sources are those of the last build.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const UI = join(ROOT, "ui");
const DIST = join(ROOT, "hub/dist");
const OUTPUT = join(DIST, "ui");
/** The sources of the last build. Beside the output, which is published as it is. */
const STAMP = join(DIST, "ui.build");

export async function buildUi() {
  const sources = await hashOfSources();
  const built = await readFile(STAMP, "utf8").catch(() => "");
  if (built === sources && existsSync(OUTPUT)) return;
  // Into another folder first: a hub may be reading the old files.
  await runVite("../hub/dist/.ui-new");
  await rm(STAMP, { force: true });
  await rm(OUTPUT, { recursive: true, force: true });
  await rename(join(DIST, ".ui-new"), OUTPUT);
  await writeFile(STAMP, sources);
}

/** With the versions of all libraries: they are part of what is built. */
async function hashOfSources() {
  const entries = await readdir(UI, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter(
      (entry) => entry.isFile() && !/[\\/]node_modules(?:[\\/]|$)|\.test\.ts$/.test(join(entry.parentPath, entry.name)),
    )
    .map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const path of [join(ROOT, "package-lock.json"), ...paths.toSorted()])
    hash.update(`${path.slice(ROOT.length)}\0`).update(await readFile(path));
  return hash.digest("hex");
}

/**
 * In a process of its own: the tests' Vite is in this one.
 *
 * @param {string} outDir
 */
async function runVite(outDir) {
  const require = createRequire(join(UI, "package.json"));
  const vite = join(dirname(require.resolve("vite/package.json")), "bin/vite.js");
  const child = spawn(execPath, [vite, "build", "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"], {
    cwd: UI,
    stdio: "inherit",
    env: { ...process.env, NODE_ENV: "production" },
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`The web interface cannot be built: vite exited with ${code}`);
}
