// The config in force. Applies changes from the files or the API one after the other, saves them, and restarts only the servers
// that they change.

import { isDeepStrictEqual } from "node:util";
import { findUndeclaredVariables, requireDeclaredVariables, undeclaredWarning } from "../config/parse/allowed-env.ts";
import { describeChanges, diffConfig, isUnchanged, type ConfigChanges } from "../config/edit/diff.ts";
import { SERVER_FILE } from "../config/parse/documents.ts";
import type { Completions } from "../registry/completions.ts";
import { normalizeServer } from "../config/parse/normalize.ts";
import type { EntryTime, EntryTimes } from "../config/files/entry-times.ts";
import type {
  ConfigFileName,
  ConfigStore,
  EditOptions,
  LoadedConfig,
  StoredTexts,
} from "../config/files/config-store.ts";
import type { CallLogPatch } from "../config/schema/call-log.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "../config/schema/types.ts";
import { serverWarnings } from "../config/parse/warnings.ts";
import { demoServer } from "../demo/config.ts";
import { HubError, toHubError, type ErrorBody } from "../errors.ts";
import type { HubEvents } from "../events.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { Supervisor } from "../servers/supervisor.ts";

export interface LiveConfigOptions {
  readonly store: ConfigStore;
  /** The config folder. */
  readonly folder: string;
  readonly supervisor: Supervisor;
  readonly events: HubEvents;
  /** The hub's own environment: has the variables that the operator allows. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secrets: Pick<SecretStore, "get">;
  readonly times: EntryTimes;
  /** Completes entries that name only their source. */
  readonly completions: Pick<Completions, "complete" | "completed">;
  /** Without a config, the built-in demo server runs. */
  readonly offersDemo: boolean;
  /** Another config is in force. */
  readonly onChange: (changes: ConfigChanges) => void;
  /** A server was removed and has stopped. */
  readonly onRemoved: (server: string) => void;
}

export class LiveConfig {
  readonly #options: LiveConfigOptions;
  /** Starts and stops that continue after a change is in force. */
  readonly #background = new Set<Promise<void>>();
  /** The last change; the next one waits until it has settled. */
  #changes: Promise<unknown> = Promise.resolve();
  #stopWatching: (() => void) | undefined;
  #current: HubConfig = { servers: [], groups: [] };
  #warnings: readonly string[] = [];
  /** Why the stored config is not in force. */
  #rejected: ErrorBody | undefined;
  #revision = "";
  #demo = false;
  #running = false;

  constructor(options: LiveConfigOptions) {
    this.#options = options;
  }

  get current(): HubConfig {
    return this.#current;
  }

  /** Warnings about settings that work but are probably mistakes. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Why the stored config is invalid; the last valid one stays in force. */
  get rejected(): ErrorBody | undefined {
    return this.#rejected;
  }

  /** Changes with every change of the stored config. */
  get revision(): string {
    return this.#revision;
  }

  /** True while there is no config and the built-in demo server runs instead. */
  get demo(): boolean {
    return this.#demo;
  }

  /** Puts the first config into force. Nothing is started. */
  open(loaded: LoadedConfig): void {
    this.#setCurrent(loaded);
    for (const server of this.#current.servers) this.#options.supervisor.add(server);
  }

  /** When a server's entry was first seen, and when it last changed. */
  timesOf(id: string): EntryTime {
    return this.#options.times.of(id);
  }

  /** From now on, servers that a change adds or alters are started. */
  run(): void {
    this.#running = true;
  }

  /** From now on, what others change in the store is applied. The outcome is reported by event. */
  async watch(): Promise<void> {
    const onChange = () => void this.reload().catch(() => undefined);
    this.#stopWatching = await this.#options.store.watch(onChange);
  }

  /** Starts no more servers. Resolves when no change is in progress. */
  async close(): Promise<void> {
    this.#running = false;
    this.#stopWatching?.();
    await this.#changes;
    await Promise.all(this.#background);
  }

  /** Loads the stored config and applies its changes. An invalid config changes nothing and is reported. */
  reload({ requestId }: Pick<EditOptions, "requestId"> = {}): Promise<ConfigChanges> {
    return this.#serialize(async () => {
      try {
        const loaded = await this.#options.store.load();
        this.#refuseBlank(loaded);
        return this.#apply(loaded, { isReload: true, requestId });
      } catch (thrown) {
        const error = toHubError(thrown);
        this.#rejected = error.toJSON();
        this.#options.events.emit("config.rejected", { error: this.#rejected });
        throw error;
      }
    });
  }

