// Plans an import: which servers are new, which are known, and which are rejected. Pure: scan.ts reads the files, the command
// saves the result.

import { normalizeServer } from "../../config/parse/normalize.ts";
import { isPrototypeKey, type JsonObject } from "../../config/parse/plain-object.ts";
import { findRisks } from "../../config/parse/risks.ts";
import { patternsOf, settingsOf, toGroupTools, type GroupTools } from "../../config/schema/tool-settings.ts";
import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { Client } from "../client.ts";
import { fingerprintOf, type FingerprintInput } from "../fingerprint.ts";
import { readForeign, type ForeignServer } from "./foreign.ts";
import { isThisHub } from "../install/detect-hub.ts";
import { readMcpRemote } from "./mcp-remote.ts";
import { planGroup, type JoinedServer } from "./plan-groups.ts";
import type { FoundServer, ScannedFile } from "./scan.ts";
import { numbered, translate, type Translated } from "./translate.ts";
import { trimEnds } from "@plugboard/shared/trim";

export interface PlannedServer extends Translated {
  readonly name: string;
  readonly from: FoundServer;
}

export interface KnownServer {
  readonly from: FoundServer;
  /** Its name in the hub. */
  readonly name: string;
}

export interface RefusedServer {
  readonly from: FoundServer;
  readonly error: HubError;
}

export interface PlannedGroup {
  readonly name: string;
  readonly entry: {
    readonly servers: string[];
    readonly tools: GroupTools;
    readonly description?: string;
    readonly exposure?: "all" | "search";
  };
}

/** On what a product has and the hub does not. */
export interface PlanNote {
  /** Id of the product. */
  readonly client: string;
  readonly text: string;
}

export interface Plan {
  readonly add: readonly PlannedServer[];
  readonly known: readonly KnownServer[];
  readonly refused: readonly RefusedServer[];
  /** Entries that are this hub, or built into the client. */
  readonly skipped: readonly FoundServer[];
  readonly groups: readonly PlannedGroup[];
  readonly notes: readonly PlanNote[];
}

export interface PlanOptions {
  readonly context: PlatformContext;
  readonly keepSecrets: boolean;
  /** The hub's current servers. */
  readonly servers: readonly (FingerprintInput & { readonly name: string; readonly id?: string })[];
  readonly groups: Readonly<Record<string, { readonly servers?: readonly string[]; readonly tools?: GroupTools }>>;
  /** Names of stored secrets. */
  readonly secrets: readonly string[];
  /** Stored secrets that an import may reuse under the same name. */
  readonly reusable?: readonly string[];
  /** Address of the running hub. */
  readonly address?: string | undefined;
}

const NAME_MAX = 64;

export function planImport(files: readonly ScannedFile[], options: PlanOptions): Plan {
  return new Planner(options).run(files);
}

interface Member {
  readonly name: string;
  /** Tool patterns for a group; undefined: all tools. */
  readonly tools: readonly string[] | undefined;
  readonly isNew: boolean;
}

class Planner {
  readonly #options: PlanOptions;
  readonly #add: PlannedServer[] = [];
  readonly #known: KnownServer[] = [];
  readonly #refused: RefusedServer[] = [];
  readonly #skipped: FoundServer[] = [];
  /** Server names by fingerprint. */
  readonly #names = new Map<string, string[]>();
  /** By file and name in the product. */
  readonly #joined = new Map<string, JoinedServer>();
  readonly #taken = new Set<string>();
  readonly #secrets: Set<string>;
  readonly #members = new Map<Client, Member[]>();

  constructor(options: PlanOptions) {
    this.#options = options;
    const reusable = new Set(options.reusable);
    this.#secrets = new Set(options.secrets.filter((name) => !reusable.has(name)));
    for (const server of options.servers) {
      for (const fingerprint of fingerprintsOf(server)) this.#addName(fingerprint, server.name);
      this.#taken.add(server.name);
      if (server.id !== undefined) this.#taken.add(server.id);
    }
  }

