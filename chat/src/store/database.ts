// Opens the store's file, and maps what can go wrong to the errors of the chat server.

import { isBusy, type Database } from "@plugboard/shared/sqlite/driver";
import { openDatabase, requireCurrentVersion, UnusableDatabase } from "@plugboard/shared/sqlite/open";
import { ChatError } from "../errors.ts";
import { STORE_FORM } from "./schema.ts";

/** Waiting blocks the event loop. Another process commits a batch in a fraction of this time. */
const BUSY_MS = 10_000;

export interface StoreOptions {
  /** How long to wait for another process that writes. */
  readonly busyMs?: number;
}

export async function openStoreFile(path: string, { busyMs = BUSY_MS }: StoreOptions = {}): Promise<Database> {
  try {
    return await openDatabase(path, STORE_FORM, { waitMs: busyMs, busyTimeoutMs: busyMs });
  } catch (error) {
    throw isBusy(error) ? busy(error) : unusable(path, error);
  }
}

/** One transaction. Refused if another process has migrated the open file. */
export function commit<T>(db: Database, work: () => T): T {
  try {
    return db.transact(() => {
      requireCurrentVersion(db, STORE_FORM);
      return work();
    });
  } catch (error) {
    if (isBusy(error)) throw busy(error);
    throw error instanceof UnusableDatabase ? unusable("The message store", error) : error;
  }
}

function busy(cause: unknown): ChatError {
  const hint = "another plugboard-chat process is writing; try again";
  return new ChatError("BUSY", "The message store is in use by another process", { hint, retry_after_s: 1 }, cause);
}

function unusable(subject: string, cause: unknown): ChatError {
  const { what, hint } = describe(cause instanceof UnusableDatabase ? cause : undefined);
  return new ChatError("STORE_UNUSABLE", `${subject} ${what}`, { hint }, cause);
}

function describe(unusableFile: UnusableDatabase | undefined): { readonly what: string; readonly hint: string } {
  switch (unusableFile?.reason) {
    case "newer": {
      const versions = `schema ${unusableFile.version}, this one knows ${STORE_FORM.migrations.length}`;
      return {
        what: `was written by a newer plugboard-chat (${versions})`,
        hint: "update plugboard-chat and restart it",
      };
    }
    case "damaged":
      return { what: "is damaged", hint: "restore it from a backup, or move it away and import the chats again" };
    case "foreign":
    case "older":
    case undefined:
      return { what: "is not a message store of plugboard-chat", hint: "give the path of another file" };
  }
}
