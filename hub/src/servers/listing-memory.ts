// Remembers what servers offer that are started on demand, so that their tools are listed before they run. One file each.

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomic } from "../atomic.ts";
import type { Listing } from "../catalog/listing.ts";
import type { Transport } from "../config/types.ts";
import { transportKey } from "./transport-key.ts";

const entries = z.array(z.record(z.string(), z.unknown()));
const schema = z.object({ tools: entries, resources: entries, templates: entries, prompts: entries });

export class ListingMemory {
  readonly #folder: string;
  #saving: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A file that cannot be used is no memory: the server is started once to learn it anew. */
  async recall(transport: Transport): Promise<Listing | undefined> {
    try {
      const known = schema.safeParse(JSON.parse(await readFile(this.#path(transport), "utf8")));
      return known.success ? known.data : undefined;
    } catch {
      return undefined;
    }
  }

  remember(transport: Transport, listing: Listing): void {
    this.#saving = this.#saving
      .then(async () => {
        await mkdir(this.#folder, { recursive: true, mode: 0o700 });
        await writeFileAtomic(this.#path(transport), JSON.stringify(listing), { mode: 0o600 });
      })
      .catch(() => undefined); // a full disk costs one start, nothing else
  }

  /** Resolves when everything is on disk. */
  saved(): Promise<void> {
    return this.#saving;
  }

  #path(transport: Transport): string {
    return join(this.#folder, `${transportKey(transport)}.json`);
  }
}
