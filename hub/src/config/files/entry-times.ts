// Creation and modification times of server entries, by server id. The config files do not have them, so they are stored in the
// data folder.

import { createHash } from "node:crypto";
import * as z from "zod/mini";
import type { KeptText } from "../../lib/files/kept-text.ts";
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
  readonly #kept: KeptText | undefined;
  #known: ReadonlyMap<string, Known>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(kept: KeptText | undefined, known: ReadonlyMap<string, Known>) {
    this.#kept = kept;
    this.#known = known;
  }

  /** Without `kept`, times are in memory only. What cannot be read counts as empty: all entries are new. */
  static async open(kept?: KeptText): Promise<EntryTimes> {
    const text = (await kept?.read().catch(() => undefined)) ?? "{}";
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = {};
    }
    const known = schema.safeParse(parsed);
    return new EntryTimes(kept, new Map(Object.entries(known.success ? known.data : {})));
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

  /** Resolves when all changes are written. */
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
    const kept = this.#kept;
    if (kept === undefined) return;
    const text = JSON.stringify(Object.fromEntries(this.#known));
    this.#saving = this.#saving.then(() => kept.write(text)).catch(() => undefined); // losing the times on a full disk is harmless
  }
}
