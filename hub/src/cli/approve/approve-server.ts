// Approves what a server runs, and its tools, after showing both.

import type { Approval, ApprovalDetail } from "../../api/schemas/server-approval.ts";
import type { Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { askYes, canAsk } from "../terminal/ask.ts";
import { count, oneLine } from "../../lib/text.ts";
import { describeDifferences, describeRun, describeState } from "./approval-text.ts";

export interface Approved {
  readonly name: string;
  /** Only these tools. None: what the server runs, and all its tools. */
  readonly tools: readonly string[];
}

/** Servers and tools that wait for an approval. */
export async function showWaiting(access: Access): Promise<void> {
  const { api, out } = access;
  const waiting = (await api.serverApprovals.list()).filter(isWaiting);
  if (out.json) return out.data(waiting);
  if (waiting.length === 0) out.print("Nothing waits for an approval.");
  else {
    out.table(waiting.map((approval) => [approval.server, describeState(approval)]));
    out.print("See it, and approve it: plugboard approve SERVER");
  }
  access.mentionNoHub();
}

export function isWaiting({ state, changed, added, damaged }: Approval): boolean {
  return state === "required" || changed + added > 0 || damaged !== null;
}

export async function approveServer(
  io: Io,
  access: Access,
  { name, tools }: Approved,
  options: GlobalOptions,
): Promise<void> {
  const { api, out } = access;
  const { config } = await api.servers.get(name);
  const server = config.name;
  const before = await api.serverApprovals.get(server);
  // Without a running hub, its tools are those that it lists when this command starts it.
  if (before.state === "approved" && access.hub === undefined) await access.ready(server);
  const shown = before.state === "approved" ? await api.serverApprovals.get(server) : before;
  if (!out.json) show(access, shown);
  if (canAsk(io, options) && isWaiting(shown) && !(await askYes(io, questionOf(shown), { enter: false }))) {
    return out.note("Nothing was approved");
  }
  const approved = await api.serverApprovals.approve(server, {
    digest: shown.digest,
    ...(tools.length === 0 ? {} : { tools: [...tools] }),
  });
  const what = tools.length === 0 ? server : `${tools.join(", ")} of ${server}`;
  if (out.json) return out.data(approved);
  out.changed(`Approved ${what}`, approved);
  if (before.state === "required" && config.enabled) await showFirstTools(access, server);
}

function show({ out }: Access, approval: ApprovalDetail): void {
  const { server, state, reason, damaged, differences } = approval;
  const lines = [`${server}: ${describeState(approval)}`, ...describeRun(approval)];
  if (state === "approved" && damaged !== null) lines.push(`  ${damaged}: what was approved is not known`);
  if (differences.length > 0) lines.push(...describeDifferences(differences));
  else if (state === "required") lines.push("  Its tools are pinned as it lists them first.");
  else if (reason === null && damaged === null) lines.push("  Its tools are as they were approved.");
  out.note(lines.join("\n"));
}

function questionOf({ state, server, differences }: ApprovalDetail): string {
  if (state === "required") return `Let ${server} run this?`;
  return differences.length === 0
    ? `Approve ${server}?`
    : `Approve ${count(differences.length, "difference")} of ${server}?`;
}

/** What the approved program offers. Nobody could know that before it ran. */
async function showFirstTools(access: Access, name: string): Promise<void> {
  const { api, out } = access;
  // The state below says why it does not start.
  const started = access.hub === undefined ? access.ready(name) : access.hub.client.servers.start(name);
  await started.catch(() => undefined);
  const { status, error, tools } = await api.servers.get(name);
  if (error !== null) return out.warn(`${name} does not start: ${error.message}`);
  if (status !== "running") return out.note(`${name} is ${status}: plugboard tools ${name}`);
  out.note(`${count(tools.length, "tool")}: ${tools.map((tool) => oneLine(tool.name)).join(" ")}`);
  for (const { name: tool, warnings = [] } of tools) {
    for (const warning of warnings) out.warn(`${oneLine(tool)} ${oneLine(warning)}`);
  }
}
