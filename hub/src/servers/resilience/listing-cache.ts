// Caches the listings of servers. Their tools are listed while they start, or before they run at all if they
// are started on demand.

import { createHash } from "node:crypto";
import { parseJson } from "@plugboard/shared/lenient";
import * as z from "zod/mini";
import type { Listing } from "../../catalog/listing.ts";
import type { ServerConfig } from "../../config/schema/types.ts";
import type { ServerInfo } from "../connection/handshake.ts";
import { repairListing } from "../connection/lists.ts";
import { transportKey } from "../connection/era-memory.ts";
import { MAX_LISTING_BYTES, type ListingStore } from "./listing-store.ts";

const entries = z.array(z.record(z.string(), z.unknown()));
const listingSchema = z.object({ tools: entries, resources: entries, templates: entries, prompts: entries });
/** Absent in files of an earlier version. */
const introductionSchema = z.object({
  era: z.enum(["legacy", "modern"]),
  version: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  serverInfo: z.optional(z.record(z.string(), z.unknown())),
  instructions: z.optional(z.string()),
});
const file = z.extend(listingSchema, {
  introduction: z.optional(introductionSchema),
  warnings: z.optional(z.array(z.string())),
});

/** One server. */
export interface CachedListing {
  readonly listing: Listing;
  readonly introduction: ServerInfo | undefined;
  /** Problems of its lists when they were read. */
  readonly warnings: readonly string[];
}

type Entry = Pick<ServerConfig, "name" | "transport" | "auth" | "env">;

interface ListingCacheOptions {
  readonly onWarning?: (message: string) => void;
  readonly maxBytes?: number;
}

export class ListingCache {
  readonly #store: ListingStore;
  readonly #options: ListingCacheOptions;
  #saving: Promise<void> = Promise.resolve();
  /** Digests of the texts by key, so that an unchanged one is not written again with every start. */
  readonly #written = new Map<string, string>();

  constructor(store: ListingStore, options: ListingCacheOptions = {}) {
    this.#store = store;
    this.#options = options;
  }

  /** An invalid text counts as missing: the listing is read again when the server starts. */
  async find(entry: Entry): Promise<CachedListing | undefined> {
    const text = await this.#read(entry);
    if (text === undefined) return undefined;
    const known = file.safeParse(parseJson(text));
    if (!known.success) return this.#damaged(entry);
    const { introduction, warnings = [], ...listing } = known.data;
    const serverIntroduction = introduction && {
      ...introduction,
      serverInfo: introduction.serverInfo,
      instructions: introduction.instructions,
    };
    return { listing: repairListing(listing), introduction: serverIntroduction, warnings };
  }

  save(entry: Entry, { listing, introduction, warnings }: CachedListing): void {
    const key = listingKey(entry);
    const text = JSON.stringify({ ...listing, introduction, warnings });
    if (this.#written.get(key) === digest(text)) return;
    this.#saving = this.#saving
      .then(async () => {
        if (Buffer.byteLength(text) > (this.#options.maxBytes ?? MAX_LISTING_BYTES)) return this.#forget(key);
        await this.#store.write(key, text);
        this.#written.set(key, digest(text));
      })
      .catch(() => undefined); // a full disk only makes the next start slower
  }

  /** Resolves when everything is written. */
  saved(): Promise<void> {
    return this.#saving;
  }

  async #read(entry: Entry): Promise<string | undefined> {
    const key = listingKey(entry);
    try {
      const text = await this.#store.read(key);
      if (text !== undefined) this.#written.set(key, digest(text));
      return text;
    } catch {
      return this.#damaged(entry);
    }
  }

  #damaged({ name }: Entry): undefined {
    const message = `The cached listing of server "${name}" in ${this.#store.name} cannot be read: its tools are listed once it has started`;
    this.#options.onWarning?.(message);
    return undefined;
  }

  async #forget(key: string): Promise<void> {
    this.#written.delete(key);
    await this.#store.remove(key);
  }
}

/** Variables, headers and the login count too, as written and without secret values: they may change what a server offers. */
function listingKey({ transport, auth, env }: Entry): string {
  const headers = transport.type === "stdio" ? {} : transport.headers;
  const rest = JSON.stringify([env, headers, ...(auth === undefined ? [] : [auth])]);
  return rest === "[{},{}]" ? transportKey(transport) : digest(transportKey(transport) + rest);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
