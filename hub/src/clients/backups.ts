// What a client's file said before the hub changed it: a copy for each change, for its owner alone, in the hub's own data
// folder. The newest ones are kept.

import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createFileExclusive } from "../atomic.ts";
import { isObject } from "../config/plain.ts";
import { readTextFile } from "../config/text-file.ts";
import { HubError } from "../errors.ts";

export interface Backup {
  readonly client: string;
  /** When it was made, as its name: 2026-11-17T10-41-05.123Z */
  readonly when: string;
  /** The client's file. */
  readonly path: string;
  /** Undefined where there was no file. */
  readonly text: string | undefined;
  readonly mode: number;
  /** Hash of what the file was given instead. */
  readonly replacedBy: string;
}

/** Of one client. */
const KEPT = 100;
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
      // Two in one millisecond: the next one is free.
      if (!(await createFileExclusive(join(folder, when + SUFFIX), text, { mode: MODE }))) continue;
      await this.#tidy(folder);
      return { when, ...backup };
    }
  }

  /** Of one client, the newest first. What is none of ours is passed over. */
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

  /** The newest, or the one whose time begins so. */
  async find(client: string, when: string | undefined): Promise<Backup> {
    const all = await this.list(client);
    const wanted = when?.replaceAll(":", "-");
    const found = all.find((backup) => wanted === undefined || backup.when.startsWith(wanted));
    if (found !== undefined) return found;
    const isEmpty = all.length === 0;
    throw new HubError(
      "InvalidConfig",
      isEmpty ? `There is no backup of ${client}` : `${client} has no backup of ${when}`,
      {
        field: isEmpty ? "client" : "when",
        hint: "plugboard backup ls",
      },
    );
  }

  async #tidy(folder: string): Promise<void> {
    for (const name of (await namesIn(folder)).slice(KEPT)) await rm(join(folder, name), { force: true });
  }
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The newest first. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []); // none has been made yet
  return names
    .filter((name) => /^\d{4}-.*\.json$/.test(name))
    .toSorted()
    .toReversed();
}

function parseBackup(text: string, client: string): Backup | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined; // a backup is written as a whole: this is none
  }
  if (!isObject(json)) return undefined;
  const { when, path, mode, replacedBy } = json;
  if (typeof when !== "string" || typeof path !== "string" || typeof mode !== "number") return undefined;
  const before = typeof json["text"] === "string" ? json["text"] : undefined;
  return { client, when, path, mode, text: before, replacedBy: typeof replacedBy === "string" ? replacedBy : "" };
}
