// Which servers belong to which group: by group.json, by the `groups` of the servers' own entries, and the group `default`.
// From the config only; member.ts knows whether a server runs.
import { DEFAULT_APPROVAL_MS, type ApprovalRule } from "../config/schema/call-rules.ts";
import type { GroupConfig, HubConfig } from "../config/schema/types.ts";
import { noFieldsLeft } from "@plugboard/shared/fields";
import { quote } from "./quote.ts";

export const DEFAULT_GROUP = "default";
/** Recorded as the group of requests to a server instead of a group. Not a legal name of a group. */
export const NO_GROUP = "@api";

/** All fields required, so that a field that is added to GroupConfig and forgotten here does not compile. */
type EveryField<T> = { readonly [K in keyof Required<T>]: T[K] };

/** A group with its resolved servers: only configured ones, each once, in the group's order. */
export interface Membership extends EveryField<GroupConfig> {
  readonly exposure: NonNullable<GroupConfig["exposure"]>;
  readonly always: readonly string[];
  readonly approve: ApprovalRule;
  readonly approvalTimeoutMs: number;
  /** Decides the form of names (NameForm). */
  readonly several: boolean;
  /** The group names servers that are not configured. */
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

  for (const {
    name,
    description,
    servers,
    tools,
    toolSettings,
    nameAsker,
    access,
    exposure,
    always,
    approve,
    approvalTimeoutMs,
    results,
    ...rest
  } of config.groups) {
    noFieldsLeft(rest);
    if (groups.has(name)) {
      warnings.push(`Group ${quote(name)} is declared twice; the first declaration is used`);
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
      toolSettings,
      nameAsker,
      access,
      exposure: exposure ?? DEFAULTS.exposure,
      always: always ?? DEFAULTS.always,
      approve: approve ?? DEFAULTS.approve,
      approvalTimeoutMs: approvalTimeoutMs ?? DEFAULTS.approvalTimeoutMs,
      results,
      incomplete: unknown.length > 0,
    });
  }

  // In place of a group whose entry is not valid, and may have had a list: administrators only.
  const accessOf = (name: string) => (config.invalidGroups?.some((invalid) => invalid.name === name) ? [] : undefined);
  // Before the hints: a hint "default" must not reduce the default group to the servers with the hint.
  if (!groups.has(DEFAULT_GROUP))
    groups.set(DEFAULT_GROUP, { ...everyServer(config), access: accessOf(DEFAULT_GROUP) });
  for (const [name, members] of hints) {
    if (groups.has(name)) continue;
    groups.set(name, { ...DEFAULTS, name, servers: [...members], several: members.size > 1, access: accessOf(name) });
  }
  return { memberships: [...groups.values()], warnings };
}

/** The settings of a group without an entry. */
const DEFAULTS = {
  description: undefined,
  tools: [],
  toolSettings: undefined,
  nameAsker: undefined,
  access: undefined,
  exposure: "auto",
  always: [],
  approve: "never",
  approvalTimeoutMs: DEFAULT_APPROVAL_MS,
  results: undefined,
  incomplete: false,
} as const;

/** One server alone, in no group: a client of it is not one of a group. */
export function onlyServer(server: string): Membership {
  return { ...DEFAULTS, name: NO_GROUP, servers: [server], exposure: "all", several: false };
}

/** All enabled servers. Disabled ones count for the form of names, so that enabling one renames nothing. */
function everyServer({ servers }: HubConfig): Membership {
  const enabled = servers.filter((server) => server.enabled).map((server) => server.name);
  return { ...DEFAULTS, name: DEFAULT_GROUP, servers: enabled, several: servers.length > 1 };
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
