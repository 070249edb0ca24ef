// What a group would expose if it were saved: the same names and filters as those of a saved group.

import type { GroupConfig, HubConfig } from "../config/schema/types.ts";
import { membershipWarnings } from "./catalog.ts";
import { Group, type ExposedTool } from "./group.ts";
import type { ServerListing } from "./listing.ts";
import { createMember } from "./member.ts";
import { readMemberships } from "./membership.ts";
import { DEFAULT_MAX_NAME_LENGTH } from "./names.ts";
import { ToolFilter } from "./tool-filter.ts";
import { misfits, type Misfit } from "./tool-settings-check.ts";

export interface PreviewedTool extends ExposedTool {
  /** The entry of `tools` that decides about it; undefined if none is needed to let it in, or none lets it in. */
  readonly rule: string | undefined;
}

export interface Preview {
  readonly tools: readonly PreviewedTool[];
  /** Tools of its servers that it keeps out. */
  readonly hidden: readonly PreviewedTool[];
  readonly isSearched: boolean;
  readonly warnings: readonly string[];
  /** Those of them that concern settings of tools. */
  readonly misfits: readonly Misfit[];
}

export function previewGroup(
  { servers }: Pick<HubConfig, "servers">,
  listings: ReadonlyMap<string, ServerListing>,
  group: GroupConfig,
): Preview {
  const { memberships, warnings } = readMemberships({ servers, groups: [group] });
  const membership = memberships.find(({ name }) => name === group.name);
  if (membership === undefined) return { tools: [], hidden: [], isSearched: false, warnings, misfits: [] };
  const members = membership.servers.flatMap((name) => {
    const server = servers.find((each) => each.name === name);
    return server === undefined ? [] : [createMember(server, listings.get(name))];
  });
  const naming = { maxNameLength: DEFAULT_MAX_NAME_LENGTH };
  const filter = new ToolFilter(group.tools);
  const withRule = (tool: ExposedTool) => ({ ...tool, rule: filter.deciding(tool.server, tool.tool) });
  const exposed = new Group(membership, members, naming);
  return {
    tools: exposed.tools.map(withRule),
    isSearched: exposed.isSearched,
    hidden: new Group({ ...membership, tools: [], toolSettings: undefined }, members, naming).tools
      .filter(({ server, tool }) => !filter.admits(server, tool))
      .map(withRule),
    warnings: [...warnings, ...membershipWarnings(membership, members)],
    misfits: misfits(membership, members),
  };
}
