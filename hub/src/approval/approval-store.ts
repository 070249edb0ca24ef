// Port: where approvals are kept, by the name of the server. Several processes may use one store.

import type { ApprovalRecord } from "./record.ts";

export type StoredApproval =
  | { readonly state: "kept"; readonly record: ApprovalRecord; readonly version: string }
  /** It cannot be read or is not what was written. Whatever it said counts as not approved. */
  | { readonly state: "damaged"; readonly reason: string; readonly version: string };

export interface ApprovalStore {
  /** All approvals. `isNew`: there has never been any. */
  load(): Promise<{ readonly approvals: ReadonlyMap<string, StoredApproval>; readonly isNew: boolean }>;
  /**
   * Replaces the record of a server if it still has the expected version; undefined: if there is none. Resolves with the new
   * version when it is on disk; rejects with Conflict if another process was faster, and nothing has changed then.
   */
  save(server: string, record: ApprovalRecord, expected: string | undefined): Promise<string>;
  remove(server: string): Promise<void>;
  /** Calls back after changes of other processes, and maybe after own ones. The returned function ends that. */
  watch(onChange: () => void): Promise<() => void>;
}
