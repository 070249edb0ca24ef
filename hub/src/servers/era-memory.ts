// Remembers which era a server spoke last, so that a legacy server is not probed at every start.
// A stale modern verdict fails loudly and is probed anyway; a stale legacy one would work for ever, so it expires.

import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { writeFileAtomic } from "../atomic.ts";
import type { Era } from "../wire/era.ts";
import type { Transport } from "../config/types.ts";
import { transportKey } from "./transport-key.ts";

const LEGACY_FOR_MS = 24 * 60 * 60 * 1000;
const MAX_ENTRIES = 1000;

const schema = z.record(z.string(), z.object({ era: z.enum(["legacy", "modern"]), at: z.number() }));

export class EraMemory {
  readonly #path: string | undefined;
  readonly #verdicts: Map<string, { era: Era; at: number }>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string | undefined, verdicts: Map<string, { era: Era; at: number }>) {
    this.#path = path;
    this.#verdicts = verdicts;
  }

  /** Without a path it lasts as long as the process. An unreadable file is an empty memory: it only costs a probe. */
  static async open(path?: string, onWarning?: (message: string) => void): Promise<EraMemory> {
    const text = path === undefined ? "{}" : await readFile(path, "utf8").catch(() => "{}");
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    const verdicts = schema.safeParse(parsed);
    if (!verdicts.success) {
      onWarning?.(`${path} is damaged and is started anew: each server is asked once more which revision it speaks`);
    }
    return new EraMemory(path, new Map(Object.entries(verdicts.success ? verdicts.data : {})));
  }

  recall(transport: Transport, now = Date.now()): Era | undefined {
    const verdict = this.#verdicts.get(transportKey(transport));
    if (verdict === undefined) return undefined;
    // One of the future is from before the clock was set back.
    const isStale = verdict.era === "legacy" && Math.abs(now - verdict.at) > LEGACY_FOR_MS;
    return isStale ? undefined : verdict.era;
  }

  remember(transport: Transport, era: Era, now = Date.now()): void {
    const key = transportKey(transport);
    if (this.recall(transport, now) === era) return;
    this.#verdicts.delete(key);
    this.#verdicts.set(key, { era, at: now });
    for (const oldest of this.#verdicts.keys()) {
      if (this.#verdicts.size <= MAX_ENTRIES) break;
      this.#verdicts.delete(oldest);
    }
    this.#save();
  }

  /** Resolves when everything is on disk. */
  saved(): Promise<void> {
    return this.#saving;
  }

  #save(): void {
    const path = this.#path;
    if (path === undefined) return;
    this.#saving = this.#saving
      .then(() => writeFileAtomic(path, JSON.stringify(Object.fromEntries(this.#verdicts)), { mode: 0o600 }))
      .catch(() => undefined); // a full disk costs a probe at the next start, nothing else
  }
}
