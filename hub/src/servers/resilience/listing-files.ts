// Listings of servers as files of one folder.

import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { HubError } from "../../errors.ts";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { MAX_LISTING_BYTES, MAX_LISTINGS, type ListingStore } from "./listing-store.ts";

interface ListingFilesOptions {
  readonly maxBytes?: number;
  readonly maxFiles?: number;
}

export class ListingFiles implements ListingStore {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;

  constructor(folder: string, { maxBytes = MAX_LISTING_BYTES, maxFiles = MAX_LISTINGS }: ListingFilesOptions = {}) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#maxFiles = maxFiles;
  }

  get name(): string {
    return this.#folder;
  }

  async read(key: string): Promise<string | undefined> {
    const path = this.#path(key);
    try {
      if ((await stat(path)).size > this.#maxBytes) throw new HubError("IoError", `${path} is too large`);
      return await readFile(path, "utf8");
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async write(key: string, text: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.#path(key), text, { mode: 0o600 });
    await this.#prune();
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".json"));
    const surplus = names.length - this.#maxFiles;
    if (surplus <= 0) return;
    const dated = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.#folder, name))).mtimeMs })),
    );
    const oldest = dated.toSorted((a, b) => a.at - b.at).slice(0, surplus);
    await Promise.all(oldest.map(({ name }) => rm(join(this.#folder, name), { force: true })));
  }

  #path(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}
