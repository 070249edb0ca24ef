// What the folder that a server runs in has of its package by itself: npx takes that before it downloads anything.

import { readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exists } from "../../exists.ts";
import type { NpxCall } from "./npx-call.ts";
import { findBin, inside, manifest, type Manifest } from "./program.ts";

export interface LocalPackage {
  /** The folder that it stands in: that of `node_modules`. */
  readonly root: string;
  readonly version: string;
  /** Its program, as a path. */
  readonly file: string;
}

/**
 * The package of the folder; "unclear" where only npx can tell what it would run, or how it would be downloaded;
 * undefined where the folder has nothing to do with it.
 */
export async function findLocal(
  call: NpxCall,
  { cwd, home }: { cwd: string; home: string | undefined },
): Promise<LocalPackage | "unclear" | undefined> {
  const folders = upwardsFrom(cwd);
  const root = await nearestRoot(folders);
  for (const folder of folders) {
    const found = await readManifest(join(folder, "node_modules", call.name));
    if (found === undefined) continue;
    return folder === root ? choose(call, found, folders, root) : "unclear";
  }
  if (await isProgramHere(call, folders, root)) return "unclear";
  // Registries and tokens of a project: npm reads them where npx is run.
  const settings = folders.filter((folder) => folder !== home).map((folder) => exists(join(folder, ".npmrc")));
  return (await Promise.all(settings)).includes(true) ? "unclear" : undefined;
}

async function choose(
  call: NpxCall,
  found: Manifest,
  folders: readonly string[],
  root: string,
): Promise<LocalPackage | "unclear"> {
  const fits = call.wanted === "" || call.exact === found.version;
  const folder = join(root, "node_modules", call.name);
  const bin = findBin(found, call.program);
  const file = bin === undefined ? undefined : inside(folder, bin);
  if (!fits || file === undefined || !(await exists(file))) return "unclear";
  // npx looks for a program of the package's name first, whichever package it belongs to.
  const shadow = await findProgram(call, folders);
  if (shadow !== undefined && (await realpath(file)) !== shadow) return "unclear";
  return { root, version: found.version, file };
}

/** A program of this name in any folder on the way up, or of the project itself. */
async function isProgramHere(call: NpxCall, folders: readonly string[], root: string): Promise<boolean> {
  if ((await findProgram(call, folders)) !== undefined) return true;
  const own = call.program === undefined ? await readManifest(root) : undefined;
  return own !== undefined && findBin(own, call.spec) !== undefined;
}

async function findProgram(call: NpxCall, folders: readonly string[]): Promise<string | undefined> {
  if (call.program !== undefined || call.spec.includes("/")) return undefined;
  for (const folder of folders) {
    const real = await realpath(join(folder, "node_modules", ".bin", call.spec)).catch(() => undefined);
    if (real !== undefined) return real;
  }
  return undefined;
}

function upwardsFrom(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...upwardsFrom(parent)];
}

/** What npm takes for the project: the nearest folder with a package.json or with node_modules. */
async function nearestRoot(folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    if ((await exists(join(folder, "package.json"))) || (await exists(join(folder, "node_modules")))) return folder;
  }
  return folders[0] ?? "/";
}

async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const parsed = manifest.safeParse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined; // there is none, or it is none
  }
}
