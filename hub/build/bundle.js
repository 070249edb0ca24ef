// Makes what users run: `npm run bundle`, and before any test, so that tests run it too, as the sources are now. A file that
// stays the same is left alone: a hub may be running from it.

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { argv, pid } from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { FOLDERS, programs } from "./programs.js";
import { buildUi } from "./ui.js";

export default async function bundle() {
  await buildUi();
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  for (const { folder, options } of programs) {
    const { output } = await build({ ...options, write: false });
    for (const part of output) {
      files.set(join(folder, part.fileName), Buffer.from(part.type === "chunk" ? part.code : part.source));
    }
  }
  for (const [path, content] of files) await replace(path, content);
  for (const folder of FOLDERS) {
    const names = (await readdir(folder)).filter((name) => !files.has(join(folder, name)));
    for (const name of names) await rm(join(folder, name), { recursive: true });
  }
}

/**
 * @param {string} path
 * @param {Buffer} content
 */
async function replace(path, content) {
  const old = await readFile(path).catch(() => undefined);
  if (old?.equals(content)) return;
  const temp = join(dirname(dirname(path)), `.bundle-${pid}.tmp`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(temp, content);
  await rename(temp, path);
}

if (argv[1] === fileURLToPath(import.meta.url)) await bundle();
