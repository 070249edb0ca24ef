// Remembers how a server spoke last, over restarts of the hub: which era, so that a legacy server is not probed at every
// start; whether one that speaks the modern era knows the legacy one too; and what it asks its clients.
// A stale modern verdict fails loudly and is probed anyway; a stale legacy one would work for ever, so it expires.

import { readFile } from "node:fs/promises";
import * as z from "zod/mini";
import { writeFileAtomic } from "../atomic.ts";
import type { Era } from "../wire/era.ts";
import type { Transport } from "../config/types.ts";
import { transportKey } from "./transport-key.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const LEGACY_FOR_MS = DAY_MS;
const NO_LEGACY_FOR_MS = DAY_MS;
/** A server that no longer asks costs processes that nobody needs. */
const ASKS_FOR_MS = 30 * DAY_MS;
const MAX_ENTRIES = 1000;

/** What a server may ask its client, by the capability that the client needs for it. */
export const ASKABLE = ["elicitation", "sampling", "roots"] as const;
export type Askable = (typeof ASKABLE)[number];

const time = z.number();
const record = z.object({
  era: z.optional(z.enum(["legacy", "modern"])),
  at: z.optional(time),
  /** When a modern server was last found to refuse a legacy handshake. */
  noLegacyAt: z.optional(time),
  /** When it last asked for something. */
  asks: z.optional(z.object({ elicitation: z.optional(time), sampling: z.optional(time), roots: z.optional(time) })),
});
type Record = z.infer<typeof record>;
const schema = z.record(z.string(), record);

export class EraMemory {
  readonly #path: string | undefined;
  readonly #records: Map<string, Record>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string | undefined, records: Map<string, Record>) {
    this.#path = path;
    this.#records = records;
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
    const records = schema.safeParse(parsed);
    if (!records.success) {
      onWarning?.(`${path} is damaged and is started anew: each server is asked once more which revision it speaks`);
    }
    return new EraMemory(path, new Map(Object.entries(records.success ? records.data : {})));
  }

  recall(transport: Transport, now = Date.now()): Era | undefined {
    const { era, at } = this.#recordOf(transport);
    if (era === undefined || at === undefined) return undefined;
    return era === "legacy" && !isRecent(at, LEGACY_FOR_MS, now) ? undefined : era;
  }

  remember(transport: Transport, era: Era, now = Date.now()): void {
    if (this.recall(transport, now) !== era) this.#update(transport, { era, at: now });
  }

  /** Whether a legacy connection may be tried beside a modern one. */
  mayKnowLegacy(transport: Transport, now = Date.now()): boolean {
    return !isRecent(this.#recordOf(transport).noLegacyAt, NO_LEGACY_FOR_MS, now);
  }

  refusedLegacy(transport: Transport, now = Date.now()): void {
    this.#update(transport, { noLegacyAt: now });
  }

  /** What the server asked for lately. */
  asks(transport: Transport, now = Date.now()): ReadonlySet<Askable> {
    const { asks = {} } = this.#recordOf(transport);
    return new Set(ASKABLE.filter((kind) => isRecent(asks[kind], ASKS_FOR_MS, now)));
  }

  asked(transport: Transport, kind: Askable, now = Date.now()): void {
    const { asks = {} } = this.#recordOf(transport);
    // One that asks all the time need not be written down all the time.
    if (!isRecent(asks[kind], DAY_MS, now)) this.#update(transport, { asks: { ...asks, [kind]: now } });
  }

  /** Resolves when everything is on disk. */
  saved(): Promise<void> {
    return this.#saving;
  }

  #recordOf(transport: Transport): Record {
    return this.#records.get(transportKey(transport)) ?? {};
  }

  #update(transport: Transport, change: Record): void {
    const key = transportKey(transport);
    const updated = { ...this.#records.get(key), ...change };
    this.#records.delete(key);
    this.#records.set(key, updated);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_ENTRIES) break;
      this.#records.delete(oldest);
    }
    this.#save();
  }

  #save(): void {
    const path = this.#path;
    if (path === undefined) return;
    this.#saving = this.#saving
      .then(() => writeFileAtomic(path, JSON.stringify(Object.fromEntries(this.#records)), { mode: 0o600 }))
      .catch(() => undefined); // a full disk costs a probe at the next start, nothing else
  }
}

/** A time of the future is from before the clock was set back. */
function isRecent(at: number | undefined, forMs: number, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= forMs;
}
