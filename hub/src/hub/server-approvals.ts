// Connects the approvals with the servers: what changes is reported, and what was approved is started.

import type { ApprovalStore } from "../approval/approval-store.ts";
import { ServerApprovals } from "../approval/server-approvals.ts";
import { describeChanges, warningsAbout } from "../approval/tool-changes.ts";
import type { HubEvents } from "../events.ts";
import type { Supervisor } from "../servers/supervisor.ts";

export interface HubServerApprovalsOptions {
  readonly store: ApprovalStore;
  readonly events: HubEvents;
  readonly redact: (text: string) => string;
  readonly supervisor: () => Supervisor;
  /** Tools may be offered that were not, or the other way round. */
  readonly onChange: () => void;
  readonly onWarning: (message: string) => void;
}

export function createServerApprovals(options: HubServerApprovalsOptions): ServerApprovals {
  const { store, events, redact, supervisor, onChange, onWarning } = options;
  const approvals: ServerApprovals = new ServerApprovals({
    store,
    onWarning,
    onToolChanges: (name, { tools, ...judgement }) => {
      const pins = approvals.recordOf(name)?.pins ?? new Map();
      const withheld = judgement.policy === "block";
      const changes = describeChanges(judgement.changes, { pins, tools, withheld });
      const shown = changes.map((change) => ({ ...change, summary: redact(change.summary) }));
      events.emit("server.tools", { server: name, changes: shown });
      for (const message of warningsAbout(shown)) events.emit("warning", { server: name, message });
    },
    onChange: (names) => {
      onChange();
      for (const name of names) if (supervisor().has(name)) supervisor().get(name).approvalChanged();
    },
  });
  return approvals;
}
