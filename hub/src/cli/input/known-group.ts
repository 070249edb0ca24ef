// Finds a group, and reads the patterns of its tools as people type them.

import { didYouMean } from "@plugboard/shared/near-names";
import type { GroupView } from "../../api/schemas/group.ts";
import { HubError } from "../../errors.ts";
import type { Access } from "../hub-access/hub-access.ts";

export async function known(api: Access["api"], name: string): Promise<GroupView> {
  const groups = await api.groups.list();
  const group = groups.find((candidate) => candidate.name === name);
  if (group !== undefined) return group;
  throw new HubError("GroupNotFound", `There is no group "${name}"`, {
    hint: didYouMean(
      name,
      groups.map((candidate) => candidate.name),
      "Groups",
    ),
  });
}

/**
 * Turns `server.tool` into the config's `server:tool`. Tool names may contain dots, so only the name of a known server counts.
 */
export function withColon(pattern: string, servers: ReadonlySet<string>): string {
  const [, exclusion = "", server = "", tool = ""] = /^(!?)([^.:]*)\.(.*)$/s.exec(pattern) ?? [];
  return servers.has(server) ? `${exclusion}${server}:${tool}` : pattern;
}
