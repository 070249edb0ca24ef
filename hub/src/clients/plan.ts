// What an import would do, with nothing done yet: which servers are new, which are known, what stands in the way of the
// others. Pure: looking at the files is scan.ts's, saving is left to the command.

import { normalizeServer } from "../config/normalize.ts";
import { isMagicKey, type JsonObject } from "../config/plain.ts";
import { findRisks } from "../config/risks.ts";
import type { ServerConfig } from "../config/types.ts";
import { HubError } from "../errors.ts";
import type { Surroundings } from "../config/system-folders.ts";
import type { Client } from "./client.ts";
import { fingerprintOf, type Recognisable } from "./fingerprint.ts";
import { readForeign, type ForeignServer } from "./foreign.ts";
import { isOwn } from "./own.ts";
import type { FoundServer, ScannedFile } from "./scan.ts";
import { numbered, translate, type Translated } from "./translate.ts";
import { trimEnds } from "../trim.ts";

export interface PlannedServer extends Translated {
  readonly name: string;
  readonly from: FoundServer;
}

export interface KnownServer {
  readonly from: FoundServer;
  /** What it is called here. */
  readonly name: string;
}

export interface RefusedServer {
  readonly from: FoundServer;
  readonly error: HubError;
}

export interface PlannedGroup {
  readonly name: string;
  readonly entry: { readonly servers: string[]; readonly tools: string[]; readonly description?: string };
}

export interface Plan {
  readonly add: readonly PlannedServer[];
  readonly known: readonly KnownServer[];
  readonly refused: readonly RefusedServer[];
  /** Those that are this hub, or part of the client. */
  readonly skipped: readonly FoundServer[];
  readonly groups: readonly PlannedGroup[];
}

export interface PlanOptions {
  readonly surroundings: Surroundings;
  readonly keepSecrets: boolean;
  /** The servers that the hub has. */
  readonly servers: readonly (Recognisable & { readonly name: string; readonly id?: string })[];
  readonly groups: Readonly<
    Record<string, { readonly servers?: readonly string[]; readonly tools?: readonly string[] }>
  >;
  /** Names of the secrets that are stored. */
  readonly secrets: readonly string[];
  /** Those of them that may be taken for a value of the same name. */
  readonly reusable?: readonly string[];
  /** Of the running hub. */
  readonly address?: string | undefined;
}

const NAME_MAX = 64;

export function planImport(files: readonly ScannedFile[], options: PlanOptions): Plan {
  return new Planner(options).run(files.flatMap(({ servers }) => servers));
}

interface Member {
  readonly name: string;
  /** As entries of a group; undefined: all. */
  readonly tools: readonly string[] | undefined;
  readonly isNew: boolean;
}

class Planner {
  readonly #options: PlanOptions;
  readonly #add: PlannedServer[] = [];
  readonly #known: KnownServer[] = [];
  readonly #refused: RefusedServer[] = [];
  readonly #skipped: FoundServer[] = [];
  /** Who has which fingerprint. */
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #secrets: Set<string>;
  readonly #members = new Map<Client, Member[]>();

  constructor(options: PlanOptions) {
    this.#options = options;
    const reusable = new Set(options.reusable);
    this.#secrets = new Set(options.secrets.filter((name) => !reusable.has(name)));
    for (const server of options.servers) {
      this.#names.set(fingerprintOf(server), server.name);
      this.#taken.add(server.name);
      if (server.id !== undefined) this.#taken.add(server.id);
    }
  }

