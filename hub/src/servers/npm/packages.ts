// npm packages of servers, installed once into the data folder and then run by node itself, without an npm that stays.
// Says how a server is to be run; running it is the dialer's, and what is left of old installs tidy.ts's.

import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { NpmMode, ServerConfig, StdioTransport } from "../../config/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import { withLock } from "../../lock.ts";
import type { Guard } from "../guard.ts";
import { exists } from "./exists.ts";
import { installPackage, type Installed } from "./install.ts";
import { isIntact } from "./intact.ts";
import { findLocal, type LocalPackage } from "./local.ts";
import { parseNpx, type NpxCall } from "./npx-call.ts";
import { binsOf, findBin, inside, toProgram, type Program } from "./program.ts";
import { fileNameOf, keyOf, PackageRecords, type PackageRecord } from "./record.ts";
import { SharedWork } from "./shared-work.ts";
import { findUnused, removeUnused, USED_BY } from "./tidy.ts";
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
  /** It has to be installed first, by whomever. */
  readonly onInstall: () => void;
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
}

interface Plan {
  readonly call: NpxCall;
  readonly tools: NpmTools;
  readonly local: LocalPackage | undefined;
  readonly key: string;
}

const NPX: Way = { by: "npx", offline: false };
/** For another hub that installs the same. Longer takes only one that was killed, and whose process id is taken. */
const PATIENCE_MS = 60_000;
const RUNTIME = `${process.platform}-${process.arch}-${process.versions.modules}`;

export class Packages {
  readonly #options: PackagesOptions;
  readonly #records: PackageRecords;
  readonly #installs: string;
  readonly #work = new SharedWork<PackageRecord>();
  readonly #renewals = new SharedWork<Renewal>();
  /** As far as they are known; the files are looked at before each start. */
  readonly #known: Map<string, PackageRecord>;
  /** Folders that were looked through since the hub's start, and from which nothing failed. */
  readonly #verified = new Set<string>();
  readonly #claimed = new Set<string>();
  /** Folders without a record that this hub is filling. */
  readonly #underWay = new Set<string>();

