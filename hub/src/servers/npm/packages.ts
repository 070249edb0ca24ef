// npm packages of servers: installed once into the data folder, then run by node itself, without an npm process that stays.
// Decides how a server is launched; launching it is the dialer's.

import { basename, join, resolve } from "node:path";
import type { NpmMode, ServerConfig, StdioTransport } from "../../config/schema/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import { withLock } from "../../lib/files/lock.ts";
import { SingleFlight } from "../../lib/single-flight.ts";
import type { Watchdog } from "../process/watchdog.ts";
import { InstallQueue, type InstallQueueOptions, type QueuePosition } from "./install-queue.ts";
import { keyOf, PackageRecords, type PackageRecord } from "./install-record.ts";
import { findNpm, type Npm } from "./install.ts";
import { Installs, RUNTIME } from "./installs.ts";
import { isInProject, parseNpx, type NpxCall } from "./npx-call.ts";
import { toProgram, type Program } from "./program.ts";
import { findUnused, removeUnused } from "./prune.ts";

/** The package that a server runs, or last ran. */
export interface PackageInUse {
  readonly spec: string;
  readonly name: string;
  readonly version: string;
  readonly source: "managed";
  /** The folder that holds its `node_modules`. */
  readonly folder: string;
  readonly integrity: string | null;
  readonly installedAt: string;
}

/** How a server is launched. `offline`: npx must not try the registry, which is unreachable. */
export type LaunchPlan =
  | { readonly by: "npx"; readonly offline: boolean }
  | { readonly by: "node"; readonly program: Program; readonly bins: string; readonly inUse: PackageInUse };

/** The parts of a server's entry that concern its package. */
export interface Packaged {
  readonly transport: StdioTransport;
  /** The variables that the entry grants. */
  readonly env: Readonly<Record<string, string>>;
  readonly npm: NpmMode | undefined;
}

/** Before variables and secrets are filled in. Undefined for servers that are not npm packages. */
export function toPackaged({ transport, env, npm }: ServerConfig): Packaged | undefined {
  if (transport.type !== "stdio" || transport.launcher !== "npx") return undefined;
  const values = Object.entries(env).map(([name, { value = "" }]) => [name, value]);
  return { transport, env: Object.fromEntries(values), npm };
}

export interface Preparing {
  /** The whole environment of the server. */
  readonly environment: Readonly<Record<string, string>>;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
  /** The package has to be installed first. */
  readonly onStage: (stage: "queued" | "installing") => void;
  /** Lines for the server's log. */
  readonly onOutput: (chunk: Buffer) => void;
}

export interface Renewal {
  readonly key: string;
  readonly before: PackageRecord | undefined;
  readonly after: PackageRecord;
}

/** Which version a package gets. */
export type RenewTo = "newest" | "previous";

export interface PackagesOptions {
  readonly folder: string;
  /** The config folder whose servers use the packages. */
  readonly owner: string;
  /** Default for entries without a setting. */
  readonly mode: NpmMode;
  readonly queue?: InstallQueueOptions;
}

/** A package that the hub manages. */
interface ManagedPackage {
  readonly call: NpxCall;
  readonly npm: Npm;
  readonly key: string;
}

const NPX: LaunchPlan = { by: "npx", offline: false };
/** How long to wait for another hub that installs the same package. After that it is installed twice, which does no harm. */
const LOCK_TIMEOUT_MS = 300_000;

export class Packages {
  readonly #options: PackagesOptions;
  readonly #records: PackageRecords;
  readonly #installs: Installs;
  readonly #installing = new SingleFlight<PackageRecord>();
  readonly #renewing = new SingleFlight<Renewal>();
  readonly #queue: InstallQueue;
  /** Cached for display. The files are read before each start. */
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

  /** The installed package of a server, also before its first start. */
  find(config: ServerConfig): PackageInUse | undefined {
    const key = this.#keyOf(toPackaged(config));
    const record = key === undefined ? undefined : this.#known.get(key);
    return record === undefined ? undefined : this.#toInUse(record);
  }

  /** The position in the install queue. Undefined if nothing is queued or being installed. */
  queuePosition(config: ServerConfig): QueuePosition | undefined {
    const key = this.#keyOf(toPackaged(config));
    return key === undefined ? undefined : this.#queue.positionOf(key);
  }

  /** How to launch the server now. Installs its package if necessary. */
  async prepare(packaged: Packaged, preparing: Preparing): Promise<LaunchPlan> {
    const managed = await this.#toManaged(packaged, preparing);
    if (managed === undefined) return NPX;
    const { call } = managed;
    try {
      const record = await this.#ensure(managed, preparing);
      const file = this.#installs.fileOf(record, call.program);
      return file === undefined ? NPX : await this.#toPlan(call, file, record);
    } catch (thrown) {
      return fallback(toHubError(thrown), call, preparing);
    }
  }

