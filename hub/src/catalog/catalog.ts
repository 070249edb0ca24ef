// The current catalog: an immutable snapshot of all groups, built from the config and each server's last listing. Replaced as
// a whole on every change, by the caller.
import type { HubConfig } from "../config/schema/types.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { HubError } from "../errors.ts";
import { Group } from "./group.ts";
import type { ServerListing } from "./listing.ts";
import { createMember, isUnknown } from "./member.ts";
import type { Member } from "./member.ts";
import { DEFAULT_GROUP, onlyServer, readMemberships } from "./membership.ts";
import type { Membership } from "./membership.ts";
import { DEFAULT_MAX_NAME_LENGTH, MIN_MAX_NAME_LENGTH } from "./names.ts";
import { quote } from "./quote.ts";
import { strictest, type ToolRules } from "./tool-rules.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { ToolFilter } from "./tool-filter.ts";
import { findOrders, isDistinctive, ToolFlags } from "./tool-flags.ts";
import { misfits } from "./tool-settings-check.ts";

interface CatalogOptions {
  /** For exposed tool and prompt names; the limits of LLM clients differ. */
  readonly maxNameLength?: number;
  /** Who may use a group that does not say so. Undefined: everyone whose credentials are valid. */
  readonly defaultAccess?: readonly string[] | undefined;
  /** The snapshot before this one. */
  readonly previous?: Catalog | undefined;
}

export class Catalog {
  /** Problems of the config and the listings that do not stop anything from working. */
  readonly warnings: readonly string[];
  readonly groupNames: readonly string[];
  readonly #groups: ReadonlyMap<string, Group>;
  readonly #members: ReadonlyMap<string, Member>;
  /** Built on demand: only the web interface uses them. */
  readonly #servers = new Map<string, Group>();

  /** Servers by the names of their tools. Built on demand. */
  #owners: ReadonlyMap<string, readonly string[]> | undefined;
  readonly #flags: ToolFlags;

  private constructor(
    groups: ReadonlyMap<string, Group>,
    members: ReadonlyMap<string, Member>,
    warnings: readonly string[],
    flags: ToolFlags,
  ) {
    this.#flags = flags;
    this.#groups = groups;
    this.#members = members;
    this.groupNames = [...groups.keys()];
    this.warnings = warnings;
  }

  /**
   * `listings`: by server name; a server that has not been up yet has none.
   *
   * @example Catalog.build(config, new Map([["git", { listing, available: true }]])).group("work").tools
   */
  static build(
    config: HubConfig,
    listings: ReadonlyMap<string, ServerListing>,
    { maxNameLength = DEFAULT_MAX_NAME_LENGTH, defaultAccess, previous }: CatalogOptions = {},
  ): Catalog {
    if (!(maxNameLength >= MIN_MAX_NAME_LENGTH)) {
      const message = `maxNameLength must be at least ${MIN_MAX_NAME_LENGTH}`;
      throw new HubError("InvalidArgument", message, { field: "maxNameLength" });
    }
    const { memberships, warnings } = readMemberships(config);
    const members = new Map(
      config.servers.map((server) => [server.name, createMember(server, listings.get(server.name))]),
    );
    const groups = new Map<string, Group>();
    const allWarnings = [...warnings, ...repeatWarnings(members.values())];
    for (const given of memberships) {
      const membership = { ...given, access: given.access ?? defaultAccess };
      const own = membership.servers.flatMap((server) => members.get(server) ?? []);
      const wasSearched = previous === undefined ? undefined : previous.#groups.get(membership.name)?.wasSearched;
      groups.set(membership.name, new Group(membership, own, { maxNameLength, wasSearched }));
      allWarnings.push(...membershipWarnings(membership, own));
    }
    return new Catalog(groups, members, allWarnings, previous === undefined ? new ToolFlags() : previous.#flags);
  }

  /** No name: the group `default`. The error mentions no other group: an MCP client may know only its own. */
  group(name: string = DEFAULT_GROUP): Group {
    const group = this.#groups.get(name);
    if (group === undefined) throw groupNotFound(name);
    return group;
  }

  /** One server under its own names, independent of the groups. */
  server(name: string): Group {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const member = this.#members.get(name);
    if (member === undefined) throw new HubError("ServerNotFound", `There is no server ${quote(name)}`);
    const group = new Group(onlyServer(name), [member], {
      maxNameLength: DEFAULT_MAX_NAME_LENGTH,
      verbatim: true,
      rulesOf: ({ server, own }) => this.rulesOnServer(server, own),
    });
    this.#servers.set(name, group);
    return group;
  }

  /** What holds for calls of a tool in no group: the approval that any group with this tool asks for. */
  rulesOnServer(server: string, tool: string): ToolRules | undefined {
    const groups = [...this.#groups.values()].filter(({ servers }) => servers.includes(server));
    const approval = strictest(groups.map((group) => group.findRules(server, tool)));
    const maxResultBytes = this.#members.get(server)?.maxResultBytes;
    return approval === undefined && maxResultBytes === undefined ? undefined : { approval, maxResultBytes };
  }

  /** What is suspicious about the texts of a tool of a server. */
  flagsOf(server: string, definition: JsonObject): string[] {
    const ownerOf = (name: string) => {
      const owners = this.#toolOwners.get(name) ?? [];
      return owners.includes(server) ? undefined : owners[0];
    };
    return [...this.#flags.of(definition), ...findOrders(definition, ownerOf)];
  }

  get #toolOwners(): ReadonlyMap<string, readonly string[]> {
    return (this.#owners ??= findOwners(this.#members.values()));
  }

  /** For the management API: the error also suggests similar names. */
  groupOrSuggest(name: string = DEFAULT_GROUP): Group {
    const group = this.#groups.get(name);
    if (group === undefined) throw groupNotFound(name, didYouMean(name, this.groupNames, "Groups"));
    return group;
  }
}

export function groupNotFound(name: string, hint?: string): HubError {
  const detail = `There is no group ${quote(name)}`;
  return new HubError("GroupNotFound", "Group not found", { detail, ...(hint === undefined ? {} : { hint }) });
}

/** Of tools whose names are no plain words. */
function findOwners(members: Iterable<Member>): Map<string, string[]> {
  const owners = new Map<string, string[]>();
  for (const { server, offers } of members) {
    for (const { own } of offers.tools) {
      if (isDistinctive(own)) owners.set(own, [...(owners.get(own) ?? []), server]);
    }
  }
  return owners;
}

function repeatWarnings(members: Iterable<Member>): string[] {
  return [...members]
    .filter(({ offers }) => offers.repeats > 0)
    .map(
      ({ server, offers }) =>
        `Server ${quote(server)} lists ${offers.repeats} entries under a duplicate name; the first of each is used`,
    );
}

/** Entries of `tools` that do not fit what the servers offer. */
export function membershipWarnings(membership: Membership, members: readonly Member[]): string[] {
  const problems = misfits(membership, members).map(({ message }) => `Group ${quote(membership.name)}: ${message}`);
  return [...unusedEntryWarnings(membership, members), ...problems];
}

/** Only when every server of the group has a listing: before that, an entry may match a tool of a missing one. */
function unusedEntryWarnings({ name, tools, incomplete }: Membership, members: readonly Member[]): string[] {
  if (tools.length === 0 || incomplete || members.some(isUnknown)) return [];
  const offered = members.flatMap(({ server, offers }) => offers.tools.map(({ own }) => ({ server, tool: own })));
  return new ToolFilter(tools)
    .unused(offered)
    .map((entry) => `Group ${quote(name)}: the tools entry ${quote(entry)} matches no tool`);
}
