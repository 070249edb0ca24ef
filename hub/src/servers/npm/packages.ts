// npm packages of servers, installed once into the data folder and then run by node itself, without an npm that stays.
// Says how a server is to be run; running it is the dialer's, and what is left of old installs tidy.ts's.

import { basename, join, resolve } from "node:path";
import type { NpmMode, ServerConfig, StdioTransport } from "../../config/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import { withLock } from "../../lock.ts";
import type { Guard } from "../guard.ts";
import { Installs, runtimeOf } from "./installs.ts";
import { InstallQueue, type InstallQueueOptions, type QueuePlace } from "./install-queue.ts";
import { findLocal, type LocalPackage } from "./local.ts";
import { parseNpx, type NpxCall } from "./npx-call.ts";
import { toProgram, type Program } from "./program.ts";
import { keyOf, PackageRecords, type PackageRecord } from "./record.ts";
import { SharedWork } from "./shared-work.ts";
import { findUnused, removeUnused } from "./tidy.ts";
import { findTools, type NpmTools } from "./tools.ts";

/** The package that a server is, or was last, run from. */
export interface PackageInUse {
  readonly spec: string;
  readonly name: string;
  readonly version: string;
  /** `managed`: installed by the hub. `local`: of the folder that the server runs in. */
  readonly source: "managed" | "local";
  /** Its own folder; that of `node_modules`. */
  readonly folder: string;
  readonly integrity: string | null;
  readonly installedAt: string | null;
}

/** How a server is run. */
export type Way =
  | { readonly by: "npx"; readonly offline: boolean }
  | { readonly by: "node"; readonly program: Program; readonly bins: string; readonly inUse: PackageInUse };

/** What a server's entry says about its package. */
export interface Packaged {
  readonly transport: StdioTransport;
  /** The variables that are granted to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly npm: NpmMode | undefined;
}

/** As it is before variables and secrets are filled in; undefined where it is no package. */
export function toPackaged({ transport, env, npm }: ServerConfig): Packaged | undefined {
  if (transport.type !== "stdio" || transport.launcher !== "npx") return undefined;
  const values = Object.entries(env).map(([name, { value = "" }]) => [name, value]);
  return { transport, env: Object.fromEntries(values), npm };
}

export interface Preparing {
  /** Everything that the server gets to see. */
  readonly environment: Readonly<Record<string, string>>;
  readonly guard: Guard;
  readonly signal: AbortSignal;
  /** It has to be installed first, by whomever: it waits for its turn, and then is under way. */
  readonly onStage: (stage: "queued" | "installing") => void;
  /** Lines for the server's log. */
  readonly onOutput: (chunk: Buffer) => void;
}

export interface Renewal {
  readonly key: string;
  readonly before: PackageRecord | undefined;
  readonly after: PackageRecord;
}

export interface PackagesOptions {
  /** The folder of all installs. */
  readonly folder: string;
  /** The config folder, in whose name packages are kept. */
  readonly owner: string;
  /** What holds for servers that say nothing. */
  readonly mode: NpmMode;
  readonly queue?: InstallQueueOptions;
}

interface Plan {
  readonly call: NpxCall;
  readonly tools: NpmTools;
  readonly local: LocalPackage | undefined;
  readonly key: string;
}

const NPX: Way = { by: "npx", offline: false };
/** For another hub that installs the same; then it is done twice, which harms nobody. */
const PATIENCE_MS = 300_000;

export class Packages {
  readonly #options: PackagesOptions;
  readonly #records: PackageRecords;
  readonly #installs: Installs;
  readonly #work = new SharedWork<PackageRecord>();
  readonly #renewals = new SharedWork<Renewal>();
  readonly #queue: InstallQueue;
  /** As far as they are known; the files are looked at before each start. */
  readonly #known: Map<string, PackageRecord>;

  private constructor(options: PackagesOptions, records: PackageRecords, known: Map<string, PackageRecord>) {
    this.#options = options;
    this.#records = records;
    this.#installs = new Installs(join(options.folder, "installs"));
    this.#known = known;
    this.#queue = new InstallQueue(options.queue);
  }

  static async open(options: PackagesOptions): Promise<Packages> {
    const records = new PackageRecords(join(options.folder, "specs"));
    return new Packages(options, records, await records.all());
  }

  /** What is on record for a server that was not started yet. */
  recall(config: ServerConfig): PackageInUse | undefined {
    const key = this.#keyOf(toPackaged(config));
    const record = key === undefined ? undefined : this.#known.get(key);
    return record === undefined ? undefined : this.#toUse(record);
  }

