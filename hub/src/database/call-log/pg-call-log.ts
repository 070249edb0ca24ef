// The call log of several hubs, in PostgreSQL. Each hub writes a journal of its own first, from which its calls are entered.

import { join } from "node:path";
import type { Retention } from "../../call-log/port.ts";
import { JournaledCallLog, type CallLogOptions } from "../../call-log/journal/journaled-call-log.ts";
import { describeAddress, type DatabaseAddress } from "../url.ts";

/** Days are dropped whole, and the number of calls does not count. */
const DEFAULT_RETENTION: Retention = {
  maxAgeMs: 30 * 24 * 3_600_000,
  maxBytes: 100 * 1024 ** 3,
  maxRows: Number.MAX_SAFE_INTEGER,
};

/** Longer than a commit takes. A call that has waited so long is answered: it is in the journal. */
const WAIT_MS = 2000;

/** `shared`: the end of a call waits until it is in the database. `local`: only for the journal of this hub. */
export type Durability = "shared" | "local";

export class PgCallLog extends JournaledCallLog {
  /** @param data the data folder of this hub */
  constructor(address: DatabaseAddress, data: string, options: CallLogOptions & { readonly durability: Durability }) {
    const target = {
      name: `in the database ${describeAddress(address)}`,
      worker: "postgres",
      address,
      folder: join(data, "cluster-calls.journals"),
      exists: () => true,
      defaults: DEFAULT_RETENTION,
      waitMs: options.durability === "shared" ? WAIT_MS : undefined,
    } as const;
    super(target, options);
  }
}
