// What a person sees before an approval: the command line or address, the variables, and how the tools differ.

import type { ApprovalDetail, ToolDifference } from "../../api/schemas/server-approval.ts";
import { renderMembers } from "../../catalog/tool-diff.ts";
import { quoted } from "../../lib/quoted.ts";
import { oneLine } from "../../lib/text.ts";

const SIGNS = { added: "+", changed: "~", removed: "-" } as const;
const INDENT = 11;

/** Lines about what is run. */
export function describeRun({ run, origin }: ApprovalDetail): string[] {
  const { command, cwd, url, headers, env, allow_env } = run;
  return [
    ...row("from", origin),
    ...row("runs", command === null ? null : command.map(quoted).join(" ")),
    ...row("folder", cwd),
    ...row("connects", url),
    ...row("headers", headers.join(" ")),
    ...row("variables", env.join(" ")),
    ...row("may use", allow_env.map((name) => `\${${name}}`).join(" ")),
  ];
}

function row(label: string, text: string | null): string[] {
  return text === null || text === "" ? [] : [`  ${label.padEnd(INDENT)}${oneLine(text)}`];
}

/** Lines about its tools. */
export function describeDifferences(differences: readonly ToolDifference[]): string[] {
  return differences.flatMap(({ tool, change, description, members, warnings, withheld }) => [
    `${SIGNS[change]} ${oneLine(tool)}${withheld ? "  (withheld)" : ""}`,
    ...(description === null ? [] : [`    ${oneLine(description)}`]),
    ...renderMembers(
      members.map(({ path, before, after }) => ({ path, before: before ?? undefined, after: after ?? undefined })),
    ),
    ...warnings.map((warning) => `    ! ${oneLine(warning)}`),
  ]);
}

/** @example describeState(approval) // "2 tools changed, 1 new: withheld" */
export function describeState(
  approval: Pick<ApprovalDetail, "state" | "reason" | "changed" | "added" | "removed" | "withheld" | "damaged">,
): string {
  const { state, reason, changed, added, removed, withheld, damaged } = approval;
  if (damaged !== null) return "damaged: what was approved is not known";
  if (state === "required") return `needs approval: ${reason ?? ""}`;
  const parts = [
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(added > 0 ? [`${added} new`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(withheld > 0 ? [`${withheld} withheld`] : []),
  ];
  return parts.length === 0 ? "as approved" : parts.join(", ");
}
