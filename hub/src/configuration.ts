// The config in force: takes changes, from the files or through the hub, one after the other, saves them, and touches
// only the servers that they change.

import { isDeepStrictEqual } from "node:util";
import { findUndeclared, requireDeclared, undeclaredWarning } from "./config/allowed-env.ts";
import { describeChanges, diffConfig, isUnchanged, type ConfigChanges } from "./config/diff.ts";
import { GROUP_FILE, SERVER_FILE } from "./config/documents.ts";
import { normalizeServer } from "./config/normalize.ts";
import type { EntryTime, EntryTimes } from "./config/entry-times.ts";
import type { ConfigStore, EditOptions, LoadedConfig } from "./config/store.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "./config/types.ts";
import { serverWarnings } from "./config/warnings.ts";
import { FolderWatch } from "./config/watch.ts";
import { demoServer } from "./demo/config.ts";
import { HubError, toHubError, type ErrorBody } from "./errors.ts";
import type { HubEvents } from "./events.ts";
import type { SecretStore } from "./secrets/store.ts";
import type { ManagedServer } from "./servers/server.ts";
import type { Supervisor } from "./servers/supervisor.ts";

export interface ConfigurationOptions {
  readonly store: ConfigStore;
  /** The folder that is watched. */
  readonly folder: string;
  readonly supervisor: Supervisor;
  readonly events: HubEvents;
  /** The hub's own environment: says what the operator allows. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secrets: Pick<SecretStore, "get">;
  readonly times: EntryTimes;
  /** Another config is in force. */
  readonly onChange: () => void;
  /** A server is gone, and has finished what it was asked. */
  readonly onRemoved: (server: string) => void;
}

export class Configuration {
  readonly #options: ConfigurationOptions;
  /** Starts and stops that go on after a change is in force. */
  readonly #background = new Set<Promise<void>>();
  /** The last change; the next one waits for it, whatever became of it. */
  #changes: Promise<unknown> = Promise.resolve();
  #watch: FolderWatch | undefined;
  #current: HubConfig = { servers: [], groups: [] };
  #warnings: readonly string[] = [];
  /** Why what is stored now is not what is in force. */
  #rejected: ErrorBody | undefined;
  #revision = "";
  #demo = false;
  #running = false;

  constructor(options: ConfigurationOptions) {
    this.#options = options;
  }

  get current(): HubConfig {
    return this.#current;
  }

  /** What the config says that works, but is probably not meant. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Why the files cannot be used as they are now; the config in force is the last good one. */
  get rejected(): ErrorBody | undefined {
    return this.#rejected;
  }

  /** Changes with every change of what is stored. */
  get revision(): string {
    return this.#revision;
  }

  /** True while there is no config at all and the built-in demo server stands in. */
  get demo(): boolean {
    return this.#demo;
  }

