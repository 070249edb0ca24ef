// The folders of installed packages: creates, verifies and removes them, and marks those that this hub runs servers from.

import { randomBytes } from "node:crypto";
import { access, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { exists } from "@plugboard/shared/files/exists";
import { installPackage, type Installed, type InstallOptions } from "./install.ts";
import { binsOf, findBin, inside } from "./program.ts";
import { fileNameOf, type PackageRecord } from "./install-record.ts";
import { removeIfFree, USED_BY } from "./prune.ts";

/** Native parts of a package fit only the Node that they were built for. */
export const RUNTIME = `${process.platform}-${process.arch}-${process.versions.modules}`;

export class Installs {
  readonly #folder: string;
  /** Folders without a record that this hub is installing into. */
  readonly inProgress = new Set<string>();
  readonly #claimed = new Set<string>();
  /** Verified since the hub's start, and no start from them has failed since. */
  readonly #verified = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Installs into a new folder. It is in progress until it is completed or discarded. */
  async create(options: Omit<InstallOptions, "folder">): Promise<Installed & { readonly folder: string }> {
    // The pid shows whether a folder without a record is still being installed.
    const folder = `${fileNameOf(options.name)}-${process.pid}-${randomBytes(4).toString("hex")}`;
    this.inProgress.add(folder);
    try {
      return { ...(await installPackage({ ...options, folder: this.path(folder) })), folder };
    } catch (thrown) {
      await this.discard(folder);
      throw thrown;
    }
  }

  /** Its record is written. */
  complete(folder: string): void {
    this.inProgress.delete(folder);
    this.#verified.add(folder);
  }

  async discard(folder: string): Promise<void> {
    // The next hub removes what cannot be removed now.
    await rm(this.path(folder), { recursive: true, force: true }).catch(() => undefined);
    this.inProgress.delete(folder);
  }

  /** For a folder that is no longer on record. Kept if another hub runs servers from it. */
  async removeIfUnused(folder: string): Promise<void> {
    await removeIfFree(this.#folder, folder);
  }

  /** Verify it again before its next use. */
  markSuspect(folder: string): void {
    this.#verified.delete(folder);
  }

  /** Whether a server can be run from it. */
  async isUsable(record: PackageRecord): Promise<boolean> {
    const { folder } = record;
    // Claimed first: from now on no other hub removes it.
    if (record.runtime !== RUNTIME || !(await this.claim(folder))) return false;
    const files = Object.values(binsOf(record.manifest)).map((file) => join(this.#packageIn(record), file));
    if ((await Promise.all(files.map(exists))).includes(false)) return false;
    if (!this.#verified.has(folder) && (await isIntact(this.path(folder)))) this.#verified.add(folder);
    return this.#verified.has(folder);
  }

  /** Marks that this hub runs servers from it. False if it was removed. */
  async claim(folder: string): Promise<boolean> {
    if (this.#claimed.has(folder) && (await exists(this.path(folder)))) return true;
    try {
      await writeFile(this.#noteIn(folder), "", { mode: 0o600 });
    } catch {
      return false;
    }
    this.#claimed.add(folder);
    return true;
  }

  /** No server runs from any of them any more. */
  async release(): Promise<void> {
    const notes = [...this.#claimed].map((folder) => this.#noteIn(folder));
    await Promise.all(notes.map((note) => rm(note, { force: true }).catch(() => undefined))); // the next hub removes them
    this.#claimed.clear();
  }

  /** The file of a program. */
  fileOf(record: PackageRecord, program: string | undefined): string | undefined {
    const bin = findBin(record.manifest, program);
    return bin === undefined ? undefined : inside(this.#packageIn(record), bin);
  }

  #packageIn({ folder, manifest }: PackageRecord): string {
    return join(this.path(folder), "node_modules", manifest.name);
  }

  #noteIn(folder: string): string {
    return join(this.path(folder), `${USED_BY}${process.pid}`);
  }
}

const hiddenLock = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ optional: z.optional(z.boolean()), link: z.optional(z.boolean()) })),
});

/** A tree may have more packages than the hub may open files. */
const AT_ONCE = 32;

/** Whether every package that npm recorded still has its folder. */
export async function isIntact(folder: string): Promise<boolean> {
  try {
    const text = await readFile(join(folder, "node_modules", ".package-lock.json"), "utf8");
    const { packages } = hiddenLock.parse(JSON.parse(text));
    // Optional ones may be for another system.
    const expected = Object.entries(packages).flatMap(([path, { optional, link }]) =>
      optional === true || link === true ? [] : [join(folder, path, "package.json")],
    );
    for (let at = 0; at < expected.length; at += AT_ONCE) {
      await Promise.all(expected.slice(at, at + AT_ONCE).map((path) => access(path)));
    }
    return expected.length > 0;
  } catch {
    return false;
  }
}
