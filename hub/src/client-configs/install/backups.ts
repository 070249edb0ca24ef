// Backups of client files: a private copy for each change, in the hub's data folder. Only the newest ones are kept.

import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "@plugboard/shared/lenient";
import { createFileExclusive } from "../../lib/files/atomic.ts";
import { isObject } from "../../lib/json/json.ts";
import { readTextFile } from "../../config/files/text-file.ts";
import { HubError } from "../../errors.ts";

export interface Backup {
  readonly client: string;
  /** Creation time, used as name: 2026-11-17T10-41-05.123Z */
  readonly when: string;
  /** The client's file. */
  readonly path: string;
  /** Undefined if there was no file. */
  readonly text: string | undefined;
  readonly mode: number;
  /** Hash of the new text. */
  readonly replacedBy: string;
}

/** Per client. */
const MAX_BACKUPS = 100;
const MODE = 0o600;
const SUFFIX = ".json";

export class Backups {
  readonly #folder: string;

  /** `data`: the hub's data folder. */
  constructor(data: string) {
    this.#folder = join(data, "backups");
  }

  async add(backup: Omit<Backup, "when">): Promise<Backup> {
    const folder = join(this.#folder, backup.client);
    for (let time = Date.now(); ; time++) {
      const when = new Date(time).toISOString().replaceAll(":", "-");
      const text = `${JSON.stringify({ when, ...backup, text: backup.text ?? null }, null, 2)}\n`;
      // A second backup in the same millisecond uses the next one.
      if (!(await createFileExclusive(join(folder, when + SUFFIX), text, { mode: MODE }))) continue;
      await this.#removeOld(folder);
      return { when, ...backup };
    }
  }

  /** The backups of one client, newest first. Other files are ignored. */
  async list(client: string): Promise<Backup[]> {
    const folder = join(this.#folder, client);
    const found = await Promise.all(
      (await namesIn(folder)).map(async (name) => {
        const file = await readTextFile(join(folder, name));
        return file === undefined ? undefined : parseBackup(file.text, client);
      }),
    );
    return found.filter((backup) => backup !== undefined);
  }

  /** The newest backup, or the newest whose time begins with `when`. */
  async find(client: string, when: string | undefined): Promise<Backup> {
    const all = await this.list(client);
    const wanted = when?.replaceAll(":", "-");
    const found = all.find((backup) => wanted === undefined || backup.when.startsWith(wanted));
    if (found !== undefined) return found;
    const isEmpty = all.length === 0;
    throw new HubError(
      "InvalidArgument",
      isEmpty ? `There are no backups of ${client}` : `${client} has no backup from ${when}`,
      {
        field: isEmpty ? "client" : "when",
        hint: "List them with plugboard backup ls",
      },
    );
  }

  async #removeOld(folder: string): Promise<void> {
    for (const name of (await namesIn(folder)).slice(MAX_BACKUPS)) await rm(join(folder, name), { force: true });
  }
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Newest first. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []); // no backups yet
  return names
    .filter((name) => /^\d{4}-.*\.json$/.test(name))
    .toSorted()
    .toReversed();
}

function parseBackup(text: string, client: string): Backup | undefined {
  // Backups are written atomically: a file that is not JSON is no backup.
  const json = parseJson(text);
  if (!isObject(json)) return undefined;
  const { when, path, mode, replacedBy } = json;
  if (typeof when !== "string" || typeof path !== "string" || typeof mode !== "number") return undefined;
  const before = typeof json["text"] === "string" ? json["text"] : undefined;
  return { client, when, path, mode, text: before, replacedBy: typeof replacedBy === "string" ? replacedBy : "" };
}
