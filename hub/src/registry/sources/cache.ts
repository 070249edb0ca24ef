// Answers of registries, kept on disk: for the time without a network, and so that the same question is not asked again and again.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../../lib/json/json.ts";
import { writeFileAtomic } from "../../lib/files/atomic.ts";

export interface CachedAnswer {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
  readonly text: string;
}

const FILES_MAX = 300;
const FILE = /^[a-z0-9]+-[0-9a-f]{40}\.json$/;

export class AnswerCache {
  readonly #folder: string | undefined;
  #kept: Promise<unknown> = Promise.resolve();

  /** @param folder undefined: nothing is kept. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** @param registry separates the answers of two registries at one address. */
  async get(registry: string, url: string): Promise<CachedAnswer | undefined> {
    const path = this.#path(registry, url);
    return path === undefined ? undefined : read(path, url);
  }

  /** Every answer of a registry, the newest first. */
  async all(registry: string): Promise<CachedAnswer[]> {
    const folder = this.#folder;
    if (folder === undefined) return [];
    const names = await readdir(folder).catch(() => []);
    const mine = names.filter((name) => FILE.test(name) && name.startsWith(`${digest(registry).slice(0, 12)}-`));
    const answers = await Promise.all(mine.map((name) => read(join(folder, name))));
    return answers.filter((answer) => answer !== undefined).toSorted((one, other) => other.seenAt - one.seenAt);
  }

  /** A failure is ignored: the answer is asked for again. */
  async set(registry: string, answer: CachedAnswer): Promise<void> {
    const path = this.#path(registry, answer.url);
    if (path === undefined) return;
    const write = this.#kept.then(async () => {
      await mkdir(this.#folder ?? "", { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, JSON.stringify(answer), { mode: 0o600 });
      await this.#evict();
    });
    this.#kept = write.catch(() => undefined);
    await this.#kept;
  }

  #path(registry: string, url: string): string | undefined {
    if (this.#folder === undefined) return undefined;
    return join(this.#folder, `${digest(registry).slice(0, 12)}-${digest(url)}.json`);
  }

  async #evict(): Promise<void> {
    const folder = this.#folder ?? "";
    const names = (await readdir(folder)).filter((name) => FILE.test(name));
    if (names.length <= FILES_MAX) return;
    const files = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
    );
    const old = files.toSorted((one, other) => one.at - other.at).slice(0, names.length - FILES_MAX);
    await Promise.all(old.map(({ name }) => rm(join(folder, name), { force: true })));
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 40);
}

async function read(path: string, url?: string): Promise<CachedAnswer | undefined> {
  try {
    const json: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isObject(json)) return undefined;
    const { url: kept, seenAt, text } = json;
    if (typeof kept !== "string" || typeof seenAt !== "number" || typeof text !== "string") return undefined;
    return url === undefined || url === kept ? { url: kept, seenAt, text } : undefined;
  } catch {
    // Absent or damaged: it is asked for again.
    return undefined;
  }
}
