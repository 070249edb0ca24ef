// Media files of an export: photos, voice messages, documents. A path named in an export is used only if the file exists
// inside the export.

import { realpathSync, statSync } from "node:fs";
import { join, posix, sep } from "node:path";
import type { AttachmentFile } from "../model/source.ts";
import type { Archive, Member } from "./archive.ts";

export interface ExportFilesOptions {
  /** For a single-file export: which files of its folder belong to it. The folder may contain unrelated files. */
  readonly beside: RegExp;
}

export class ExportFiles {
  readonly #archive: Archive;
  readonly #folder: string;
  readonly #beside: RegExp;
  /** By NFC name: macOS stores accents as combining characters. */
  readonly #names: ReadonlyMap<string, string>;

  /** Paths are resolved relative to the member that names them. */
  constructor(archive: Archive, namedBy: Member, { beside }: ExportFilesOptions) {
    this.#archive = archive;
    this.#folder = posix.dirname(namedBy.name);
    this.#beside = beside;
    this.#names = new Map(archive.members.map(({ name }) => [name.normalize("NFC"), name]));
  }

  find(path: string): AttachmentFile | undefined {
    const name = posix.join(this.#folder, path).normalize("NFC");
    if (!isInside(name)) return undefined;
    const { root, kind } = this.#archive;
    if (kind === "file") return this.#beside.test(name) && isFile(root, name) ? { root, name } : undefined;
    const found = this.#names.get(name);
    return found === undefined ? undefined : { root, name: found };
  }

  /** The first path that exists. */
  findAny(paths: readonly string[]): AttachmentFile | undefined {
    for (const path of paths) {
      const found = this.find(path);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function isInside(name: string): boolean {
  return !posix.isAbsolute(name) && !name.split("/").some((part) => part.startsWith(".")) && !/[\\\0]/.test(name);
}

/** Rejects links that lead out of the folder. */
function isFile(root: string, name: string): boolean {
  try {
    const real = realpathSync(join(root, name));
    return real.startsWith(realpathSync(root) + sep) && statSync(real).isFile();
  } catch {
    return false;
  }
}
