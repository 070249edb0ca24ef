// Remembers what servers offer, so that their tools are listed while they start, or before they run where they are started
// on demand, and that a tool which changed between two runs is noticed. One file each.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomic } from "../atomic.ts";
import type { Listing } from "../catalog/listing.ts";
import type { ServerConfig } from "../config/types.ts";
import type { Hello } from "./handshake.ts";
import { repairListing } from "./lists.ts";
import { transportKey } from "./transport-key.ts";

/** Of one file, and of all: servers that were removed long ago go first. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 500;

const entries = z.array(z.record(z.string(), z.unknown()));
const listingSchema = z.object({ tools: entries, resources: entries, templates: entries, prompts: entries });
/** Absent in files of an earlier version. */
const introduction = z.object({
  era: z.enum(["legacy", "modern"]),
  version: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  serverInfo: z.optional(z.record(z.string(), z.unknown())),
  instructions: z.optional(z.string()),
});
const file = z.extend(listingSchema, {
  introduction: z.optional(introduction),
  warnings: z.optional(z.array(z.string())),
  seen: z.optional(z.record(z.string(), z.string())),
});

/** What is remembered of one server. */
export interface Remembered {
  readonly listing: Listing;
  readonly introduction: Hello | undefined;
  /** What was wrong with its lists when they were read. */
  readonly warnings: readonly string[];
  /** Fingerprints of the tools that it ever offered. */
  readonly seen: Readonly<Record<string, string>>;
}

type Entry = Pick<ServerConfig, "name" | "transport" | "env">;

interface ListingMemoryOptions {
  readonly onWarning?: (message: string) => void;
  readonly maxBytes?: number;
  readonly maxFiles?: number;
}

export class ListingMemory {
  readonly #folder: string;
  readonly #options: ListingMemoryOptions;
  #saving: Promise<void> = Promise.resolve();
  /** By key: what its file says, so that it is not written again with every start. */
  readonly #written = new Map<string, string>();

  constructor(folder: string, options: ListingMemoryOptions = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** A file that cannot be used is no memory: what the server offers is learnt anew when it starts. */
  async recall(entry: Entry): Promise<Remembered | undefined> {
    const text = await this.#read(entry);
    if (text === undefined) return undefined;
    const known = file.safeParse(parsed(text));
    if (!known.success) return this.#damaged(entry);
    const { introduction: said, warnings = [], seen = {}, ...listing } = known.data;
    const hello = said && { ...said, serverInfo: said.serverInfo, instructions: said.instructions };
    return { listing: repairListing(listing), introduction: hello, warnings, seen };
  }

  remember(entry: Entry, { listing, introduction: said, warnings, seen }: Remembered): void {
    const key = listingKey(entry);
    const text = JSON.stringify({ ...listing, introduction: said, warnings, seen });
    if (this.#written.get(key) === digest(text)) return;
    this.#saving = this.#saving
      .then(async () => {
        if (Buffer.byteLength(text) > (this.#options.maxBytes ?? MAX_BYTES)) return this.#forget(key);
        await mkdir(this.#folder, { recursive: true, mode: 0o700 });
        await writeFileAtomic(this.#path(key), text, { mode: 0o600 });
        this.#written.set(key, digest(text));
        await this.#tidy();
      })
      .catch(() => undefined); // a full disk costs the next start some time, nothing else
  }

  /** Resolves when everything is on disk. */
  saved(): Promise<void> {
    return this.#saving;
  }

  async #read(entry: Entry): Promise<string | undefined> {
    const key = listingKey(entry);
    try {
      const path = this.#path(key);
      if ((await stat(path)).size > (this.#options.maxBytes ?? MAX_BYTES)) return this.#damaged(entry);
      const text = await readFile(path, "utf8");
      this.#written.set(key, digest(text));
      return text;
    } catch (error) {
      return isMissing(error) ? undefined : this.#damaged(entry);
    }
  }

  #damaged({ name }: Entry): undefined {
    const message = `What server "${name}" offered last cannot be read from ${this.#folder}: it is listed once it has started`;
    this.#options.onWarning?.(message);
    return undefined;
  }

  async #forget(key: string): Promise<void> {
    this.#written.delete(key);
    await rm(this.#path(key), { force: true });
  }

  async #tidy(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".json"));
    const surplus = names.length - (this.#options.maxFiles ?? MAX_FILES);
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

/** Another entry may have other tools: also by its variables and headers, as they are written, without secrets' values. */
function listingKey({ transport, env }: Entry): string {
  const headers = transport.type === "stdio" ? {} : transport.headers;
  const rest = JSON.stringify([env, headers]);
  return rest === "[{},{}]" ? transportKey(transport) : digest(transportKey(transport) + rest);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
