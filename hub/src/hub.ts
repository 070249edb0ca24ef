// The composition root: builds everything from its parts, starts and stops it. The only place that knows the adapters.

import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { createAdminEndpoint } from "./api/admin/endpoint.ts";
import { createApi } from "./api/app.ts";
import { createMetrics } from "./api/metrics.ts";
import { ManagementToken, readManagementToken } from "./auth/management-token.ts";
import { Calls } from "./calls/call.ts";
import { Latency } from "./calls/latency.ts";
import type { CallLog } from "./calls/log.ts";
import { Redactor } from "./calls/redact.ts";
import { Catalog } from "./catalog/catalog.ts";
import { EntryTimes, entryTimesFile } from "./config/entry-times.ts";
import { ConfigFiles } from "./config/file.ts";
import type { HubPaths } from "./config/paths.ts";
import type { ConfigStore, LoadedConfig } from "./config/store.ts";
import { Configuration } from "./configuration.ts";
import { DroppedConnections } from "./dropped-connections.ts";
import { HubEvents } from "./events.ts";
import { Listener, type Edge, type QuickEdge } from "./listener.ts";
import { McpHttp } from "./mcp/http.ts";
import { Endpoint } from "./mcp/endpoint.ts";
import { LogLevels } from "./mcp/log-levels.ts";
import { TaskIds } from "./mcp/task-ids.ts";
import type { SecretStore } from "./secrets/store.ts";
import { givenSecretKey } from "./secrets/given-key.ts";
import { FileSecrets } from "./secrets/file-store.ts";
import { EraMemory } from "./servers/era-memory.ts";
import { Guard } from "./servers/guard.ts";
import { Packages } from "./servers/npm/packages.ts";
import { ListingMemory } from "./servers/listing-memory.ts";
import { Launches } from "./servers/launches.ts";
import { Places } from "./servers/places.ts";
import type { Resilience } from "./servers/resilience.ts";
import { Supervisor } from "./servers/supervisor.ts";
import { SqliteCallLog } from "./store/call-log.ts";
import { SessionFile } from "./store/session-file.ts";
import { sweepTemps } from "./sweep.ts";
import { loadTracing, type LoadedTracing } from "./telemetry/open.ts";
import type { Tracing } from "./telemetry/tracing.ts";
import type { UpgradeEdge } from "./upgrades.ts";
import { IDLE_MS, RECORD_MS } from "./wire/http-session.ts";
import { createLookup } from "./wire/lookup.ts";

export interface HubOptions {
  readonly paths: HubPaths;
  /** The hub's own environment: fills `${NAME}`, and a small part of it goes to the servers. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** In place of the files of the config folder. */
  readonly store?: ConfigStore;
  /** In place of the encrypted files of the data folder. */
  readonly secrets?: SecretStore;
  /** In place of the database of the data folder. */
  readonly callLog?: (redactor: Redactor) => CallLog;
  /** In place of the system, which knows where remote servers are. */
  readonly lookup?: LookupFunction;
}

/** What is known about servers from before. */
interface Memories {
  readonly eras: EraMemory;
  readonly listings: ListingMemory | undefined;
  readonly packages: Packages | undefined;
  readonly taskIds: TaskIds;
  readonly times: EntryTimes;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Asked for what is none of the hub's own. */
  readonly edges?: readonly Edge[];
}

/** Of all servers together, each of which may have its own bound: a process each, as a rule. */
const MAX_INSTANCES = 128;

/** Of those that are kept to be shown; all are logged. */
const MAX_WARNINGS = 100;

/** What becomes of npm packages whose servers say nothing about it. */
const NPM_VARIABLE = "PLUGBOARD_NPM";

export class Hub {
  readonly events = new HubEvents();
  readonly supervisor: Supervisor;
  readonly calls: Calls;
  readonly configuration: Configuration;
  readonly callLog: CallLog;
  readonly latency = new Latency();
  readonly #ownWarnings: string[];
  readonly #dropped = new DroppedConnections((message) => void this.events.emit("warning", { message }));
  readonly secrets: SecretStore;
  readonly #redactor = new Redactor();
  readonly #paths: HubPaths;
  readonly #guard: Guard;
  readonly #memories: Memories;
  readonly #tracing: Tracing | undefined;
  /** What the endpoints of all groups share. */
  readonly #ofAllGroups: { readonly taskIds: TaskIds; readonly logLevels: LogLevels };
  #catalog: Catalog;
  #rebuild: NodeJS.Timeout | undefined;
  #buildMs = 0;
  #endParked: () => void = () => undefined;
  #endClients: () => void = () => undefined;
  #listener: Listener | undefined;
  /** Those of legacy clients, on record for the process that comes after this one. */
  #sessions: SessionFile | undefined;
  #stopping: Promise<void> | undefined;
  #tidying: Promise<void> | undefined;

