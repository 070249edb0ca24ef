// The call log of one machine, in an SQLite file with the journals beside it.

import { existsSync } from "node:fs";
import { JournaledCallLog, type CallLogOptions } from "../journal/journaled-call-log.ts";
import { journalFolder } from "../journal/journal.ts";
import type { Retention } from "../port.ts";

export type { CallLogOptions } from "../journal/journaled-call-log.ts";

export const DEFAULT_RETENTION: Retention = {
  maxAgeMs: 30 * 24 * 3_600_000,
  maxBytes: 1024 ** 3,
  maxRows: 2_000_000,
};

/** @example const log = new SqliteCallLog(join(paths.data, "calls.db"), { redactor }); */
export class SqliteCallLog extends JournaledCallLog {
  constructor(path: string, options: CallLogOptions) {
    const store = {
      name: path,
      worker: "sqlite",
      address: path,
      folder: journalFolder(path),
      exists: () => existsSync(path),
      defaults: DEFAULT_RETENTION,
      waitMs: undefined,
    } as const;
    super(store, options);
  }
}
