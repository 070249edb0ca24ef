// ServerApprovals as files of one folder, one per server, so that a damaged file blocks one server only.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { FolderWatch } from "../config/files/watch.ts";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { withLock } from "../lib/files/lock.ts";
import type { ApprovalStore, StoredApproval } from "./approval-store.ts";
import { changedElsewhere } from "./memory-approvals.ts";
import { formatRecord, parseRecord, type ApprovalRecord } from "./record.ts";

const EXTENSION = ".json";
/** More than the definitions of 10,000 tools take. */
const MAX_BYTES = 256 << 20;
/** Failures that say nothing about the file. */
const PASSING: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

export class ApprovalFiles implements ApprovalStore {
  readonly #folder: string;

  /** A folder of its own for each config folder: hubs with different ones may share a data folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async load(): Promise<Awaited<ReturnType<ApprovalStore["load"]>>> {
    const isNew = (await mkdir(this.#folder, { recursive: true, mode: 0o700 })) !== undefined;
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(EXTENSION) && !name.startsWith("."));
    const loaded = await Promise.all(
      names.map(async (file): Promise<readonly [string, StoredApproval] | undefined> => {
        const server = serverOf(file);
        const stored = await this.#read(server);
        return stored && [server, stored];
      }),
    );
    return { approvals: new Map(loaded.filter((each) => each !== undefined)), isNew };
  }

  async save(server: string, record: ApprovalRecord, expected: string | undefined): Promise<string> {
    const path = this.#path(server);
    const text = formatRecord(server, record);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    return withLock(path, async () => {
      if ((await this.#read(server))?.version !== expected) throw changedElsewhere(server);
      await writeFileAtomic(path, text, { mode: 0o600 });
      return versionOf(text);
    });
  }

  async remove(server: string): Promise<void> {
    await rm(this.#path(server), { force: true });
  }

  async watch(onChange: () => void): Promise<() => void> {
    const watch = await FolderWatch.open(this.#folder, (name) => name.endsWith(EXTENSION), onChange);
    return () => watch.close();
  }

  /** Undefined if there is no file. */
  async #read(server: string): Promise<StoredApproval | undefined> {
    const path = this.#path(server);
    try {
      if ((await stat(path)).size > MAX_BYTES) return damaged(`${path} is too large`, "too large");
      const text = await readFile(path, "utf8");
      const record = parseRecord(server, text);
      const version = versionOf(text);
      return record === undefined ? damaged(`${path} is damaged`, version) : { state: "kept", record, version };
    } catch (error) {
      const code = errorCode(error);
      if (code !== undefined && PASSING.has(code)) throw error;
      return code === "ENOENT"
        ? undefined
        : damaged(`${path} cannot be read (${code ?? "unknown error"})`, "unreadable");
    }
  }

  #path(server: string): string {
    return join(this.#folder, fileOf(server));
  }
}

function damaged(reason: string, version: string): StoredApproval {
  return { state: "damaged", reason, version };
}

function versionOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Upper case is marked, since some file systems do not distinguish it: names of servers do. */
function fileOf(server: string): string {
  return server.replaceAll(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`) + EXTENSION;
}

function serverOf(file: string): string {
  return file.slice(0, -EXTENSION.length).replaceAll(/\+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