  /** A server's entry as the user wrote it. */
  readEntry(name: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#options.store.readEntry(this.#nameOf(name));
  }

  /** Validates and saves a new server, and starts it if it is enabled. */
  async createServer(given: unknown, options?: EditOptions): Promise<ManagedServer> {
    const entry = await this.#options.completions.completed(given);
    const server = normalizeServer(undefined, entry);
    await this.requireResolvable(server, undefined);
    const { name } = await this.#edit((store) => store.createServer(entry, options), options);
    return this.#options.supervisor.get(name);
  }

  async updateServer(name: string, given: unknown, options?: EditOptions): Promise<ManagedServer> {
    const entry = await this.#options.completions.completed(given);
    const { name: known, config: before } = this.#options.supervisor.get(name);
    const after = normalizeServer(known, entry);
    await this.requireResolvable(after, before);
    const server = await this.#edit((store) => store.updateServer(known, entry, options), options);
    return this.#options.supervisor.get(server.name);
  }

  async deleteServer(name: string, options?: EditOptions): Promise<void> {
    const known = this.#nameOf(name);
    await this.#edit((store) => store.deleteServer(known, options), options);
  }

  /**
   * Enables or disables a server in the file. If an enabled server does not start, its entry is restored. Saving first
   * means two writes in that case, but testing first would start every server twice.
   */
  async setEnabled(name: string, enabled: boolean, options?: EditOptions): Promise<ManagedServer> {
    const server = this.#options.supervisor.get(name);
    if (server.config.enabled === enabled) {
      // Already enabled: the caller still wants to know whether it starts.
      if (enabled) await server.start();
      return server;
    }
    const before = await this.#options.store.readEntry(server.name);
    const { disabled: _, ...entry } = before;
    const switched = await this.updateServer(server.name, { ...entry, enabled }, options);
    if (!enabled) return switched;
    try {
      await switched.start();
      return switched;
    } catch (error) {
      await this.updateServer(server.name, before, options);
      throw error;
    }
  }

  setGroup(name: string, entry: unknown, options?: EditOptions): Promise<GroupConfig> {
    return this.#edit((store) => store.setGroup(name, entry, options), options);
  }

  deleteGroup(name: string, options?: EditOptions): Promise<void> {
    return this.#edit((store) => store.deleteGroup(name, options), options);
  }

  /** Changes how long calls are recorded. */
  setCallLog(patch: CallLogPatch, options?: EditOptions): Promise<void> {
    return this.#edit((store) => store.setCallLog(patch, options), options);
  }

  /** The texts of the files, also of those that are not valid. */
  readTexts(): Promise<StoredTexts> {
    return this.#options.store.readTexts();
  }

  /** Replaces the text of a file and applies its changes. The caller has checked it: see commands/config-files.ts. */
  replaceText(file: ConfigFileName, text: string, options?: EditOptions): Promise<void> {
    return this.#edit((store) => store.replaceText(file, text, options), options);
  }