  /** How it was opened. */
  get options(): PackagesOptions {
    return this.#options;
  }

  /**
   * Installs a version beside the one that is used, and records it: the one that the spec currently resolves to, or the one before the
   * last update.
   */
  async renew(packaged: Packaged, preparing: Preparing, to: RenewTo = "newest"): Promise<Renewal> {
    const managed = await this.#toManaged(packaged, preparing);
    if (managed === undefined) throw notManaged();
    const { call, key } = managed;
    if (call.exact !== undefined) {
      if (to === "previous") throw isPinned(call);
      const record = await this.#ensure(managed, preparing);
      return { key, before: record, after: record };
    }
    return this.#queued(this.#renewing, key, preparing, async (signal) => {
      const before = await this.#records.read(key);
      const spec = to === "newest" ? call.spec : `${call.name}@${previousOf(before, call)}`;
      const installed = await this.#install(spec, managed, { ...preparing, signal, anew: true });
      const after = before === undefined ? installed : { ...installed, previous: before.version };
      const isSame = before?.version === after.version && (await this.#installs.isUsable(before));
      if (!isSame) await this.#commit(key, after);
      else await this.#installs.discard(after.folder);
      return { key, before, after: isSame ? before : after };
    });
  }

  /** Rolls a renewal back: the new version does not start. */
  async restore(key: string, before: PackageRecord): Promise<void> {
    await this.#commit(key, before);
  }

  /** Ends all installs in progress. Nothing of them is left then. */
  async end(): Promise<void> {
    await Promise.all([this.#installing.end(), this.#renewing.end()]);
  }

  /** No server runs from any install any more. */
  release(): Promise<void> {
    return this.#installs.release();
  }

  /** A server did not start from this install: it is verified before its next use. */
  markSuspect({ folder }: PackageInUse): void {
    this.#installs.markSuspect(basename(folder));
  }

  /** Removes incomplete installs of hubs that were killed, and packages that none of these servers uses. */
  async prune(servers: readonly ServerConfig[]): Promise<void> {
    const { folder, owner } = this.#options;
    const packaged = servers.flatMap((server) => toPackaged(server) ?? []);
    const keys = new Set(packaged.flatMap((each) => this.#keyOf(each) ?? []));
    // The package of an entry with variables is unknown until they are filled in.
    const isOurs = packaged.some(hasVariables) ? () => true : (key: string) => keys.has(key);
    const { inProgress } = this.#installs;
    await removeUnused(await findUnused({ folder, owner, isOurs, inProgress }), this.#records);
  }

  #keyOf(packaged: Packaged | undefined): string | undefined {
    const call = packaged === undefined ? undefined : this.#callOf(packaged);
    return call === undefined || packaged === undefined ? undefined : keyOf(call, packaged.env);
  }

  #callOf({ transport, env, npm }: Packaged): NpxCall | undefined {
    // A path to npx, or a PATH in the entry, means another Node than the hub's.
    const isOwnNpx = transport.command !== "npx" || env["PATH"] !== undefined;
    const isManaged = transport.launcher === "npx" && !isOwnNpx && (npm ?? this.#options.mode) === "managed";
    return isManaged ? parseNpx(transport.args) : undefined;
  }

  /** Undefined if npx runs the package. */
  async #toManaged(packaged: Packaged, { environment }: Preparing): Promise<ManagedPackage | undefined> {
    const call = this.#callOf(packaged);
    const { cwd } = packaged.transport;
    if (call === undefined || (cwd !== undefined && (await isInProject(resolve(cwd), environment["HOME"])))) {
      return undefined;
    }
    const npm = await findNpm(environment["PATH"]);
    return npm === undefined ? undefined : { call, npm, key: keyOf(call, packaged.env) };
  }

  async #toPlan(call: NpxCall, file: string, record: PackageRecord): Promise<LaunchPlan> {
    const inUse = this.#toInUse(record);
    const { command, args } = await toProgram(file, process.execPath);
    const bins = join(inUse.folder, "node_modules", ".bin");
    return { by: "node", program: { command, args: [...args, ...call.args] }, bins, inUse };
  }

  /** The install on record, or a new one. Repairing a damaged install keeps its version. */
  async #ensure(managed: ManagedPackage, preparing: Preparing): Promise<PackageRecord> {
    const { key, call } = managed;
    const usable = await this.#findUsable(key);
    if (usable !== undefined) return usable;
    return this.#queued(this.#installing, key, preparing, async (signal) => {
      const meanwhile = await this.#findUsable(key);
      if (meanwhile !== undefined) return meanwhile;
      const before = await this.#records.read(key);
      const spec = before === undefined ? call.spec : `${call.name}@${before.version}`;
      const installed = await this.#install(spec, managed, { ...preparing, signal, anew: false });
      const record = { ...installed, ...(before?.previous === undefined ? {} : { previous: before.previous }) };
      await this.#commit(key, record);
      if (before !== undefined) await this.#installs.removeIfUnused(before.folder);
      return record;
    });
  }

  /** Queued with all other installs, and done once for all callers that need the same package. */
  async #queued<T>(
    singleFlight: SingleFlight<T>,
    key: string,
    { signal, onStage }: Preparing,
    install: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const unwatch = this.#queue.watch(key, onStage);
    try {
      return await singleFlight.join(key, signal, (end) =>
        this.#queue.run(key, end, () => this.#locked(key, end, () => install(end))),
      );
    } finally {
      unwatch();
    }
  }

  /** The lock keeps two hubs from installing the same package twice. */
  async #locked<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const path = this.#records.path(key);
    try {
      return await withLock(path, work, { waitMs: LOCK_TIMEOUT_MS, signal });
    } catch (thrown) {
      if (signal.aborted) throw new HubError("Cancelled", "The install was cancelled", { cause: thrown });
      if (toHubError(thrown).kind !== "Locked") throw thrown;
      return work();
    }
  }

  async #install(
    spec: string,
    { key, call, npm }: ManagedPackage,
    { environment: env, watchdog, signal, onOutput, anew }: Preparing & { readonly anew: boolean },
  ): Promise<PackageRecord> {
    const options = { spec, name: call.name, anew, npm, env, watchdog, signal, onOutput };
    const { folder, manifest, integrity } = await this.#installs.create(options);
    const owners = new Set([...(this.#known.get(key)?.owners ?? []), this.#options.owner]);
    return {
      spec: call.spec,
      version: manifest.version,
      integrity,
      manifest,
      folder,
      runtime: RUNTIME,
      installed_at: new Date().toISOString(),
      owners: [...owners],
    };
  }

  async #commit(key: string, record: PackageRecord): Promise<void> {
    await this.#installs.claim(record.folder);
    await this.#records.write(key, record);
    this.#installs.complete(record.folder);
    this.#known.set(key, record);
  }

  async #findUsable(key: string): Promise<PackageRecord | undefined> {
    const record = await this.#records.read(key);
    if (record === undefined || !(await this.#installs.isUsable(record))) return undefined;
    const { owner } = this.#options;
    const owned = record.owners.includes(owner) ? record : { ...record, owners: [...record.owners, owner] };
    if (owned !== record) await this.#records.write(key, owned);
    this.#known.set(key, owned);
    return owned;
  }

  #toInUse({ spec, version, integrity, manifest, folder, installed_at }: PackageRecord): PackageInUse {
    return {
      spec,
      name: manifest.name,
      version,
      source: "managed",
      folder: this.#installs.path(folder),
      integrity,
      installedAt: installed_at,
    };
  }
}

function hasVariables({ transport, env }: Packaged): boolean {
  const settings = Object.entries(env).filter(([name]) => /^npm_config_/i.test(name));
  return [...transport.args, ...settings.map(([, value]) => value || "${}")].some((text) => text.includes("${"));
}

/** Tries npx, unless it would fail for the same reason. */
function fallback(error: HubError, { spec }: NpxCall, { signal, onOutput }: Preparing): LaunchPlan {
  if (signal.aborted || error.kind === "Cancelled" || error.kind === "PackageNotFound") throw error;
  onOutput(Buffer.from(`plugboard: ${spec} could not be installed (${error.message}), using npx instead\n`));
  // Without a network npx can only run what is in its cache. Trying the registry again would take another minute.
  return { by: "npx", offline: error.kind === "ConnectionFailed" };
}

function previousOf(record: PackageRecord | undefined, { name }: NpxCall): string {
  if (record?.previous !== undefined) return record.previous;
  throw new HubError("Conflict", `There is no version of ${name} to go back to`, {
    hint: `The hub has not updated it yet. To run another version, write it into the entry: ${name}@VERSION`,
  });
}

function isPinned({ name, spec }: NpxCall): HubError {
  return new HubError("Conflict", `The entry of the server pins ${spec}`, {
    hint: `Write another version into the entry: ${name}@VERSION`,
  });
}

function notManaged(): HubError {
  return new HubError("InvalidArgument", "The hub does not install the package of this server", {
    hint: 'It is not an npm package, or npx runs it because of "npm", PLUGBOARD_NPM, its command or the project in its "cwd"',
  });
}