  private constructor(options: PackagesOptions, records: PackageRecords, known: Map<string, PackageRecord>) {
    this.#options = options;
    this.#records = records;
    this.#installs = join(options.folder, "installs");
    this.#known = known;
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

  /** How the server is to be run now; installs its package where it is not there. */
  async prepare(packaged: Packaged, preparing: Preparing): Promise<Way> {
    const plan = await this.#plan(packaged, preparing);
    if (plan === undefined) return NPX;
    const { call, tools, local, key } = plan;
    if (local !== undefined) {
      const { root, version, file } = local;
      const about = { spec: call.spec, name: call.name, version, folder: root, integrity: null, installedAt: null };
      return this.#toWay(call, file, tools, { ...about, source: "local" });
    }
    try {
      const record = (await this.#findUsable(key, tools)) ?? (await this.#ensure(key, call, tools, preparing));
      const file = this.#fileOf(record, call);
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
      const record = (await this.#findUsable(key, tools)) ?? (await this.#ensure(key, call, tools, preparing));
      return { key, before: record, after: record };
    }
    return this.#renewals.join(key, preparing.signal, (signal) =>
      this.#alone(key, signal, async () => {
        const before = await this.#records.read(key);
        const after = await this.#install(key, call.spec, {
          call,
          tools,
          preparing: { ...preparing, signal },
          anew: true,
        });
        const isSame = before?.version === after.version && (await this.#isUsable(before, tools));
        if (!isSame) await this.#commit(key, after);
        else await this.#discard(after.folder);
        return { key, before, after: isSame ? before : after };
      }),
    );
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
  async release(): Promise<void> {
    const notes = [...this.#claimed].map((folder) => this.#noteIn(folder));
    await Promise.all(notes.map((note) => rm(note, { force: true }).catch(() => undefined))); // found by the next hub
    this.#claimed.clear();
  }

  /** A server did not come up from there: something may be missing. It is looked through before the next start. */
  doubt({ folder }: PackageInUse): void {
    this.#verified.delete(folder);
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
    await removeUnused(await findUnused({ folder, owner, isOurs, underWay: this.#underWay }), this.#records);
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
  #ensure(key: string, call: NpxCall, tools: NpmTools, preparing: Preparing): Promise<PackageRecord> {
    preparing.onInstall();
    return this.#work.join(key, preparing.signal, (signal) =>
      this.#alone(key, signal, async () => {
        const usable = await this.#findUsable(key, tools);
        if (usable !== undefined) return usable;
        // What is on record was damaged or removed: repairing it is no update.
        const before = await this.#records.read(key);
        const spec = before === undefined ? call.spec : `${call.name}@${before.version}`;
        const record = await this.#install(key, spec, {
          call,
          tools,
          preparing: { ...preparing, signal },
          anew: false,
        });
        await this.#commit(key, record);
        if (before !== undefined && before.folder !== record.folder) await this.#discard(before.folder);
        return record;
      }),
    );
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
    key: string,
    spec: string,
    { call, tools, preparing, anew }: { call: NpxCall; tools: NpmTools; preparing: Preparing; anew: boolean },
  ): Promise<PackageRecord> {
    const { environment: env, guard, signal, onOutput } = preparing;
    const { name } = call;
    // Whose it is, should the hub be killed.
    const folder = `${fileNameOf(name)}-${process.pid}-${randomBytes(4).toString("hex")}`;
    const path = join(this.#installs, folder);
    this.#underWay.add(folder);
    try {
      const installed = await installPackage({ spec, name, anew, folder: path, tools, env, guard, signal, onOutput });
      return this.#toRecord(call.spec, folder, installed, tools, this.#known.get(key)?.owners ?? []);
    } catch (thrown) {
      await this.#discard(folder);
      throw thrown;
    }
  }

  #toRecord(
    spec: string,
    folder: string,
    { manifest, integrity }: Installed,
    tools: NpmTools,
    owners: readonly string[],
  ): PackageRecord {
    return {
      spec,
      version: manifest.version,
      integrity,
      manifest,
      folder,
      runtime: runtimeOf(tools),
      installed_at: new Date().toISOString(),
      owners: [...new Set([...owners, this.#options.owner])],
    };
  }

  async #commit(key: string, record: PackageRecord): Promise<void> {
    await this.#claim(record.folder);
    await this.#records.write(key, record);
    this.#underWay.delete(record.folder);
    this.#verified.add(join(this.#installs, record.folder));
    this.#known.set(key, record);
  }

  async #findUsable(key: string, tools: NpmTools): Promise<PackageRecord | undefined> {
    const record = await this.#records.read(key);
    if (record === undefined || !(await this.#isUsable(record, tools))) return undefined;
    const { owners } = record;
    const kept = owners.includes(this.#options.owner)
      ? record
      : { ...record, owners: [...owners, this.#options.owner] };
    if (kept !== record) await this.#records.write(key, kept);
    this.#known.set(key, kept);
    return kept;
  }

  async #isUsable(record: PackageRecord, tools: NpmTools): Promise<boolean> {
    if (record.runtime !== runtimeOf(tools)) return false;
    const folder = join(this.#installs, record.folder);
    // Before the look: from now on nobody else removes it.
    if (!(await this.#claim(record.folder))) return false;
    const files = Object.values(binsOf(record.manifest)).map((file) => join(packageIn(folder, record), file));
    if ((await Promise.all(files.map(exists))).includes(false)) return false;
    if (this.#verified.has(folder)) return true;
    const intact = await isIntact(folder);
    if (intact) this.#verified.add(folder);
    return intact;
  }

  /** Leaves a note that this hub runs servers from there. */
  async #claim(folder: string): Promise<boolean> {
    const path = join(this.#installs, folder);
    if (this.#claimed.has(folder) && (await exists(path))) return true;
    try {
      await writeFile(this.#noteIn(folder), "", { mode: 0o600 });
    } catch {
      return false; // it is gone
    }
    this.#claimed.add(folder);
    return true;
  }

  #noteIn(folder: string): string {
    return join(this.#installs, folder, `${USED_BY}${process.pid}`);
  }

  async #discard(folder: string): Promise<void> {
    // What cannot be removed now is found by the next hub.
    await rm(join(this.#installs, folder), { recursive: true, force: true }).catch(() => undefined);
    this.#underWay.delete(folder);
  }

  #fileOf(record: PackageRecord, call: NpxCall): string | undefined {
    const bin = findBin(record.manifest, call.program);
    return bin === undefined ? undefined : inside(packageIn(join(this.#installs, record.folder), record), bin);
  }

  #toUse({ spec, version, integrity, manifest, folder, installed_at }: PackageRecord): PackageInUse {
    const path = join(this.#installs, folder);
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

function packageIn(install: string, { manifest }: PackageRecord): string {
  return join(install, "node_modules", manifest.name);
}

/** Native parts of a package fit the Node that they were made for. */
function runtimeOf({ node }: NpmTools): string {
  return node === process.execPath ? RUNTIME : `${RUNTIME} ${dirname(node)}`;
}
