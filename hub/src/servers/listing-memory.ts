// Remembers what servers offer that are started on demand, so that their tools are listed before they run. One file each.

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomic } from "../atomic.ts";
import type { Listing } from "../catalog/listing.ts";
import type { Transport } from "../config/types.ts";
import type { Hello } from "./handshake.ts";
import { transportKey } from "./transport-key.ts";

const entries = z.array(z.record(z.string(), z.unknown()));
const schema = z.object({ tools: entries, resources: entries, templates: entries, prompts: entries });
/** Absent in files of an earlier version. */
const introduction = z.object({
  era: z.enum(["legacy", "modern"]),
  version: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  serverInfo: z.optional(z.record(z.string(), z.unknown())),
  instructions: z.optional(z.string()),
});
const file = z.extend(schema, { introduction: z.optional(introduction) });

/** What is remembered of one server. */
export interface Remembered {
  readonly listing: Listing;
  readonly introduction: Hello | undefined;
}

export class ListingMemory {
  readonly #folder: string;
  #saving: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A file that cannot be used is no memory: the server is started once to learn it anew. */
  async recall(transport: Transport): Promise<Remembered | undefined> {
    try {
      const known = file.safeParse(JSON.parse(await readFile(this.#path(transport), "utf8")));
      if (!known.success) return undefined;
      const { introduction: said, ...listing } = known.data;
      const hello = said && { ...said, serverInfo: said.serverInfo, instructions: said.instructions };
      return { listing, introduction: hello };
    } catch {
      return undefined;
    }
  }

  remember(transport: Transport, { listing, introduction: said }: Remembered): void {
    this.#saving = this.#saving
      .then(async () => {
        await mkdir(this.#folder, { recursive: true, mode: 0o700 });
        await writeFileAtomic(this.#path(transport), JSON.stringify({ ...listing, introduction: said }), {
          mode: 0o600,
        });
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
