// The record of an installed package: one small file for each spec, written when the install is complete. A folder without a
// record does not count as an install.

import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { manifest } from "./program.ts";
import type { NpxCall } from "./npx-call.ts";

const schema = z.object({
  spec: z.string(),
  version: z.string(),
  integrity: z.nullable(z.string()),
  /** From its package.json. */
  manifest,
  /** The name of its folder. */
  folder: z.string().check(z.regex(/^[^/\\]+$/)),
  /** The Node that its native parts were built for. */
  runtime: z.string(),
  /** ISO 8601. */
  installed_at: z.string(),
  /** The config folders whose servers use it. */
  owners: z.array(z.string()),
  /** The version before the last update or rollback. */
  previous: z.optional(z.string()),
});
export type PackageRecord = z.infer<typeof schema>;

const ENDING = ".json";

/** By spec. An invalid file counts as missing: the package is installed again. */
export class PackageRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  path(key: string): string {
    return join(this.#folder, key + ENDING);
  }

  async read(key: string): Promise<PackageRecord | undefined> {
    try {
      const parsed = schema.safeParse(JSON.parse(await readFile(this.path(key), "utf8")));
      return parsed.success && !parsed.data.folder.startsWith(".") ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  }

  async all(): Promise<Map<string, PackageRecord>> {
    const names = (await readdir(this.#folder).catch((): string[] => [])).filter((name) => name.endsWith(ENDING));
    const read = await Promise.all(
      names.map(async (name) => {
        const key = name.slice(0, -ENDING.length);
        return [key, await this.read(key)] as const;
      }),
    );
    return new Map(read.flatMap(([key, record]) => (record === undefined ? [] : [[key, record]])));
  }

  async write(key: string, record: PackageRecord): Promise<void> {
    await writeFileAtomic(this.path(key), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  }

  async remove(key: string): Promise<void> {
    await rm(this.path(key), { force: true });
  }
}

/** A package's name as part of a file name. */
export function fileNameOf(name: string): string {
  return name.replace("/", "+");
}

/** Equal for all servers with the same spec and the same npm settings: another registry may have another package. */
export function keyOf({ name, wanted }: NpxCall, env: Readonly<Record<string, string>>): string {
  const settings = Object.entries(env)
    .filter(([variable]) => /^npm_config_/i.test(variable))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const own =
    settings.length === 0 ? "" : `,${createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 12)}`;
  return `${fileNameOf(name)}@${wanted}${own}`;
}
