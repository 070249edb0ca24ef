// ServerApprovals of a hub that keeps nothing on disk.

import { HubError } from "../errors.ts";
import type { ApprovalStore, StoredApproval } from "./approval-store.ts";
import type { ApprovalRecord } from "./record.ts";

export class MemoryApprovals implements ApprovalStore {
  readonly #kept = new Map<string, StoredApproval>();
  #saves = 0;

  async load(): Promise<Awaited<ReturnType<ApprovalStore["load"]>>> {
    return { approvals: new Map(this.#kept), isNew: this.#kept.size === 0 };
  }

  async save(server: string, record: ApprovalRecord, expected: string | undefined): Promise<string> {
    if (this.#kept.get(server)?.version !== expected) throw changedElsewhere(server);
    const version = String(++this.#saves);
    this.#kept.set(server, { state: "kept", record, version });
    return version;
  }

  async remove(server: string): Promise<void> {
    this.#kept.delete(server);
  }

  async watch(): Promise<() => void> {
    return () => undefined;
  }
}

export function changedElsewhere(server: string): HubError {
  return new HubError("Conflict", `The approval of "${server}" was changed by another process`, {
    hint: "Look at it again: plugboard pins",
  });
}