  /** Where the install of a server stands in the queue; undefined where none waits or is under way. */
  placeOf(config: ServerConfig): QueuePlace | undefined {
    const key = this.#keyOf(toPackaged(config));
    return key === undefined ? undefined : this.#queue.placeOf(key);
  }

  /** How the server is to be run now; installs its package where it is not there. */
  async prepare(packaged: Packaged, preparing: Preparing): Promise<Way> {
    const plan = await this.#plan(packaged, preparing);
    if (plan === undefined) return NPX;
    const { call, tools, local } = plan;
    if (local !== undefined) {
      const { root, version, file } = local;
      const about = { spec: call.spec, name: call.name, version, folder: root, integrity: null, installedAt: null };
      return this.#toWay(call, file, tools, { ...about, source: "local" });
    }
    try {
      const record = await this.#ensure(plan, preparing);
      const file = this.#installs.fileOf(record, call.program);
      return file === undefined ? NPX : await this.#toWay(call, file, tools, this.#toUse(record));
    } catch (thrown) {
      return fallback(toHubError(thrown), call, preparing);
    }
  }

  /** Installs what the spec means today, beside what it meant before, and lets it mean that from now on. */
  async renew(packaged: Packaged, preparing: Preparing): Promise<Renewal> {
    const plan = await this.#plan(packaged, preparing);
    if (plan === undefined || plan.local !== undefined) throw notInstalled(plan?.local);
    const { call, tools, key } = plan;
    if (call.exact !== undefined) {
      const record = await this.#ensure(plan, preparing);
      return { key, before: record, after: record };
    }
    return this.#queued(this.#renewals, key, preparing, async (signal) => {
      const before = await this.#records.read(key);
      const after = await this.#install(call.spec, plan, { ...preparing, signal, anew: true });
      const isSame = before?.version === after.version && (await this.#installs.isUsable(before, tools));
      if (!isSame) await this.#commit(key, after);
      else await this.#installs.discard(after.folder);
      return { key, before, after: isSame ? before : after };
    });
  }

  /** Takes a renewal back: the version before it works, and the new one does not. */
  async restore(key: string, before: PackageRecord): Promise<void> {
    await this.#commit(key, before);
  }