  /** Puts the first config into force. Nothing is started. */
  open(loaded: LoadedConfig): void {
    this.#take(loaded);
    for (const server of this.#current.servers) this.#options.supervisor.add(server);
  }

  /** When a server's entry was first seen here, and when it last changed. */
  timesOf(id: string): EntryTime {
    return this.#options.times.of(id);
  }

  /** From now on servers that a change adds or alters are started too. */
  run(): void {
    this.#running = true;
  }

  /** From now on an edit of the files takes effect by itself. How it ends is told by event. */
  async watch(): Promise<void> {
    const onChange = () => void this.reload().catch(() => undefined);
    this.#watch = await FolderWatch.open(this.#options.folder, [SERVER_FILE, GROUP_FILE], onChange);
  }

  /** Nothing is started any more. Resolves when no change is under way. */
  async close(): Promise<void> {
    this.#running = false;
    this.#watch?.close();
    await this.#changes;
    await Promise.all(this.#background);
  }

  /** Reads what is stored and touches what it changes. What cannot be used changes nothing, and is reported. */
  reload(): Promise<ConfigChanges> {
    return this.#inTurn(async () => {
      try {
        const loaded = await this.#options.store.load();
        this.#refuseBlank(loaded);
        return this.#apply(loaded, { isAsked: true });
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
  async createServer(entry: unknown, options?: EditOptions): Promise<ManagedServer> {
    const server = normalizeServer(undefined, entry);
    this.requireDeclared(server, undefined);
    await this.#requireSecrets(server, undefined);
    const { name } = await this.#edit((store) => store.createServer(entry, options));
    return this.#options.supervisor.get(name);
  }

  async updateServer(name: string, entry: unknown, options?: EditOptions): Promise<ManagedServer> {
    const { name: known, config: before } = this.#options.supervisor.get(name);
    const after = normalizeServer(known, entry);
    this.requireDeclared(after, before);
    await this.#requireSecrets(after, before);
    const server = await this.#edit((store) => store.updateServer(known, entry, options));
    return this.#options.supervisor.get(server.name);
  }

  async deleteServer(name: string, options?: EditOptions): Promise<void> {
    const known = this.#nameOf(name);
    await this.#edit((store) => store.deleteServer(known, options));
  }

  /** Switches a server on or off, for good. One that is switched on and does not start is switched off again. */
  async setEnabled(name: string, enabled: boolean): Promise<ManagedServer> {
    const server = this.#options.supervisor.get(name);
    if (server.config.enabled === enabled) {
      // It is on already; whether it also works is what the caller wants to know.
      if (enabled) await server.start();
      return server;
    }
    const before = await this.#options.store.readEntry(server.name);
    const { disabled: _, ...entry } = before;
    const switched = await this.updateServer(server.name, { ...entry, enabled });
    if (!enabled) return switched;
    try {
      await switched.start();
      return switched;
    } catch (error) {
      await this.updateServer(server.name, before);
      throw error;
    }
  }

  setGroup(name: string, entry: unknown, options?: EditOptions): Promise<GroupConfig> {
    return this.#edit((store) => store.setGroup(name, entry, options));
  }

  deleteGroup(name: string, options?: EditOptions): Promise<void> {
    return this.#edit((store) => store.deleteGroup(name, options));
  }

  /** What should be known of one server. */
  warningsOf(server: ServerConfig): string[] {
    const undeclared = server.invalid === undefined ? findUndeclared(server, this.#options.variables) : [];
    return [...serverWarnings(server), ...undeclaredWarning(server.name, undeclared)];
  }

  /** Refuses an entry that would take variables which neither it declares nor the operator allows. */
  requireDeclared(server: ServerConfig, before: ServerConfig | undefined): void {
    requireDeclared(server, before, this.#options.variables);
  }

  /** MC-NT4: what a server cannot start without is there before it is saved. What it lacked before is no reason. */
  async #requireSecrets({ env }: ServerConfig, before: ServerConfig | undefined): Promise<void> {
    for (const [name, entry] of Object.entries(env)) {
      const { secretRef, required = false } = entry;
      if (!required || secretRef === undefined || isDeepStrictEqual(before?.env[name], entry)) continue;
      if ((await this.#options.secrets.get(secretRef)) !== undefined) continue;
      throw new HubError("InvalidConfig", "Missing required credentials", {
        field: `env.${name}`,
        detail: `The secret ${secretRef}, which ${name} takes, is not in the secret store`,
        hint: `plugboard secret set ${secretRef}`,
      });
    }
  }

  #nameOf(nameOrId: string): string {
    return this.#options.supervisor.get(nameOrId).name;
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#changes.then(change);
    this.#changes = turn.catch(() => undefined);
    return turn;
  }

  #edit<T>(save: (store: ConfigStore) => Promise<T>): Promise<T> {
    const { store } = this.#options;
    return this.#inTurn(async () => {
      const saved = await save(store);
      this.#apply(await store.load());
      return saved;
    });
  }

  #take({ config, present, revision, warnings }: LoadedConfig): void {
    this.#rejected = undefined;
    const undeclared = config.servers.flatMap((server) =>
      server.invalid === undefined
        ? undeclaredWarning(server.name, findUndeclared(server, this.#options.variables))
        : [],
    );
    this.#warnings = [...warnings, ...undeclared];
    this.#demo = !present.servers;
    this.#revision = revision;
    this.#current = this.#demo ? { ...config, servers: [demoServer(this.#options.folder)] } : config;
    this.#options.times.update(this.#current.servers);
  }

  /** Many editors empty a file before they write it: taken at its word, that would end every server. */
  #refuseBlank({ blank = [] }: LoadedConfig): void {
    const { servers, groups } = this.#current;
    const hadServers = servers.length > 0 && !this.#demo;
    const emptied = blank.find((file) => (file === SERVER_FILE ? hadServers : groups.length > 0));
    if (emptied === undefined) return;
    throw new HubError("InvalidConfig", `${emptied} is empty`, { hint: "If nothing is meant to be in it, write {}" });
  }

  /** Servers that the config does not change keep their process and their clients' sessions. */
  #apply(loaded: LoadedConfig, { isAsked = false } = {}): ConfigChanges {
    const { supervisor, events, onChange, onRemoved } = this.#options;
    const [previous, warned] = [this.#current, this.#warnings];
    this.#take(loaded);
    for (const message of this.#warnings) if (!warned.includes(message)) events.emit("warning", { message });
    const changes = diffConfig(previous, this.#current);
    const description = describeChanges(changes);
    if (isUnchanged(changes)) {
      // Somebody saved the file or asked for it, and wants to know that it was read.
      if (isAsked) events.emit("config.reloaded", { changes, description });
      return changes;
    }
    for (const name of changes.removed) this.#inBackground(supervisor.remove(name).then(() => onRemoved(name)));
    for (const server of changes.described) supervisor.get(server.name).redescribe(server);
    for (const server of changes.added) this.#inBackground(this.#start(supervisor.add(server)));
    for (const server of changes.restarted) {
      this.#inBackground(supervisor.replace(server, { wanted: () => this.#isWanted(server) }));
    }
    onChange();
    events.emit("config.reloaded", { changes, description });
    return changes;
  }

  async #start(server: ManagedServer): Promise<void> {
    if (this.#isWanted(server.config)) await server.boot();
  }

  #isWanted({ enabled }: ServerConfig): boolean {
    return this.#running && enabled;
  }

  /** How it ends is in the server's status. */
  #inBackground(work: Promise<void>): void {
    const done = work.catch(() => undefined).finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}
