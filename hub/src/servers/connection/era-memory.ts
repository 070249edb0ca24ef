// Remembers facts about servers over restarts of the hub: the era, so that a legacy server is not probed at every start; whether
// a modern server also supports the legacy era; and which requests it sends to its clients. A stale modern entry fails and is
// probed anyway; a stale legacy entry would never fail, so it expires.

import { createHash } from "node:crypto";
import * as z from "zod/mini";
import type { KeptText } from "../../lib/files/kept-text.ts";
import type { Era } from "../../protocol/revisions/era.ts";
import type { Transport } from "../../config/schema/types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const LEGACY_FOR_MS = DAY_MS;
const NO_LEGACY_FOR_MS = DAY_MS;
/** A server that sends no requests any more should not cost extra processes for ever. */
const FEATURES_FOR_MS = 30 * DAY_MS;
const MAX_ENTRIES = 1000;

/** The client capabilities that a server uses in its requests. */
export const CLIENT_FEATURES = ["elicitation", "sampling", "roots"] as const;
export type ClientFeature = (typeof CLIENT_FEATURES)[number];

const time = z.number();
const record = z.object({
  era: z.optional(z.enum(["legacy", "modern"])),
  at: z.optional(time),
  /** When a modern server last refused a legacy handshake. */
  noLegacyAt: z.optional(time),
  /** When it last used each client feature. */
  asks: z.optional(z.object({ elicitation: z.optional(time), sampling: z.optional(time), roots: z.optional(time) })),
});
type Record = z.infer<typeof record>;
const schema = z.record(z.string(), record);

export class EraMemory {
  readonly #kept: KeptText | undefined;
  readonly #records: Map<string, Record>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(kept: KeptText | undefined, records: Map<string, Record>) {
    this.#kept = kept;
    this.#records = records;
  }

  /** Without `kept` it lasts as long as the process. What cannot be read is an empty memory: it only costs a probe. */
  static async open(kept?: KeptText, onWarning?: (message: string) => void): Promise<EraMemory> {
    const text = (await kept?.read().catch(() => undefined)) ?? "{}";
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    const records = schema.safeParse(parsed);
    if (!records.success) {
      onWarning?.(`${kept?.name} is damaged and is replaced: each server is probed again for its revision`);
    }
    return new EraMemory(kept, new Map(Object.entries(records.success ? records.data : {})));
  }

  find(transport: Transport, now = Date.now()): Era | undefined {
    const { era, at } = this.#recordOf(transport);
    if (era === undefined || at === undefined) return undefined;
    return era === "legacy" && !isRecent(at, LEGACY_FOR_MS, now) ? undefined : era;
  }

  remember(transport: Transport, era: Era, now = Date.now()): void {
    if (this.find(transport, now) !== era) this.#update(transport, { era, at: now });
  }

  /** Whether a legacy connection may be tried in addition to a modern one. */
  mayKnowLegacy(transport: Transport, now = Date.now()): boolean {
    return !isRecent(this.#recordOf(transport).noLegacyAt, NO_LEGACY_FOR_MS, now);
  }

  refusedLegacy(transport: Transport, now = Date.now()): void {
    this.#update(transport, { noLegacyAt: now });
  }

  /** The client features that the server used lately. */
  requestedFeatures(transport: Transport, now = Date.now()): ReadonlySet<ClientFeature> {
    const { asks = {} } = this.#recordOf(transport);
    return new Set(CLIENT_FEATURES.filter((kind) => isRecent(asks[kind], FEATURES_FOR_MS, now)));
  }

  featureRequested(transport: Transport, kind: ClientFeature, now = Date.now()): void {
    const { asks = {} } = this.#recordOf(transport);
    // Written at most once a day.
    if (!isRecent(asks[kind], DAY_MS, now)) this.#update(transport, { asks: { ...asks, [kind]: now } });
  }

  /** Resolves when everything is written. */
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
    const kept = this.#kept;
    if (kept === undefined) return;
    this.#saving = this.#saving
      .then(() => kept.write(JSON.stringify(Object.fromEntries(this.#records))))
      .catch(() => undefined); // a full disk costs a probe at the next start, nothing else
  }
}

/** A time in the future is from before the clock was set back. */
function isRecent(at: number | undefined, forMs: number, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= forMs;
}

/** Identifies a server by its command or address as written: variables stay unresolved, so it contains no secret. */
export function transportKey(transport: Transport): string {
  const what =
    transport.type === "stdio"
      ? [transport.command, ...transport.args, transport.cwd ?? ""]
      : [transport.type, transport.url];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
}