  run(found: readonly FoundServer[]): Plan {
    // Where two files have the same server, the one that is on and the user's own decides what it is here.
    for (const server of found.toSorted((a, b) => rankOf(a) - rankOf(b))) {
      try {
        this.#take(server);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        this.#refused.push({ from: server, error });
      }
    }
    return {
      add: this.#add,
      known: this.#known,
      refused: this.#refused,
      skipped: this.#skipped,
      groups: [...this.#members].flatMap(([client, members]) => this.#group(client, members) ?? []),
    };
  }

  #take(from: FoundServer): void {
    const foreign = readForeign(from.entry, from.file.client);
    if (foreign === undefined || isOwn(foreign, this.#options.address)) {
      this.#skipped.push(from);
      return;
    }
    const wanted = toName(from.name);
    const { fingerprint } = this.#checked(from, foreign, wanted);
    const twin = this.#names.get(fingerprint);
    if (twin !== undefined) {
      this.#known.push({ from, name: twin });
      this.#join(from, { name: twin, tools: toolsOf(foreign, twin), isNew: false });
      return;
    }
    const name = numbered(wanted, (each) => this.#taken.has(each));
    const { translated } = this.#checked(from, foreign, name);
    const notes = [...translated.notes, ...this.#notesOn(from, name)];
    this.#names.set(fingerprint, name);
    this.#taken.add(name);
    for (const secret of translated.secrets.keys()) this.#secrets.add(secret);
    this.#add.push({ ...translated, notes, name, from });
    this.#join(from, { name, tools: toolsOf(foreign, name), isNew: true });
  }

  /** As it would be saved; what our own rules refuse throws. */
  #checked(from: FoundServer, foreign: ForeignServer, name: string): { translated: Translated; fingerprint: string } {
    const { surroundings, keepSecrets } = this.#options;
    const { client, scope, workspace } = from.file;
    const enabled = foreign.enabled && !from.off && scope !== "project";
    const translated = translate(
      { ...foreign, enabled },
      { client, name, surroundings, workspace, keepSecrets, taken: this.#secrets },
    );
    const missing = translated.missing.filter((secret) => !this.#options.secrets.includes(secret));
    const server = normalizeServer(name, translated.entry);
    requireNoRisks(server);
    return {
      translated: { ...translated, missing },
      fingerprint: fingerprintOf(toRecognisable(server, translated.entry)),
    };
  }

  #notesOn(from: FoundServer, name: string): string[] {
    const { client, scope } = from.file;
    return [
      ...(name === from.name ? [] : [`is called ${name} here; ${client.name} calls it ${JSON.stringify(from.name)}`]),
      ...(scope === "project" ? [`came with the project and is off: plugboard enable ${name}`] : []),
    ];
  }

  #join({ file }: FoundServer, member: Member): void {
    const members = this.#members.get(file.client) ?? [];
    if (members.every(({ name }) => name !== member.name)) members.push(member);
    this.#members.set(file.client, members);
  }

  /** A client that takes only some tools has a group of its name that does so, too. */
  #group({ id, name }: Client, members: readonly Member[]): PlannedGroup | undefined {
    if (!members.some(({ tools, isNew }) => isNew && tools !== undefined)) return undefined;
    const before = Object.hasOwn(this.#options.groups, id) ? this.#options.groups[id] : undefined;
    const servers = members.map((member) => member.name);
    const tools = members.flatMap((member) => member.tools ?? [`${member.name}:*`]);
    const isOpen = before !== undefined && (before.tools ?? []).length === 0;
    return {
      name: id,
      entry: {
        ...before,
        ...(before === undefined ? { description: `What ${name} takes` } : {}),
        servers: [...new Set([...(before?.servers ?? []), ...servers])],
        tools: isOpen ? [] : [...new Set([...(before?.tools ?? []), ...tools])],
      },
    };
  }
}

/** Those that a client takes of a server, and those that it leaves out, as entries of a group. Undefined: all. */
function toolsOf({ include, exclude }: ForeignServer, name: string): string[] | undefined {
  if (include === undefined && exclude.length === 0) return undefined;
  return [...(include ?? ["*"]).map((tool) => `${name}:${tool}`), ...exclude.map((tool) => `!${name}:${tool}`)];
}

function rankOf({ file, entry, off }: FoundServer): number {
  if (file.scope === "project") return 2;
  const isOff = off || (typeof entry === "object" && entry !== null && "disabled" in entry && entry.disabled === true);
  return isOff || (typeof entry === "object" && entry !== null && "enabled" in entry && entry.enabled === false)
    ? 1
    : 0;
}

/** The variables that only the translation added are none of the server's own. */
function toRecognisable({ transport }: ServerConfig, { env }: JsonObject): Recognisable {
  if (transport.type !== "stdio") return { url: transport.url, headers: transport.headers };
  const { command, args } = transport;
  return { command, args, env: typeof env === "object" && env !== null && !Array.isArray(env) ? env : {} };
}

/** In the characters and the length that a server's name may have. */
function toName(text: string): string {
  const legal = trimEnds(text.trim().replaceAll(/[^\w-]+/g, "-"), "-").slice(0, NAME_MAX - "-99".length);
  return legal === "" || isMagicKey(legal) ? "server" : legal;
}

/** What gives a server power over the machine is written into the file by a person, or not at all. */
function requireNoRisks(server: ServerConfig): void {
  const [risk] = findRisks(server);
  if (risk === undefined) return;
  throw new HubError("InvalidConfig", `Not imported: ${risk.reason}`, {
    field: risk.field,
    hint: "If you mean it, write it into mcp_server.json by hand",
  });
}
