// The folders of installed packages: filled, claimed by the hub that runs servers from them, looked through, removed. What
// each is the install of stands in its record.

import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exists } from "../../exists.ts";
import { installPackage, type Installed, type InstallOptions } from "./install.ts";
import { isIntact } from "./intact.ts";
import { binsOf, findBin, inside } from "./program.ts";
import { fileNameOf, type PackageRecord } from "./record.ts";
import { removeIfFree, USED_BY } from "./tidy.ts";
import type { NpmTools } from "./tools.ts";

const RUNTIME = `${process.platform}-${process.arch}-${process.versions.modules}`;

export class Installs {
  readonly #folder: string;
  /** Those without a record that this hub is filling. */
  readonly underWay = new Set<string>();
  readonly #claimed = new Set<string>();
  /** Those that were looked through since the hub's start, and from which nothing failed. */
  readonly #verified = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** A new one. It is under way until it is settled or discarded. */
  async make(options: Omit<InstallOptions, "folder">): Promise<Installed & { readonly folder: string }> {
    // Whose it is, should the hub be killed.
    const folder = `${fileNameOf(options.name)}-${process.pid}-${randomBytes(4).toString("hex")}`;
    this.underWay.add(folder);
    try {
      return { ...(await installPackage({ ...options, folder: this.path(folder) })), folder };
    } catch (thrown) {
      await this.discard(folder);
      throw thrown;
    }
  }

  /** Its record is written. */
  settle(folder: string): void {
    this.underWay.delete(folder);
    this.#verified.add(folder);
  }

  async discard(folder: string): Promise<void> {
    // What cannot be removed now is found by the next hub.
    await rm(this.path(folder), { recursive: true, force: true }).catch(() => undefined);
    this.underWay.delete(folder);
  }

  /** One that is no longer on record, unless another hub runs servers from it. */
  async leave(folder: string): Promise<void> {
    await removeIfFree(this.#folder, folder);
  }

  /** Something may be missing: it is looked through before it is used again. */
  doubt(folder: string): void {
    this.#verified.delete(folder);
  }

  /** Whether a server can be run from it. */
  async isUsable(record: PackageRecord, tools: NpmTools): Promise<boolean> {
    const { folder } = record;
    // Before the look: from now on nobody else removes it.
    if (record.runtime !== runtimeOf(tools) || !(await this.claim(folder))) return false;
    const files = Object.values(binsOf(record.manifest)).map((file) => join(this.#packageIn(record), file));
    if ((await Promise.all(files.map(exists))).includes(false)) return false;
    if (!this.#verified.has(folder) && (await isIntact(this.path(folder)))) this.#verified.add(folder);
    return this.#verified.has(folder);
  }

  /** Leaves a note that this hub runs servers from there; false where it is gone. */
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

  /** No server is run from any of them any more. */
  async release(): Promise<void> {
    const notes = [...this.#claimed].map((folder) => this.#noteIn(folder));
    await Promise.all(notes.map((note) => rm(note, { force: true }).catch(() => undefined))); // found by the next hub
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

/** Native parts of a package fit the Node that they were made for. */
export function runtimeOf({ node }: NpmTools): string {
  return node === process.execPath ? RUNTIME : `${RUNTIME} ${dirname(node)}`;
}