  private constructor(
    { variables, paths, secrets, callLog, lookup, store: ownStore }: HubOptions,
    loaded: LoadedConfig,
    store: ConfigStore,
    { eras, listings, packages, taskIds, times }: Memories,
    tracing: LoadedTracing,
  ) {
    const instance = randomUUID();
    const inMemory = ownStore !== undefined;
    this.#paths = paths;
    this.#ownWarnings = [...tracing.warnings, ...npmWarnings(variables)];
    this.#memories = { eras, listings, packages, taskIds, times };
    this.#guard = new Guard({ instance });
    this.secrets = secrets ?? new FileSecrets(paths.data, { key: givenSecretKey(variables) });
    this.supervisor = new Supervisor(
      {
        variables,
        ...(inMemory ? {} : { configFolder: paths.config }),
        secrets: this.secrets,
        guard: this.#guard,
        eras,
        instance,
        redactor: this.#redactor,
        launches: new Launches(),
        places: new Places("The hub", () => MAX_INSTANCES),
        lookup: createLookup(lookup),
        ...(listings === undefined ? {} : { listings }),
        ...(packages === undefined ? {} : { packages }),
      },
      {
        onStatus: ({ name, status }) => this.events.emit("server.status", { server: name, status }),
        onOffer: () => this.#scheduleRebuild(),
        onCircuit: ({ name }, breaker) => this.events.emit("server.circuit", { server: name, breaker }),
        onFlood: ({ name, resilience }) => this.events.emit("warning", { message: floodWarning(name, resilience) }),
        onTaskNews: ({ name }, news) => this.events.emit("server.task", { server: name, news }),
        onToolChanges: ({ name }, changes) => this.events.emit("server.tools", { server: name, changes }),
        onWarning: ({ name }, message) => this.events.emit("warning", { server: name, message }),
        onLog: ({ name }, { at, text }) => this.events.emit("server.log", { server: name, at, text }),
      },
    );
    this.#ofAllGroups = { taskIds, logLevels: new LogLevels(this.supervisor) };
    this.callLog = callLog?.(this.#redactor) ?? this.#openCallLog(paths);
    this.#tracing = tracing.create?.({
      instance,
      redact: (text) => this.#redactor.redactText(text),
      onWarning: (message) => void this.events.emit("warning", { message }),
    });
    this.calls = new Calls({
      supervisor: this.supervisor,
      events: this.events,
      log: this.callLog,
      latency: this.latency,
      tracing: this.#tracing,
      limits: () => this.configuration.current.limits,
    });
    this.configuration = new Configuration({
      store,
      folder: paths.config,
      supervisor: this.supervisor,
      events: this.events,
      variables,
      secrets: this.secrets,
      times,
      onChange: () => this.#replaceCatalog(),
      onRemoved: (server) => {
        this.calls.forget(server);
        this.#ofAllGroups.logLevels.forget(server);
      },
    });
    this.configuration.open(loaded);
    this.#catalog = Catalog.build(this.configuration.current, this.supervisor.listings());
  }

  /** Loads the config and builds the hub. Nothing runs yet. */
  static async open(options: HubOptions): Promise<Hub> {
    const { paths } = options;
    const store = options.store ?? new ConfigFiles(paths.config);
    const [loaded, tracing] = await Promise.all([store.load(), loadTracing(options.variables)]);
    const inMemory = options.store !== undefined;
    if (!inMemory) await mkdir(paths.data, { recursive: true, mode: 0o700 });
    const early: string[] = [];
    let warn: (message: string) => void = (message) => early.push(message);
    const onWarning = (message: string) => warn(message);
    const listings = inMemory ? undefined : new ListingMemory(join(paths.data, "listings"), { onWarning });
    const [eras, packages, taskIds, times] = await Promise.all([
      EraMemory.open(inMemory ? undefined : join(paths.data, "eras.json"), onWarning),
      inMemory ? undefined : openPackages(options),
      inMemory ? new TaskIds() : TaskIds.open(join(paths.data, "task-ids.key"), onWarning),
      EntryTimes.open(inMemory ? undefined : join(paths.data, entryTimesFile(paths.config))),
      inMemory ? undefined : sweepTemps(paths),
    ]);
    const hub = new Hub(options, loaded, store, { eras, listings, packages, taskIds, times }, tracing);
    for (const message of early) hub.#warn(message);
    warn = (message) => hub.#warn(message);
    return hub;
  }

  /** What works, but is probably not meant. */
  get warnings(): string[] {
    return [...this.configuration.warnings, ...this.#ownWarnings, ...this.catalog.warnings, ...this.#dropped.warnings];
  }

  /** It was told to stop. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** What is exposed right now, the last change included. */
  get catalog(): Catalog {
    if (this.#rebuild !== undefined) this.#replaceCatalog();
    return this.#catalog;
  }

  /** Logs what nobody foresaw; gives it as it is logged, without secrets. */
  reportUnexpected(thrown: unknown, requestId?: string): string {
    const error = this.#redactor.redactText(inspect(thrown));
    this.events.emit("unexpected", { requestId, error });
    return error;
  }

  /**
   * Serves every group and the management API over HTTP. Comes before start(), so that a port in use ends the hub with no
   * process started.
   */
  async listen({ host, port, edges = [] }: ListenOptions): Promise<string> {
    const { calls, supervisor } = this;
    const token = await ManagementToken.open(this.#paths.data);
    // Whoever has it may still hand it to a tool by mistake.
    this.#redactor.setSecrets(ManagementToken, [(await readManagementToken(this.#paths.data)) ?? ""]);
    const managed = {
      hub: this,
      paths: this.#paths,
      callLog: this.callLog,
    };
    const mcp = new McpHttp({
      catalog: () => this.#catalog,
      calls,
      supervisor,
      ...this.#ofAllGroups,
      sessionRecords: (group) => this.#sessions?.endpoint(group),
    });
    const api = createApi({
      ...managed,
      token,
      onUnexpected: (error, requestId) => void this.reportUnexpected(error, requestId),
    });
    const admin = createAdminEndpoint(managed, token);
    const metrics = createMetrics({
      supervisor,
      calls,
      latency: this.latency,
      callLog: this.callLog,
      secrets: this.secrets,
      sessions: () => mcp.sessions(),
      eventClients: () => api.eventClients(),
      droppedConnections: () => this.#dropped.total,
      token,
    });
    // What is asked most comes first; `@admin` before the groups, of which it is none.
    const own: Edge[] = [admin, (request, response) => mcp.handle(request, response), api, metrics];
    const upgrades: UpgradeEdge[] = [(request, socket, parts) => mcp.upgrade(request, socket, parts)];
    const quick: QuickEdge = (request, response) => mcp.post(request, response);
    // Whoever connects while the servers still start sees what they offered last.
    await supervisor.expectAll();
    this.#replaceCatalog();
    this.#listener = await Listener.open({
      host,
      port,
      edges: [...own, ...edges],
      quick,
      upgrades,
      onDrop: (limit) => this.#dropped.count(limit),
    });
    if (this.#memories.listings !== undefined) this.#sessions = this.#openSessions(this.#listener.url);
    this.#endParked = () => mcp.endParked();
    this.#endClients = () => [mcp, api, admin].forEach((edge) => edge.close());
    this.events.on("catalog.changed", () => mcp.catalogChanged());
    this.events.on("server.task", ({ server, news }) => mcp.taskNews(server, news));
    return this.#listener.url;
  }

  /** One group as an MCP server, for a transport of the caller's. Lists wait for `settled`. */
  endpoint(group: string | undefined, settled: Promise<void>): Endpoint {
    const { calls, supervisor } = this;
    const given = { calls, supervisor, settled, ...this.#ofAllGroups };
    const endpoint = new Endpoint({ group: () => this.catalog.group(group), ...given });
    this.events.on("catalog.changed", () => endpoint.catalogChanged());
    this.events.on("server.task", ({ server, news }) => endpoint.taskNews(server, news));
    return endpoint;
  }

  /** Starts every enabled server; resolves when each is up or has failed. */
  start(): Promise<void> {
    this.configuration.run();
    this.callLog.recover();
    const settled = this.supervisor.startAll();
    // What it cannot remove now, the next start finds.
    this.#tidying = this.#memories.packages?.tidy(this.configuration.current.servers).catch(() => undefined);
    return settled;
  }

  /**
   * Takes no more requests, lets those under way come to their end for `drainMs`, ends clients, then servers. Nothing of the
   * hub is left when this resolves.
   */
  stop({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    return (this.#stopping ??= this.#stop(drainMs));
  }

  async #stop(drainMs: number): Promise<void> {
    if (drainMs > 0) await this.#drain(drainMs);
    this.#endClients();
    await Promise.all([
      this.#listener?.close(),
      this.supervisor.shutdownAll(),
      this.configuration.close(),
      this.#memories.packages?.end(),
    ]);
    this.#sessions?.close();
    this.#dropped.close();
    clearTimeout(this.#rebuild);
    this.#guard.close();
    const { eras, listings, packages, taskIds, times } = this.#memories;
    const files = [eras.saved(), listings?.saved(), taskIds.saved(), times.saved(), packages?.release()];
    await Promise.all([...files, this.#tidying, this.callLog.close()]);
    // Last: a request's span ends when it is recorded.
    await this.#tracing?.close();
  }

  async #drain(drainMs: number): Promise<void> {
    this.#listener?.drain();
    // Their clients could not come back.
    this.#endParked();
    const impatient = new AbortController();
    const limit = sleep(drainMs, undefined, { signal: impatient.signal }).catch(() => undefined); // idle in time
    await Promise.race([this.calls.idle(), limit]);
    impatient.abort();
    // Whoever got the last answers sends them now.
    await nextTurn();
  }

  /** By its address: that is where clients come back to, and only one process can have it. */
  #openSessions(url: string): SessionFile {
    const { hostname, port } = new URL(url);
    const path = join(this.#paths.data, "sessions", `${hostname.replaceAll(/[^\w.]/g, "_")}-${port}.ndjson`);
    const onWarning = (message: string) => this.#warn(message);
    return new SessionFile({ path, maxAgeMs: IDLE_MS + RECORD_MS, onWarning });
  }

  /** Told now, and shown in the status from now on. */
  #warn(message: string): void {
    if (!this.#ownWarnings.includes(message) && this.#ownWarnings.length < MAX_WARNINGS)
      this.#ownWarnings.push(message);
    this.events.emit("warning", { message });
  }

  #openCallLog({ data }: HubPaths): CallLog {
    const onWarning = (message: string) => this.#warn(message);
    return new SqliteCallLog(join(data, "calls.db"), { redactor: this.#redactor, onWarning });
  }

  /** Changes that come together are one new catalog, and building it never takes more than a fifth of the time. */
  #scheduleRebuild(): void {
    this.#rebuild ??= setTimeout(() => this.#replaceCatalog(), 4 * this.#buildMs);
  }

  #replaceCatalog(): void {
    clearTimeout(this.#rebuild);
    this.#rebuild = undefined;
    const startedAt = performance.now();
    const previous = this.#catalog;
    this.#catalog = Catalog.build(this.configuration.current, this.supervisor.listings());
    this.#buildMs = performance.now() - startedAt;
    for (const message of this.#catalog.warnings) {
      if (!previous.warnings.includes(message)) this.events.emit("warning", { message });
    }
    this.#ofAllGroups.logLevels.catalogChanged();
    this.events.emit("catalog.changed", { catalog: this.#catalog, previous });
  }
}

function openPackages({ paths, variables }: HubOptions): Promise<Packages> {
  // Whatever else it says is said as a warning.
  const mode = variables[NPM_VARIABLE] === "npx" ? "npx" : "managed";
  return Packages.open({ folder: join(paths.data, "packages"), owner: paths.config, mode });
}

function npmWarnings(variables: HubOptions["variables"]): string[] {
  const said = variables[NPM_VARIABLE] ?? "";
  return ["", "managed", "npx"].includes(said) ? [] : [`${NPM_VARIABLE} is "${said}", and can be "managed" or "npx"`];
}

function floodWarning(server: string, { messagesPerSecond }: Resilience): string {
  const limit = `resilience.messages_per_second ${messagesPerSecond}`;
  return `Server "${server}" sends more messages than it may (${limit}): it is read more slowly`;
}