  run(files: readonly ScannedFile[]): Plan {
    const found = files.flatMap(({ servers }) => servers);
    // If several files have the same server, an enabled one in a user's file has priority.
    for (const server of found.toSorted((a, b) => priorityOf(a) - priorityOf(b))) {
      try {
        this.#take(server);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        this.#refused.push({ from: server, error });
      }
    }
    const ofClients = [...this.#members].flatMap(([client, members]) => this.#group(client, members) ?? []);
    const ofProducts = files.map((file) => this.#productGroups(file, ofClients));
    return {
      add: this.#add,
      known: this.#known,
      refused: this.#refused,
      skipped: this.#skipped,
      groups: [...ofClients, ...ofProducts.flatMap(({ groups }) => groups)],
      notes: ofProducts.flatMap(({ notes }) => notes),
    };
  }

  /** A file of which everything is known has nothing to say. */
  #productGroups({ file, servers, groups = [], notes: given = [] }: ScannedFile, others: readonly PlannedGroup[]) {
    const planned: PlannedGroup[] = [];
    const notes = given.map((text): PlanNote => ({ client: file.client.id, text }));
    for (const group of groups) {
      const result = planGroup(group, {
        find: (name) => this.#joined.get(keyOf(file, name)),
        product: file.client.id,
        existing: this.#options.groups,
        planned: new Set([...others, ...planned].map(({ name }) => name)),
        toLegalName,
        note: (text) => notes.push({ client: file.client.id, text }),
      });
      if (result !== undefined) planned.push(result);
    }
    const isKnown = servers.length > 0 && servers.every((server) => this.#known.some(({ from }) => from === server));
    return { groups: planned, notes: isKnown && planned.length === 0 ? [] : notes };
  }

  #addName(fingerprint: string, name: string): void {
    this.#names.set(fingerprint, [...(this.#names.get(fingerprint) ?? []), name]);
  }

  /** The name of the same server in the hub. A product may have it several times, with different credentials. */
  #nameOfSame({ file }: FoundServer, fingerprint: string, preferred: string): string | undefined {
    const names = this.#names.get(fingerprint) ?? [];
    if (file.client.product === undefined) return names[0];
    const ofFile = new Set(
      [...this.#joined].flatMap(([key, { name }]) => (key.startsWith(keyOf(file, "")) ? [name] : [])),
    );
    const free = names.filter((name) => !ofFile.has(name));
    return free.includes(preferred) ? preferred : free[0];
  }

  #take(from: FoundServer): void {
    const foreign = readForeign(from.entry, from.file.client);
    if (foreign === undefined || isThisHub(foreign, this.#options.address)) {
      this.#skipped.push(from);
      return;
    }
    const preferred = toLegalName(from.name);
    const { fingerprint } = this.#checked(from, foreign, preferred);
    const duplicateOf = this.#nameOfSame(from, fingerprint, preferred);
    if (duplicateOf !== undefined) {
      this.#known.push({ from, name: duplicateOf });
      this.#join(from, foreign, { name: duplicateOf, isNew: false });
      return;
    }
    const name = numbered(preferred, (each) => this.#taken.has(each));
    const { translated } = this.#checked(from, foreign, name);
    const notes = [...translated.notes, ...(from.more?.notes ?? []), ...this.#notesOn(from, name)];
    this.#addName(fingerprint, name);
    this.#taken.add(name);
    for (const secret of translated.secrets.keys()) this.#secrets.add(secret);
    this.#add.push({ ...translated, notes, name, from });
    this.#join(from, foreign, { name, isNew: true });
  }

  /** The entry as it would be saved. Throws if the hub's rules reject it. */
  #checked(from: FoundServer, foreign: ForeignServer, name: string): { translated: Translated; fingerprint: string } {
    const { context, keepSecrets } = this.#options;
    const { client, scope, workspace } = from.file;
    const enabled = foreign.enabled && !from.isDisabled && scope !== "project";
    const { entry, ...rest } = translate(
      { ...foreign, enabled },
      { client, name, context, workspace, keepSecrets, taken: this.#secrets },
    );
    const translated = { ...rest, entry: { ...entry, ...from.more?.settings } };
    const missing = translated.missing.filter((secret) => !this.#options.secrets.includes(secret));
    const server = normalizeServer(name, translated.entry);
    requireNoRisks(server);
    return {
      translated: { ...translated, missing },
      fingerprint: fingerprintOf(toFingerprintInput(server, translated.entry)),
    };
  }

  #notesOn(from: FoundServer, name: string): string[] {
    const { client, scope } = from.file;
    return [
      ...(name === from.name
        ? []
        : [`is named ${name} here; its name in ${client.name} is ${JSON.stringify(from.name)}`]),
      ...(scope === "project"
        ? [`comes from a project's file and is disabled: plugboard approve ${name}, then plugboard enable ${name}`]
        : []),
    ];
  }

  #join({ file, name: given, more }: FoundServer, foreign: ForeignServer, joined: Omit<Member, "tools">): void {
    const { include, exclude } = foreign;
    const { name } = joined;
    this.#joined.set(keyOf(file, given), { name, include, exclude, toolSettings: more?.toolSettings ?? {} });
    if (file.client.product !== undefined) return;
    const members = this.#members.get(file.client) ?? [];
    if (members.every((member) => member.name !== name)) members.push({ ...joined, tools: toolsOf(foreign, name) });
    this.#members.set(file.client, members);
  }

  /** For a client that uses only some tools: a group with the client's name that has the same tools. */
  #group({ id, name }: Client, members: readonly Member[]): PlannedGroup | undefined {
    if (!members.some(({ tools, isNew }) => isNew && tools !== undefined)) return undefined;
    const before = Object.hasOwn(this.#options.groups, id) ? this.#options.groups[id] : undefined;
    const servers = members.map((member) => member.name);
    const tools = members.flatMap((member) => member.tools ?? [`${member.name}:*`]);
    const given = before?.tools ?? [];
    const patterns = patternsOf(given);
    const hasAllTools = before !== undefined && patterns.length === 0;
    return {
      name: id,
      entry: {
        ...before,
        ...(before === undefined ? { description: `Tools for ${name}` } : {}),
        servers: [...new Set([...(before?.servers ?? []), ...servers])],
        tools: hasAllTools ? [] : toGroupTools([...new Set([...patterns, ...tools])], settingsOf(given)),
      },
    };
  }
}

/** The tools that a client includes and excludes, as tool patterns of a group. Undefined: all tools. */
function toolsOf({ include, exclude }: ForeignServer, name: string): string[] | undefined {
  if (include === undefined && exclude.length === 0) return undefined;
  if (include?.length === 0) return [`!${name}:*`];
  return [...(include ?? ["*"]).map((tool) => `${name}:${tool}`), ...exclude.map((tool) => `!${name}:${tool}`)];
}

function keyOf({ path }: FoundServer["file"], name: string): string {
  return `${path}\0${name}`;
}

function priorityOf({ file, entry, isDisabled }: FoundServer): number {
  if (file.scope === "project") return 2;
  const isOff =
    isDisabled || (typeof entry === "object" && entry !== null && "disabled" in entry && entry.disabled === true);
  return isOff || (typeof entry === "object" && entry !== null && "enabled" in entry && entry.enabled === false)
    ? 1
    : 0;
}

/** Ignores variables that the translation adds for headers. */
export function toFingerprintInput({ transport }: ServerConfig, { env, auth }: JsonObject): FingerprintInput {
  if (transport.type !== "stdio") return { url: transport.url, headers: transport.headers, auth };
  const { command, args } = transport;
  return { command, args, env: typeof env === "object" && env !== null && !Array.isArray(env) ? env : {} };
}

/** A server that the hub runs by mcp-remote is known by its address, too. */
export function fingerprintsOf(server: FingerprintInput): string[] {
  const { command = "", args = [], url } = server;
  const bridge = url === undefined ? readMcpRemote([command, ...args]) : undefined;
  const own = fingerprintOf(server);
  return bridge === undefined || "unsupported" in bridge ? [own] : [own, fingerprintOf(bridge)];
}

/** Converts a name to the allowed characters and length. */
export function toLegalName(text: string): string {
  const legal = trimEnds(text.trim().replaceAll(/[^\w-]+/g, "-"), "-").slice(0, NAME_MAX - "-99".length);
  return legal === "" || isPrototypeKey(legal) ? "server" : legal;
}

/** Settings that give access to the host can only be written into the file by hand. */
function requireNoRisks(server: ServerConfig): void {
  const [risk] = findRisks(server);
  if (risk === undefined) return;
  throw new HubError("InvalidConfig", `Not imported: ${risk.reason}`, {
    field: risk.field,
    hint: "If you want it, edit mcp_server.json by hand",
  });
}