  /** The warnings about one server. */
  warningsOf(server: ServerConfig): string[] {
    const undeclared = server.invalid === undefined ? findUndeclaredVariables(server, this.#options.variables) : [];
    return [...serverWarnings(server), ...undeclaredWarning(server.name, undeclared)];
  }

  /** Throws if an entry uses variables that neither it declares nor the operator allows. */
  requireDeclared(server: ServerConfig, before: ServerConfig | undefined): void {
    requireDeclaredVariables(server, before, this.#options.variables);
  }

  /** Throws if the variables or the required secrets of an entry are not available. */
  async requireResolvable(server: ServerConfig, before: ServerConfig | undefined): Promise<void> {
    this.requireDeclared(server, before);
    await this.#requireSecrets(server, before);
  }

  /** Required secrets must exist before an entry is saved. An entry that lacked one already may still be edited. */
  async #requireSecrets({ env }: ServerConfig, before: ServerConfig | undefined): Promise<void> {
    for (const [name, entry] of Object.entries(env)) {
      const { secretRef, required = false } = entry;
      if (!required || secretRef === undefined || isDeepStrictEqual(before?.env[name], entry)) continue;
      if ((await this.#options.secrets.get(secretRef)) !== undefined) continue;
      throw new HubError("InvalidConfig", "Missing required credentials", {
        field: `env.${name}`,
        detail: `The secret ${secretRef} for ${name} is not in the secret store`,
        hint: `plugboard secret set ${secretRef}`,
      });
    }
  }

  #nameOf(nameOrId: string): string {
    return this.#options.supervisor.get(nameOrId).name;
  }

  #serialize<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(change);
    this.#changes = result.catch(() => undefined);
    return result;
  }

  #edit<T>(save: (store: ConfigStore) => Promise<T>, { requestId }: EditOptions = {}): Promise<T> {
    const { store } = this.#options;
    return this.#serialize(async () => {
      const saved = await save(store);
      this.#apply(await store.load(), { requestId });
      return saved;
    });
  }

  #setCurrent({ config: loaded, present, revision, warnings }: LoadedConfig): void {
    this.#rejected = undefined;
    const { completions } = this.#options;
    const config = { ...loaded, servers: loaded.servers.map((server) => completions.complete(server)) };
    const undeclared = config.servers.flatMap((server) =>
      server.invalid === undefined
        ? undeclaredWarning(server.name, findUndeclaredVariables(server, this.#options.variables))
        : [],
    );
    this.#warnings = [...warnings, ...undeclared];
    this.#demo = this.#options.offersDemo && !present.servers;
    this.#revision = revision;
    this.#current = this.#demo ? { ...config, servers: [demoServer(this.#options.folder)] } : config;
    this.#options.times.update(this.#current.servers);
  }

  /** Many editors truncate a file before they write it. Applying that state would stop every server. */
  #refuseBlank({ emptyFiles = [] }: LoadedConfig): void {
    const { servers, groups } = this.#current;
    const hadServers = servers.length > 0 && !this.#demo;
    const emptied = emptyFiles.find((file) => (file === SERVER_FILE ? hadServers : groups.length > 0));
    if (emptied === undefined) return;
    throw new HubError("InvalidConfig", `${emptied} is empty`, { hint: "Write {} if it is meant to be empty" });
  }

  /** Servers that do not change keep their process and their clients' sessions. */
  #apply(
    loaded: LoadedConfig,
    { isReload = false, requestId }: { isReload?: boolean; requestId: string | undefined },
  ): ConfigChanges {
    const { supervisor, events, onChange, onRemoved } = this.#options;
    const [previous, warned] = [this.#current, this.#warnings];
    this.#setCurrent(loaded);
    for (const message of this.#warnings) if (!warned.includes(message)) events.emit("warning", { message });
    const changes = diffConfig(previous, this.#current);
    const description = describeChanges(changes);
    if (isUnchanged(changes)) {
      // A reload without changes is reported too, so that the user sees that the file was read.
      if (isReload) events.emit("config.reloaded", { changes, description, requestId });
      return changes;
    }
    for (const name of changes.removed) this.#inBackground(supervisor.remove(name).then(() => onRemoved(name)));
    for (const server of changes.updated) supervisor.get(server.name).updateConfig(server);
    for (const server of changes.added) this.#inBackground(this.#start(supervisor.add(server)));
    for (const server of changes.restarted) {
      this.#inBackground(supervisor.replace(server, { wanted: () => this.#isWanted(server) }));
    }
    onChange(changes);
    events.emit("config.reloaded", { changes, description, requestId });
    return changes;
  }

  async #start(server: ManagedServer): Promise<void> {
    if (this.#isWanted(server.config)) await server.boot();
  }

  #isWanted({ enabled }: ServerConfig): boolean {
    return this.#running && enabled;
  }

  /** The outcome is in the server's status. */
  #inBackground(work: Promise<void>): void {
    const done = work.catch(() => undefined).finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}