  /** Ends what is under way; nothing of it is left then. */
  async end(): Promise<void> {
    await Promise.all([this.#work.end(), this.#renewals.end()]);
  }

  /** No server is run from any of them any more. */
  release(): Promise<void> {
    return this.#installs.release();
  }

  /** A server did not come up from there. */
  doubt({ folder }: PackageInUse): void {
    this.#installs.doubt(basename(folder));
  }

  /**
   * Removes what is there for nobody: half an install of a hub that was killed, versions and packages that none of these
   * servers has.
   */
  async tidy(servers: readonly ServerConfig[]): Promise<void> {
    const { folder, owner } = this.#options;
    const packaged = servers.flatMap((server) => toPackaged(server) ?? []);
    const keys = new Set(packaged.flatMap((each) => this.#keyOf(each) ?? []));
    // A spec that a variable fills in is not to be told from the entry alone.
    const isOurs = packaged.some(isOpen) ? () => true : (key: string) => keys.has(key);
    const { underWay } = this.#installs;
    await removeUnused(await findUnused({ folder, owner, isOurs, underWay }), this.#records);
  }

  #keyOf(packaged: Packaged | undefined): string | undefined {
    const call = packaged === undefined ? undefined : this.#callOf(packaged);
    return call === undefined || packaged === undefined ? undefined : keyOf(call, packaged.env);
  }

  #callOf({ transport, npm }: Packaged): NpxCall | undefined {
    const isManaged = transport.launcher === "npx" && (npm ?? this.#options.mode) === "managed";
    return isManaged ? parseNpx(transport.args) : undefined;
  }

  /** What there is to do for a package; undefined where it is npx's. */
  async #plan(packaged: Packaged, { environment }: Preparing): Promise<Plan | undefined> {
    const { transport, env } = packaged;
    const call = this.#callOf(packaged);
    if (call === undefined) return undefined;
    const { HOME: home, PATH: path } = environment;
    const tools = await findTools({ command: transport.command, ownPath: env["PATH"], path });
    const local = await findLocal(call, { cwd: resolve(transport.cwd ?? "."), home });
    return tools === undefined || local === "unclear" ? undefined : { call, tools, local, key: keyOf(call, env) };
  }

  async #toWay(call: NpxCall, file: string, tools: NpmTools, inUse: PackageInUse): Promise<Way> {
    const { command, args } = await toProgram(file, tools.node);
    const bins = join(inUse.folder, "node_modules", ".bin");
    return { by: "node", program: { command, args: [...args, ...call.args] }, bins, inUse };
  }

  /** One at a time, here and among all hubs; the install itself needs no lock, but would be done twice. */
  async #ensure(plan: Plan, preparing: Preparing): Promise<PackageRecord> {
    const { key, call } = plan;
    const usable = await this.#findUsable(plan);
    if (usable !== undefined) return usable;
    return this.#queued(this.#work, key, preparing, async (signal) => {
      const meanwhile = await this.#findUsable(plan);
      if (meanwhile !== undefined) return meanwhile;
      // What is on record was damaged or removed: repairing it is no update.
      const before = await this.#records.read(key);
      const spec = before === undefined ? call.spec : `${call.name}@${before.version}`;
      const record = await this.#install(spec, plan, { ...preparing, signal, anew: false });
      await this.#commit(key, record);
      if (before !== undefined) await this.#installs.leave(before.folder);
      return record;
    });
  }

  /** In its turn, and once for all who ask for it meanwhile. */
  async #queued<T>(
    shared: SharedWork<T>,
    key: string,
    { signal, onStage }: Preparing,
    install: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const unwatch = this.#queue.watch(key, onStage);
    try {
      return await shared.join(key, signal, (end) =>
        this.#queue.run(key, end, () => this.#alone(key, end, () => install(end))),
      );
    } finally {
      unwatch();
    }
  }

  async #alone<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const path = this.#records.path(key);
    try {
      return await withLock(path, work, { patienceMs: PATIENCE_MS, signal });
    } catch (thrown) {
      if (signal.aborted) throw new HubError("Cancelled", "The install was cancelled", { cause: thrown });
      if (toHubError(thrown).kind !== "StaleConfig") throw thrown;
      return work();
    }
  }

  async #install(
    spec: string,
    { key, call, tools }: Plan,
    { environment: env, guard, signal, onOutput, anew }: Preparing & { readonly anew: boolean },
  ): Promise<PackageRecord> {
    const { name } = call;
    const asked = { spec, name, anew, tools, env, guard, signal, onOutput };
    const { folder, manifest, integrity } = await this.#installs.make(asked);
    const owners = new Set([...(this.#known.get(key)?.owners ?? []), this.#options.owner]);
    return {
      spec: call.spec,
      version: manifest.version,
      integrity,
      manifest,
      folder,
      runtime: runtimeOf(tools),
      installed_at: new Date().toISOString(),
      owners: [...owners],
    };
  }

  async #commit(key: string, record: PackageRecord): Promise<void> {
    await this.#installs.claim(record.folder);
    await this.#records.write(key, record);
    this.#installs.settle(record.folder);
    this.#known.set(key, record);
  }

  async #findUsable({ key, tools }: Plan): Promise<PackageRecord | undefined> {
    const record = await this.#records.read(key);
    if (record === undefined || !(await this.#installs.isUsable(record, tools))) return undefined;
    const { owner } = this.#options;
    const kept = record.owners.includes(owner) ? record : { ...record, owners: [...record.owners, owner] };
    if (kept !== record) await this.#records.write(key, kept);
    this.#known.set(key, kept);
    return kept;
  }

  #toUse({ spec, version, integrity, manifest, folder, installed_at }: PackageRecord): PackageInUse {
    const path = this.#installs.path(folder);
    return {
      spec,
      name: manifest.name,
      version,
      source: "managed",
      folder: path,
      integrity,
      installedAt: installed_at,
    };
  }
}

function isOpen({ transport, env }: Packaged): boolean {
  const settings = Object.entries(env).filter(([name]) => /^npm_config_/i.test(name));
  return [...transport.args, ...settings.map(([, value]) => value || "${}")].some((text) => text.includes("${"));
}

/** Where npx would fail for the same reason, that is said at once; else it is tried. */
function fallback(error: HubError, { spec }: NpxCall, { signal, onOutput }: Preparing): Way {
  if (signal.aborted || error.kind === "Cancelled" || error.kind === "PackageNotFound") throw error;
  onOutput(Buffer.from(`plugboard: ${spec} could not be installed (${error.message}), npx is tried\n`));
  // Without a network only what npx has already can be run. Asking for it again would take its minute a second time.
  return { by: "npx", offline: error.kind === "ConnectionFailed" };
}

function notInstalled(local: LocalPackage | undefined): HubError {
  return new HubError("InvalidConfig", "The hub does not install the package of this server", {
    hint:
      local === undefined
        ? 'It is no npm package, or left to npx ("npm", PLUGBOARD_NPM)'
        : `It is run from ${local.root}: update it there`,
  });
}
