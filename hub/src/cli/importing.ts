// The servers of other clients taken over into the hub: what there is to take, against what the hub has, and the taking.
// How it is asked for and told is left to `plugboard import` and the first run.

import { planImport, type Plan, type PlannedGroup, type PlannedServer, type RefusedServer } from "../clients/plan.ts";
import type { ScannedFile } from "../clients/scan.ts";
import { withDeclared } from "../config/allowed-env.ts";
import { isObject } from "../config/plain.ts";
import { HubError } from "../errors.ts";
import type { Access } from "./access.ts";
import type { Io } from "./io.ts";

export interface ImportOptions {
  readonly keepSecrets: boolean;
}

export interface Imported {
  readonly added: readonly PlannedServer[];
  readonly refused: readonly RefusedServer[];
  /** Those that were set. */
  readonly groups: readonly string[];
  readonly failed: readonly FailedGroup[];
}

interface FailedGroup {
  readonly name: string;
  readonly error: HubError;
}

/** What there is to import into a hub that has nothing yet. */
export function planAnew(io: Io, files: readonly ScannedFile[], { keepSecrets }: ImportOptions): Plan {
  return planImport(files, { surroundings: io, keepSecrets, servers: [], groups: {}, secrets: [] });
}

export async function planFor(
  io: Io,
  { api, hub }: Access,
  files: readonly ScannedFile[],
  { keepSecrets }: ImportOptions,
): Promise<Plan> {
  const [{ demo, config }, servers, secrets] = await Promise.all([api.config(), api.listServers(), api.listSecrets()]);
  // One that nobody uses may be what an earlier import stored: it is used again where its value is the same.
  const unused = new Set(secrets.filter(({ used_by }) => used_by.length === 0).map(({ name }) => name));
  for (;;) {
    const plan = planImport(files, {
      surroundings: io,
      keepSecrets,
      // The demo is there only as long as nothing else is.
      servers: demo ? [] : servers.map((server) => server.config),
      groups: groupsOf(config.groups),
      secrets: secrets.map(({ name }) => name),
      reusable: [...unused],
      address: hub?.url,
    });
    const different = await findDifferent(api, plan, unused);
    if (different === undefined) return plan;
    unused.delete(different);
  }
}

/** A secret that is stored with another value than the plan has for it. */
async function findDifferent(
  api: Access["api"],
  { add }: Plan,
  unused: ReadonlySet<string>,
): Promise<string | undefined> {
  for (const [name, value] of add.flatMap(({ secrets }) => [...secrets])) {
    if (!unused.has(name)) continue;
    try {
      await api.setSecret(name, value, { unlessDifferent: true });
    } catch (error) {
      if (error instanceof HubError && error.kind === "StaleConfig") return name;
      throw error;
    }
  }
  return undefined;
}

/** One after the other; one that is refused does not keep the others out. */
export async function carryOut({ api }: Access, plan: Plan): Promise<Imported> {
  const added: PlannedServer[] = [];
  const refused: RefusedServer[] = [];
  for (const server of plan.add) {
    try {
      await save(api, server);
      added.push(server);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      refused.push({ from: server.from, error });
    }
  }
  const left = new Set(plan.add.filter((server) => !added.includes(server)).map(({ name }) => name));
  const groups: string[] = [];
  const failed: FailedGroup[] = [];
  for (const group of plan.groups) {
    const { name, entry } = withoutServers(group, left);
    if (entry.servers.length === 0) continue;
    try {
      await api.setGroup(name, entry);
      groups.push(name);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      failed.push({ name, error });
    }
  }
  return { added, refused, groups, failed };
}

function withoutServers({ name, entry }: PlannedGroup, left: ReadonlySet<string>): PlannedGroup {
  const servers = entry.servers.filter((server) => !left.has(server));
  const tools = entry.tools.filter((tool) => !left.has(tool.replace(/^!/, "").split(":", 1)[0] ?? ""));
  return { name, entry: { ...entry, servers, tools } };
}

/** The secrets first: a server that starts at once needs them. Without it they are of no use. */
async function save(api: Access["api"], { name, entry, secrets }: PlannedServer): Promise<void> {
  const stored: string[] = [];
  try {
    for (const [secret, value] of secrets) {
      await api.setSecret(secret, value);
      stored.push(secret);
    }
    // The other client fills them in already.
    await api.createServer({ name, ...withDeclared(entry) });
  } catch (error) {
    for (const secret of stored) await api.deleteSecret(secret).catch(() => undefined); // the first error is the one to tell
    throw error;
  }
}

function groupsOf(groups: Readonly<Record<string, unknown>>): Record<string, { servers: string[]; tools: string[] }> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => {
      const { servers, tools } = isObject(group) ? group : {};
      return [name, { ...(isObject(group) ? group : {}), servers: textsOf(servers), tools: textsOf(tools) }];
    }),
  );
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
