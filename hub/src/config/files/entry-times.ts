// Creation and modification times of server entries, by server id. The config files do not have them, so they are stored in the
// data folder.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import type { ServerConfig } from "../schema/types.ts";

export interface EntryTime {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

const schema = z.record(z.string(), z.object({ createdAt: z.number(), updatedAt: z.number(), digest: z.string() }));

type Known = z.infer<typeof schema>[string];

/** The name depends on the config folder: hubs with different config folders may share a data folder. */
export function entryTimesFile(configFolder: string): string {
  return `entries-${createHash("sha256").update(configFolder).digest("hex").slice(0, 12)}.json`;
}

export class EntryTimes {
  readonly #path: string | undefined;
  #known: ReadonlyMap<string, Known>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string | undefined, known: ReadonlyMap<string, Known>) {
    this.#path = path;
    this.#known = known;
  }

  /** Without a path, times are kept in memory only. An unreadable file counts as empty: all entries are new. */
  static async open(path?: string): Promise<EntryTimes> {
    const text = path === undefined ? "{}" : await readFile(path, "utf8").catch(() => "{}");
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = {};
    }
    const known = schema.safeParse(parsed);
    return new EntryTimes(path, new Map(Object.entries(known.success ? known.data : {})));
  }

  /** Replaces the known servers by the current ones. */
  update(servers: readonly ServerConfig[], now = Date.now()): void {
    const next = new Map(servers.map((server) => [server.id, this.#next(server, now)]));
    const isSame = next.size === this.#known.size && [...next].every(([id, entry]) => this.#known.get(id) === entry);
    this.#known = next;
    if (!isSame) this.#save();
  }

  of(id: string): EntryTime {
    const now = Date.now();
    return this.#known.get(id) ?? { createdAt: now, updatedAt: now };
  }

  /** Resolves when all changes are on disk. */
  saved(): Promise<void> {
    return this.#saving;
  }

  #next(server: ServerConfig, now: number): Known {
    const digest = createHash("sha256").update(JSON.stringify(server)).digest("base64url").slice(0, 16);
    const known = this.#known.get(server.id);
    if (known?.digest === digest) return known;
    return { createdAt: known?.createdAt ?? now, updatedAt: now, digest };
  }

  #save(): void {
    const path = this.#path;
    if (path === undefined) return;
    const text = JSON.stringify(Object.fromEntries(this.#known));
    this.#saving = this.#saving.then(() => writeFileAtomic(path, text, { mode: 0o600 })).catch(() => undefined); // losing the times on a full disk is harmless
  }
}
