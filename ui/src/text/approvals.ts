// Text of the calls that wait for a person.

import { plural } from "../lib/text/format.ts";

export const approvals = {
  title: (n: number) => `${plural(n, "call")} ${n === 1 ? "waits" : "wait"} for approval`,
  from: (group: string, client: string | null, principal: string | null) =>
    [client ?? "a client", principal === null ? undefined : `for ${principal}`, `through ${group}`]
      .filter((part) => part !== undefined)
      .join(" "),
  left: (seconds: number) => `${plural(seconds, "second")} left`,
  asksClient: "its client asks, too",
  arguments: (tool: string) => `Arguments of ${tool}`,
  cut: "The arguments are longer: only their beginning is shown.",
  approve: "Approve",
  deny: "Deny",
  approveIt: (tool: string) => `Approve the call of ${tool}`,
  denyIt: (tool: string) => `Deny the call of ${tool}`,
  others: "Only the caller, operators and administrators decide.",
};
