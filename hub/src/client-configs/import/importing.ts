// Plans and runs the import of other clients' servers. Its callers, the commands and the API, do the asking and the output.

import { planImport, type Plan, type PlannedGroup, type PlannedServer, type RefusedServer } from "./plan.ts";
import type { ScannedFile } from "./scan.ts";
import { declareVariables } from "../../config/parse/allowed-env.ts";
import {
  patternsOf,
  settingsOf,
  toGroupTools,
  groupTools,
  type GroupTools,
} from "../../config/schema/tool-settings.ts";
import { parseWith } from "../../config/schema/schema.ts";
import { isObject } from "../../lib/json/json.ts";
import { HubError } from "../../errors.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { FingerprintInput } from "../fingerprint.ts";

export interface ImportOptions {
  readonly keepSecrets: boolean;
  /** Address of the running hub. */
  readonly address?: string | undefined;
}

/** The operations of the management API that an import needs. */
export interface ImportTarget {
  readonly config: {
    get(): Promise<{
      readonly demo: boolean;
      readonly config: { readonly groups: Readonly<Record<string, unknown>> };
    }>;
  };
  readonly servers: {
    list(): Promise<readonly { readonly config: FingerprintInput & { readonly name: string; readonly id: string } }[]>;
    create(entry: Record<string, unknown>): Promise<{ readonly config: { readonly id: string } }>;
  };
  readonly secrets: {
    list(): Promise<readonly { readonly name: string; readonly used_by: readonly string[] }[]>;
    set(name: string, value: string, options?: { readonly unlessDifferent?: boolean }): Promise<unknown>;
    delete(name: string): Promise<unknown>;
  };
  readonly serverApprovals: { approve(id: string): Promise<unknown> };
  readonly logins: {
    import(id: string, tokens: { access_token?: string; refresh_token?: string }): Promise<unknown>;
  };
  readonly groups: { set(name: string, entry: PlannedGroup["entry"]): Promise<unknown> };
}

export interface CarryOutOptions {
  /** Whether a person has seen what the servers run. Without that, they wait for an approval. */
  readonly approves: boolean;
}

export interface Imported {
  readonly added: readonly PlannedServer[];
  readonly refused: readonly RefusedServer[];
  /** Groups that were set. */
  readonly groups: readonly string[];
  readonly failed: readonly FailedGroup[];
}

interface FailedGroup {
  readonly name: string;
  readonly error: HubError;
}

/** The plan for an empty hub. */
export function planAnew(
  context: PlatformContext,
  files: readonly ScannedFile[],
  { keepSecrets }: ImportOptions,
): Plan {
  return planImport(files, { context, keepSecrets, servers: [], groups: {}, secrets: [] });
}

export async function planFor(
  context: PlatformContext,
  api: ImportTarget,
  files: readonly ScannedFile[],
  { keepSecrets, address }: ImportOptions,
): Promise<Plan> {
  const [{ demo, config }, servers, secrets] = await Promise.all([
    api.config.get(),
    api.servers.list(),
    api.secrets.list(),
  ]);
  // An unused secret may be from an earlier import: it is reused if its value is the same.
  const unused = new Set(secrets.filter(({ used_by }) => used_by.length === 0).map(({ name }) => name));
  for (;;) {
    const plan = planImport(files, {
      context,
      keepSecrets,
      // The demo disappears with the first real server.
      servers: demo ? [] : servers.map((server) => server.config),
      groups: groupsOf(config.groups),
      secrets: secrets.map(({ name }) => name),
      reusable: [...unused],
      address,
    });
    const different = await findDifferent(api, plan, unused);
    if (different === undefined) return plan;
    unused.delete(different);
  }
}

/** A stored secret whose value differs from the plan's. */
async function findDifferent(
  api: ImportTarget,
  { add }: Plan,
  unused: ReadonlySet<string>,
): Promise<string | undefined> {
  for (const [name, value] of add.flatMap(({ secrets }) => [...secrets])) {
    if (!unused.has(name)) continue;
    try {
      await api.secrets.set(name, value, { unlessDifferent: true });
    } catch (error) {
      if (error instanceof HubError && error.kind === "Conflict") return name;
      throw error;
    }
  }
  return undefined;
}

/** One at a time; a refused server does not stop the others. */
export async function carryOut(api: ImportTarget, plan: Plan, { approves }: CarryOutOptions): Promise<Imported> {
  const added: PlannedServer[] = [];
  const refused: RefusedServer[] = [];
  for (const server of plan.add) {
    try {
      const notes = await save(api, server, approves);
      added.push({ ...server, notes: [...server.notes, ...notes] });
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      refused.push({ from: server.from, error });
    }
  }
  const names = new Set(added.map(({ name }) => name));
  const left = new Set(plan.add.flatMap(({ name }) => (names.has(name) ? [] : [name])));
  const groups: string[] = [];
  const failed: FailedGroup[] = [];
  for (const group of plan.groups) {
    const { name, entry } = withoutServers(group, left);
    if (entry.servers.length === 0) continue;
    try {
      await api.groups.set(name, entry);
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
  const patterns = patternsOf(entry.tools).filter((tool) => !left.has(tool.replace(/^!/, "").split(":", 1)[0] ?? ""));
  return { name, entry: { ...entry, servers, tools: toGroupTools(patterns, settingsOf(entry.tools)) } };
}

/** Stores secrets first, since the server starts at once. If saving fails they are removed again. Returns further notes. */
async function save(api: ImportTarget, server: PlannedServer, approves: boolean): Promise<string[]> {
  const { name, entry, secrets, from } = server;
  const { client, scope } = from.file;
  const stored: string[] = [];
  try {
    for (const [secret, value] of secrets) {
      await api.secrets.set(secret, value);
      stored.push(secret);
    }
    // The other client expands these variables already.
    const { config } = await api.servers.create({
      name,
      ...declareVariables(entry),
      source: { type: "import", client: client.id, ...(scope === "project" ? { scope } : {}) },
    });
    // A project's file may come from somebody else: its servers wait for a look at each.
    if (approves && scope !== "project") await api.serverApprovals.approve(config.id);
    return await takeOverLogin(api, config.id, server);
  } catch (error) {
    for (const secret of stored) await api.secrets.delete(secret).catch(() => undefined); // the first error is reported
    throw error;
  }
}

/** The server is imported with or without its login. */
async function takeOverLogin(api: ImportTarget, id: string, { name, from, tokens }: PlannedServer): Promise<string[]> {
  if (tokens.size === 0) return [];
  const [access, refresh] = [tokens.get("access"), tokens.get("refresh")];
  const client = from.file.client.name;
  try {
    await api.logins.import(id, {
      ...(access === undefined ? {} : { access_token: access }),
      ...(refresh === undefined ? {} : { refresh_token: refresh }),
    });
    return [`the login of ${client} is used here from now on; it may have ended there`];
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return [`the login of ${client} cannot be taken over (${error.message}): plugboard auth ${name}`];
  }
}

function groupsOf(groups: Readonly<Record<string, unknown>>): Record<string, { servers: string[]; tools: GroupTools }> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => {
      const { servers, tools } = isObject(group) ? group : {};
      return [
        name,
        {
          ...(isObject(group) ? group : {}),
          servers: textsOf(servers),
          tools: isObject(tools) ? parseWith(groupTools, tools) : textsOf(tools),
        },
      ];
    }),
  );
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
