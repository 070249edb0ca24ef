// `plugboard pins`: the approved tools of the servers, and how they differ from those of now.

import { describeDifferences, describeRun, describeState } from "../approve/approval-text.ts";
import type { Register } from "../command.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import { count } from "../terminal/text.ts";

export const pinsCommand: Register = (program, { io }) => {
  program
    .command("pins")
    .description("show which servers and tools are approved, and what has changed since")
    .argument("[server]", "show this server with all differences")
    .action(async (server: string | undefined, options: GlobalOptions) => {
      await withAccess(io, options, (access) => (server === undefined ? list(access) : show(access, server)));
    });
};

async function list(access: Access): Promise<void> {
  const { api, out } = access;
  await access.ready();
  const approvals = await api.serverApprovals.list();
  if (out.json) return out.data(approvals);
  if (approvals.length === 0) out.print("No servers.");
  else {
    const rows = approvals.map((approval) => [
      approval.server,
      approval.pins,
      approval.pinned === null ? "-" : String(approval.pinned),
      approval.by ?? "-",
      describeState(approval),
    ]);
    out.table([["SERVER", "PINS", "TOOLS", "APPROVED BY", "STATE"], ...rows], { right: [2] });
  }
  access.mentionNoHub();
}

async function show(access: Access, id: string): Promise<void> {
  const { api, out } = access;
  const { config } = await api.servers.get(id);
  await access.ready(config.name).catch(() => undefined); // what was approved is known without it
  const approval = await api.serverApprovals.get(config.name);
  if (out.json) return out.data(approval);
  const { server, state, pins, pinned, damaged, differences } = approval;
  const policy = pinned === null ? `pins: ${pins}` : `${count(pinned, "tool")} pinned, pins: ${pins}`;
  out.print(`${server}: ${describeState(approval)}  (${policy})`);
  for (const line of [...describeRun(approval), ...describeDifferences(differences)]) out.print(line);
  if (damaged !== null) out.print(damaged);
  if (state === "required" || differences.length > 0 || damaged !== null)
    out.print(`To approve it: plugboard approve ${server}`);
  access.mentionNoHub();
}
