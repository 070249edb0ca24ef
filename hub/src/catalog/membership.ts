// Which servers belong to which group: what group.json says, what the servers' own hints add, and the group that is always
// there. Config only; whether a server runs is left to member.ts.
import type { HubConfig } from "../config/types.ts";
import { quote } from "./quote.ts";

export const DEFAULT_GROUP = "default";

export interface Membership {
  readonly name: string;
  readonly description: string | undefined;
  /** Configured servers only, each once, in the group's order. */
  readonly servers: readonly string[];
  /** Decides the form of names (NameForm). */
  readonly several: boolean;
  readonly tools: readonly string[];
  /** As the config says; undefined where it does not. */
  readonly nameAsker: boolean | undefined;
  /** Does the group name servers that are not configured? */
  readonly incomplete: boolean;
}

interface Memberships {
  readonly memberships: readonly Membership[];
  readonly warnings: readonly string[];
}

export function readMemberships(config: HubConfig): Memberships {
  const warnings: string[] = [];
  const known = new Set(config.servers.map((server) => server.name));
  const hints = readHints(config);
  const groups = new Map<string, Membership>();

  for (const { name, description, servers, tools, nameAsker } of config.groups) {
    if (groups.has(name)) {
      warnings.push(`Group ${quote(name)} is declared twice; the first declaration counts`);
      continue;
    }
    const unknown = servers.filter((server) => !known.has(server));
    for (const server of unknown) warnings.push(`Group ${quote(name)} names the unknown server ${quote(server)}`);
    const members = new Set([...servers.filter((server) => known.has(server)), ...(hints.get(name) ?? [])]);
    groups.set(name, {
      name,
      description,
      servers: [...members],
      several: members.size > 1,
      tools,
      nameAsker,
      incomplete: unknown.length > 0,
    });
  }

  // Before the hints: a hint of "default" joins the default group, it does not shrink it to the servers with the hint.
  if (!groups.has(DEFAULT_GROUP)) groups.set(DEFAULT_GROUP, everyServer(config));
  for (const [name, members] of hints) {
    if (groups.has(name)) continue;
    groups.set(name, { ...EMPTY, name, servers: [...members], several: members.size > 1 });
  }
  return { memberships: [...groups.values()], warnings };
}

const EMPTY = { description: undefined, tools: [], nameAsker: undefined, incomplete: false } as const;

/** Holds the enabled servers. The disabled ones count for the form of names, so that switching one on renames nothing. */
function everyServer({ servers }: HubConfig): Membership {
  const enabled = servers.filter((server) => server.enabled).map((server) => server.name);
  return { ...EMPTY, name: DEFAULT_GROUP, servers: enabled, several: servers.length > 1 };
}

function readHints({ servers }: HubConfig): ReadonlyMap<string, ReadonlySet<string>> {
  const hints = new Map<string, Set<string>>();
  for (const { name, groups } of servers) {
    for (const group of groups) {
      const members = hints.get(group) ?? new Set();
      hints.set(group, members.add(name));
    }
  }
  return hints;
}
