// `plugboard approvals`: the calls that wait until a person approves them.

import type { HubClient } from "../../api/client/client.ts";
import type { CallApproval } from "../../api/schemas/approval.ts";
import { HubError } from "../../errors.ts";
import { revealHidden } from "../../lib/hidden-text.ts";
import type { Register } from "../command.ts";
import { requireHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import { printable } from "../terminal/text.ts";
import { span } from "../terminal/times.ts";

interface DenyOptions extends GlobalOptions {
  readonly reason?: string;
}

export const approvalsCommand: Register = (program, { io }) => {
  const approvals = program
    .command("approvals")
    .description("calls that wait for your approval: ls, approve, deny")
    .action((options: GlobalOptions) => list(io, options));
  approvals
    .command("ls")
    .alias("list")
    .description("list them with their arguments")
    .action((options: GlobalOptions) => list(io, options));
  approvals
    .command("approve")
    .description("let a call be made")
    .argument("<id>", "the id that plugboard approvals shows")
    .action(async (id: string, options: GlobalOptions) => {
      const { client } = await requireHub(io, options);
      const call = await find(client, id);
      await client.approvals.approve(id);
      new Output(io, options).changed(`Approved ${nameOf(call)}`, { approved: id });
    });
  approvals
    .command("deny")
    .description("refuse a call")
    .argument("<id>", "the id that plugboard approvals shows")
    .option("--reason <text>", "told to the client, and recorded")
    .action(async (id: string, { reason, ...options }: DenyOptions) => {
      const { client } = await requireHub(io, options);
      const call = await find(client, id);
      await client.approvals.deny(id, reason === undefined ? {} : { reason });
      new Output(io, options).changed(`Denied ${nameOf(call)}`, { denied: id });
    });
};

async function list(io: Io, options: GlobalOptions): Promise<void> {
  // Only a hub that runs has calls that wait.
  const { client } = await requireHub(io, options);
  const out = new Output(io, options);
  const waiting = await client.approvals.list();
  if (out.json) return out.data(waiting);
  if (waiting.length === 0) return out.note("No call waits for approval");
  for (const call of waiting) show(out, call);
  out.note("plugboard approvals approve ID, or deny ID");
}

function show(out: Output, call: CallApproval): void {
  const { id, group, client, principal, since, expires_at, asks_client: asksClient } = call;
  const now = Date.now();
  const by = [client, principal].filter((part) => part !== null).join(" for ") || "a client without a name";
  out.print(`${out.color.strong(id)}  ${nameOf(call)}  (group ${group})`);
  out.print(`  by      ${printable(by)}`);
  out.print(
    `  waits   ${span(now - Date.parse(since))}, for ${span(Date.parse(expires_at) - now)} more${asksClient ? "; its client asks, too" : ""}`,
  );
  const text = revealHidden(JSON.stringify(call.arguments, null, 2)) + (call.truncated ? "\n… (cut)" : "");
  out.print(printable(text).replaceAll(/^/gm, "  "));
}

function nameOf({ server, tool, exposed_name: exposed }: CallApproval): string {
  const full = `${server}.${tool}`;
  return printable(exposed === null ? full : `${exposed} (${full})`);
}

async function find({ approvals }: Pick<HubClient, "approvals">, id: string): Promise<CallApproval> {
  const found = (await approvals.list()).find((call) => call.id === id);
  if (found !== undefined) return found;
  throw new HubError("CallNotFound", `No call with the id ${JSON.stringify(id)} waits for approval`, {
    hint: "It was decided, timed out or was cancelled. plugboard approvals",
  });
}
