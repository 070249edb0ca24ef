// What is exposed right now: an immutable snapshot of all groups, built from the config and each server's last listing, and
// replaced as a whole on every change. When to build a new one is left to the caller.
import type { HubConfig } from "../config/types.ts";
import { didYouMean } from "../did-you-mean.ts";
import { HubError } from "../errors.ts";
import { Group } from "./group.ts";
import type { ServerListing } from "./listing.ts";
import { createMember, isUnknown } from "./member.ts";
import type { Member } from "./member.ts";
import { DEFAULT_GROUP, readMemberships } from "./membership.ts";
import type { Membership } from "./membership.ts";
import { DEFAULT_MAX_NAME_LENGTH, MIN_MAX_NAME_LENGTH } from "./names.ts";
import { quote } from "./quote.ts";
import { ToolFilter } from "./tool-filter.ts";

interface CatalogOptions {
  /** Of exposed tool and prompt names; the limits of LLM clients differ. */
  readonly maxNameLength?: number;
}

export class Catalog {
  /** What the user should know about the config and the listings; nothing here stops anything from working. */
  readonly warnings: readonly string[];
  readonly groupNames: readonly string[];
  readonly #groups: ReadonlyMap<string, Group>;

  private constructor(groups: ReadonlyMap<string, Group>, warnings: readonly string[]) {
    this.#groups = groups;
    this.groupNames = [...groups.keys()];
    this.warnings = warnings;
  }

  /**
   * Listings go by server name; a server without one has not been up yet.
   *
   * @example Catalog.build(config, new Map([["git", { listing, available: true }]])).group("work").tools
   */
  static build(
    config: HubConfig,
    listings: ReadonlyMap<string, ServerListing>,
    { maxNameLength = DEFAULT_MAX_NAME_LENGTH }: CatalogOptions = {},
  ): Catalog {
    if (!(maxNameLength >= MIN_MAX_NAME_LENGTH)) {
      const message = `The longest name must be at least ${MIN_MAX_NAME_LENGTH} characters`;
      throw new HubError("InvalidConfig", message, { field: "maxNameLength" });
    }
    const { memberships, warnings } = readMemberships(config);
    const members = new Map(
      config.servers.map((server) => [server.name, createMember(server, listings.get(server.name))]),
    );
    const groups = new Map<string, Group>();
    const allWarnings = [...warnings, ...repeatWarnings(members.values())];
    for (const membership of memberships) {
      const own = membership.servers.flatMap((server) => members.get(server) ?? []);
      groups.set(membership.name, new Group(membership, own, { maxNameLength }));
      allWarnings.push(...unusedEntryWarnings(membership, own));
    }
    return new Catalog(groups, allWarnings);
  }

  /** No name: the group `default`. The error names no other group: an MCP client may see only its own. */
  group(name: string = DEFAULT_GROUP): Group {
    const group = this.#groups.get(name);
    if (group === undefined) throw groupNotFound(name);
    return group;
  }

  /** For those who manage the hub: the error also says which group may be meant. */
  groupOrSuggest(name: string = DEFAULT_GROUP): Group {
    const group = this.#groups.get(name);
    if (group === undefined) throw groupNotFound(name, didYouMean(name, this.groupNames, "Groups"));
    return group;
  }
}

function groupNotFound(name: string, hint?: string): HubError {
  const detail = `There is no group ${quote(name)}`;
  return new HubError("GroupNotFound", "Group not found", { detail, ...(hint === undefined ? {} : { hint }) });
}

function repeatWarnings(members: Iterable<Member>): string[] {
  return [...members]
    .filter(({ offers }) => offers.repeats > 0)
    .map(
      ({ server, offers }) =>
        `Server ${quote(server)} lists ${offers.repeats} entries under a name that it has used already; the first ones stay`,
    );
}

/** Only once every server of the group has been heard: before that, an entry may be waiting for its server. */
function unusedEntryWarnings({ name, tools, incomplete }: Membership, members: readonly Member[]): string[] {
  if (tools.length === 0 || incomplete || members.some(isUnknown)) return [];
  const offered = members.flatMap(({ server, offers }) => offers.tools.map(({ own }) => ({ server, tool: own })));
  return new ToolFilter(tools)
    .unused(offered)
    .map((entry) => `Group ${quote(name)}: the tools entry ${quote(entry)} matches no tool`);
}
