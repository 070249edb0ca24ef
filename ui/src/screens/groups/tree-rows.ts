// The rows of the tree of a group: its servers in their order, then the others, with the tools of those that are open.

import { compact } from "../../lib/text/format.ts";
import type { GroupDraft } from "../../lib/groups/draft.ts";
import { Rules, toolKey } from "../../lib/groups/rules.ts";
import type { ToolRow } from "../../lib/tools/tool-index.ts";
import { marksOfFlags } from "../../lib/tools/tool-marks.ts";
import { groupText } from "../../text/groups.ts";

interface Common {
  readonly server: string;
  readonly state: "on" | "off" | "mixed";
  /** What is said at the end of the row. */
  readonly note: string;
}

export type TreeRow =
  | (Common & {
      readonly kind: "server";
      readonly total: number;
      readonly isOpen: boolean;
      /** Its place in the order of the group; undefined if it is not in it. */
      readonly place: number | undefined;
      readonly isConfigured: boolean;
    })
  | ToolTreeRow;

export type ToolTreeRow = Common & { readonly kind: "tool"; readonly tool: string; readonly rule: string | undefined };

export interface TreeOptions {
  readonly draft: GroupDraft;
  /** Every server that is configured. */
  readonly servers: readonly string[];
  readonly toolsOf: ReadonlyMap<string, readonly ToolRow[]>;
  readonly open: ReadonlySet<string>;
  readonly filter: string;
  readonly onlyOn: boolean;
}

export function treeRows({ draft, servers, toolsOf, open, filter, onlyOn }: TreeOptions): TreeRow[] {
  const rules = new Rules(draft.rules);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: TreeRow[] = [];
  const others = servers.filter((server) => !draft.servers.includes(server));
  for (const server of [...draft.servers, ...others]) {
    const isMember = draft.servers.includes(server);
    if (onlyOn && !isMember) continue;
    const all = toolsOf.get(server) ?? [];
    const isOn = ({ tool }: ToolRow) => isMember && rules.admits(server, tool);
    const on = all.filter(isOn);
    const matching = all.filter(
      (row) =>
        words.every((word) => `${server} ${row.tool} ${row.title ?? ""}`.toLowerCase().includes(word)) &&
        (!onlyOn || isOn(row)),
    );
    const isServerMatch = words.every((word) => server.toLowerCase().includes(word));
    if (words.length > 0 && !isServerMatch && matching.length === 0) continue;
    const isConfigured = servers.includes(server);
    // What is looked for is shown, without a click.
    const isOpen = open.has(server) || (words.length > 0 && !isServerMatch);
    const tokens = on.reduce((sum, row) => sum + row.tokens, 0);
    rows.push({
      kind: "server",
      server,
      state: !isMember ? "off" : on.length === all.length ? "on" : "mixed",
      note: noteOf({ isConfigured, isMember, on: on.length, all: all.length, tokens }),
      total: all.length,
      isOpen,
      place: isMember ? draft.servers.indexOf(server) : undefined,
      isConfigured,
    });
    if (!isOpen) continue;
    for (const row of matching) {
      const deciding = rules.decidingRule(server, row.tool);
      rows.push({
        kind: "tool",
        server,
        tool: row.tool,
        state: isOn(row) ? "on" : "off",
        // The rule of the whole server would stand beside every tool.
        rule: isMember && deciding !== `${server}:*` ? deciding : undefined,
        note: [
          ...settingMarks(draft, server, row.tool),
          ...marksOfFlags(row.flags).slice(0, 2),
          `≈${compact(row.tokens)}`,
        ].join(" · "),
      });
    }
  }
  return rows;
}

/** What the group itself says about a tool. */
function settingMarks({ settings }: GroupDraft, server: string, tool: string): string[] {
  const own = settings[toolKey(server, tool)];
  if (own === undefined) return [];
  return [own.as === undefined ? groupText.hasSettings : groupText.renamedTo(own.as)];
}

interface Facts {
  readonly isConfigured: boolean;
  readonly isMember: boolean;
  readonly on: number;
  readonly all: number;
  readonly tokens: number;
}

function noteOf({ isConfigured, isMember, on, all, tokens }: Facts): string {
  if (!isConfigured) return groupText.notConfigured;
  if (!isMember) return groupText.off;
  return all === 0 ? groupText.notKnown : `${groupText.of(on, all)} · ≈${compact(tokens)}`;
}
