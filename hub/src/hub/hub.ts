// The composition root: builds the hub from its parts, starts and stops it. Only this folder knows the adapters.

import { randomUUID } from "node:crypto";
import type { LookupFunction } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { ServerApprovals } from "../approval/server-approvals.ts";
import type { AccessTokens } from "../auth/access-tokens.ts";
import type { AuditLog } from "../auth/audit.ts";
import type { Issuer } from "../auth/issuer/issuer.ts";
import type { SsoSignIns } from "../auth/sso/sign-ins.ts";
import type { Users } from "../auth/users.ts";
import { Calls } from "../calls/calls.ts";
import { Latency } from "../calls/latency.ts";
import type { CallLog } from "../call-log/port.ts";
import { Redactor } from "../redaction/redactor.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Exposure } from "../catalog/group.ts";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { ClusterDatabase } from "../database/open.ts";
import { HubError } from "../errors.ts";
import type { HubPaths } from "../config/files/paths.ts";
import type { ConfigStore, LoadedConfig } from "../config/files/config-store.ts";
import { LiveCatalog } from "../live/catalog.ts";
import { LiveConfig } from "../live/config.ts";
import { LiveHistory } from "../live/history.ts";
import { LiveSessions } from "../live/sessions.ts";
import { DroppedConnections } from "../http/dropped-connections.ts";
import { HubEvents } from "../events.ts";
import { createEdges, type HubEdges } from "./edges.ts";
import { HubLoginPages } from "./login-pages.ts";
import { createApprovals } from "./approvals.ts";
import type { HubCluster } from "./cluster.ts";
import { openAuthenticator, openIdentity, type Identity } from "./access.ts";
import { createServerApprovals } from "./server-approvals.ts";
import { createIssuer } from "./issuer.ts";
import { watchSecrets } from "./secret-changes.ts";
import { createSupervisor } from "./servers.ts";
import {
  npmWarnings,
  openHubState,
  openSessionFile,
  saveHubState,
  toRetention,
  uiSessionsPath,
  type HubState,
} from "./state.ts";
import { toGrantLimits } from "../auth/grant-limits.ts";
import { RequestRates, toRates } from "../auth/request-rates.ts";
import type { Edge } from "../http/listener.ts";
import { HubListeners, openNetwork } from "./listeners.ts";
import { redirectToUi } from "../http/pages/home-page.ts";
import { uiEdge } from "../http/ui-files.ts";
import { Endpoint } from "../mcp/endpoint.ts";
import { LoginOffers } from "../mcp/client-requests/login-offers.ts";
import { LogLevels } from "../mcp/log-levels.ts";
import type { TaskIds } from "../mcp/tasks/task-ids.ts";
import type { NetworkFlags } from "../network/network.ts";
import { openMirror } from "./registry-mirror.ts";
import { Registries } from "../registry/registries.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { LoginStore } from "../secrets/login-store.ts";
import { findLister } from "./personal.ts";
import { openStorage, readSettings, type ReadSettings, type Storage } from "./storage.ts";
import type { PersonalSecrets } from "../secrets/personal.ts";
import { createLogins } from "./logins.ts";
import { ownerOf, type Logins } from "../servers/login/logins.ts";
import { Watchdog } from "../servers/process/watchdog.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { SessionFile } from "../mcp/session-file.ts";
import { loadTracing, type LoadedTracing } from "../telemetry/open.ts";
import type { Tracing } from "../telemetry/tracing.ts";

export interface HubOptions {
  readonly paths: HubPaths;
  /** The hub's own environment: fills `${NAME}`, and a small part of it goes to the servers. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user, where other programs have their files. Default: that of the process. */
  readonly home?: string;
  /** Replaces the files of the config folder. */
  readonly store?: ConfigStore;
  /** Replaces the encrypted files of the data folder. */
  readonly secrets?: SecretStore;
  /** Replaces the encrypted files of the data folder. Default if `secrets` is given: in memory. */
  readonly logins?: LoginStore;
  /** Replaces the database of the data folder. */
  readonly callLog?: (redactor: Redactor) => CallLog;
  /** Replaces the system's DNS lookup for remote servers. */
  readonly lookup?: LookupFunction;
  /** Run the built-in demo server while there is no config. Default: true. */
  readonly offersDemo?: boolean;
  /** Called while the hub waits for its database. Undefined: it does not wait. */
  readonly onWaiting?: ((problem: string) => void) | undefined;
  /** Replaces how the documents of OAuth clients are fetched. */
  readonly fetchDocument?: ((url: string) => Promise<Response>) | undefined;
}

/** Dependencies of the constructor that are loaded asynchronously. */
interface Loaded {
  readonly storage: Storage;
  readonly config: LoadedConfig;
  readonly state: HubState;
  readonly tracing: LoadedTracing;
  readonly settings: ReadSettings;
}

/** Host and port default to `listen` of hub.json. */
export interface ListenOptions extends NetworkFlags {
  /** The folder of the web interface. Undefined: none is served. */
  readonly ui?: string | undefined;
  /** Extra edges for those who manage the hub, tried after the hub's own. */
  readonly edges?: readonly Edge[];
  /** False: Node's HTTP server reads all requests. See http/fast-path/README.md. */
  readonly fastPath?: boolean | undefined;
}

/** Warnings kept for the status. All warnings are logged. */
const MAX_WARNINGS = 100;

export class Hub {
  readonly events = new HubEvents();
  readonly supervisor: Supervisor;
  readonly calls: Calls;
  readonly configuration: LiveConfig;
  readonly callLog: CallLog;
  readonly latency = new Latency();
  /** What may run, and which tools are as they were approved. */
  readonly serverApprovals: ServerApprovals;
  readonly secrets: SecretStore;
  readonly personalSecrets: PersonalSecrets;
  readonly logins: Logins;
  /** Where servers are found. */
  readonly registries: Registries;
  readonly users: Users;
  readonly accessTokens: AccessTokens;
  readonly audit: AuditLog;
  /** The embedded authorization server, if it is switched on. */
  readonly issuer: Issuer | undefined;
  readonly rates: RequestRates;
  readonly sessions = new LiveSessions(this.events);
  readonly history: LiveHistory;
  /** Where traces are sent. */
  readonly tracesUrl: string | undefined;
  readonly #options: HubOptions;
  readonly #state: HubState;
  readonly #storage: Storage;
  readonly #instance = randomUUID();
  readonly #watchdog: Watchdog;
  readonly #identity: Identity;
  readonly #redactor = new Redactor();
  readonly #tracing: Tracing | undefined;
  readonly #dropped = new DroppedConnections((message) => void this.events.emit("warning", { message }));
  readonly #ownWarnings: string[];
  /** Shared by the endpoints of all groups. */
  readonly #shared: {
    readonly taskIds: TaskIds;
    readonly logLevels: LogLevels;
    readonly loginOffers: LoginOffers;
    readonly sessions: LiveSessions;
  };
  readonly #catalog: LiveCatalog;
  #edges: HubEdges | undefined;
  #loginPages: HubLoginPages | undefined;
  readonly #settings: ReadSettings;
  #listeners: HubListeners | undefined;
  /** Records of legacy sessions, for the next process. */
  #sessions: SessionFile | undefined;
  #stopWatchingSecrets: (() => void) | undefined;
  /** The other hubs that share its database. */
  #cluster: HubCluster | undefined;
  #stopping: Promise<void> | undefined;
  #pruning: Promise<void> | undefined;

  private constructor(options: HubOptions, { storage, config, state, tracing, settings: read }: Loaded) {
    const { variables, paths, lookup } = options;
    const { events } = this;
    const redactor = this.#redactor;
    this.#options = options;
    this.#state = state;
    this.#settings = read;
    const { entry: settings } = read;
    this.#ownWarnings = [...tracing.warnings, ...npmWarnings(variables)];
    this.#watchdog = new Watchdog({ instance: this.#instance });
    this.#storage = storage;
    this.secrets = storage.secrets;
    this.personalSecrets = storage.personalSecrets;
    this.logins = createLogins({
      store: storage.logins,
      secrets: this.secrets,
      personalSecrets: this.personalSecrets,
      variables,
      configFolder: options.store === undefined ? paths.config : undefined,
      redactor,
      lookup,
      events,
      supervisor: () => this.supervisor,
    });
    this.registries = new Registries({
      entries: settings.registries,
      folder: options.store === undefined ? join(paths.cache, "registries") : undefined,
      secret: (name) => this.secrets.get(name),
      lookup,
      path: variables["PATH"],
    });
    this.serverApprovals = createServerApprovals({
      store: storage.approvals,
      events,
      redact: (text) => redactor.redactText(text),
      supervisor: () => this.supervisor,
      onChange: () => this.#catalog.scheduleRebuild(),
      onWarning: (message) => this.#warn(message),
    });
    this.supervisor = createSupervisor({
      approvals: this.serverApprovals,
      variables,
      configFolder: options.store === undefined ? paths.config : undefined,
      secrets: this.secrets,
      personalSecrets: this.personalSecrets,
      listerOf: (server) => findLister(server, this),
      watchdog: this.#watchdog,
      instance: this.#instance,
      redactor,
      lookup,
      authorizationFor: (server, url, given) => this.logins.authorizationFor(server, url, given),
      state,
      events,
      onOffer: () => this.#catalog.scheduleRebuild(),
    });
    const logLevels = new LogLevels(this.supervisor);
    const loginOffers = new LoginOffers({
      ownerOf: (server, principal) =>
        this.supervisor.has(server) ? ownerOf(this.supervisor.get(server).config, principal) : principal,
    });
    this.#shared = { taskIds: state.taskIds, logLevels, loginOffers, sessions: this.sessions };
    const onWarning = (message: string) => this.#warn(message);
    this.#identity = openIdentity(storage.identity, settings, onWarning);
    ({ users: this.users, accessTokens: this.accessTokens, audit: this.audit } = this.#identity);
    this.rates = new RequestRates(toRates(settings.auth?.limits));
    this.issuer = createIssuer({
      settings,
      rates: this.rates,
      identity: this.#identity,
      base: () => this.publicUrl ?? "",
      catalog: () => this.catalog,
      lookup,
      fetchDocument: options.fetchDocument,
      onUnexpected: (error, requestId) => void this.reportUnexpected(error, requestId),
    });
    this.history = new LiveHistory({
      events,
      path: options.store === undefined ? join(paths.state, "server-history.json") : undefined,
      pidOf: (server) => (this.supervisor.has(server) ? this.supervisor.get(server).pid : undefined),
      onWarning,
    });
    this.callLog = storage.openCallLog({ redactor, retention: toRetention(config.config.callLog), onWarning });
    if (storage.database?.address.password !== undefined)
      redactor.setSecrets(storage.database, [storage.database.address.password]);
    this.tracesUrl = tracing.url;
    this.#tracing = tracing.create?.({
      instance: this.#instance,
      redact: (text) => redactor.redactText(text),
      onWarning: (message) => void events.emit("warning", { message }),
    });
    this.calls = new Calls({
      supervisor: this.supervisor,
      events,
      log: this.callLog,
      latency: this.latency,
      tracing: this.#tracing,
      approvals: createApprovals({
        events,
        audit: this.audit,
        redact: (json) => redactor.redact(json),
        isReachable: () => this.url !== undefined,
      }),
      redact: (text) => redactor.redactText(text),
      limits: () => this.configuration.current.limits,
    });
    this.configuration = new LiveConfig({
      store: storage.config,
      folder: paths.config,
      supervisor: this.supervisor,
      events,
      variables,
      secrets: this.secrets,
      times: state.times,
      completions: state.completions,
      offersDemo: options.offersDemo ?? true,
      onChange: (changes) => {
        // At once: a server of the same name may follow.
        for (const server of changes.removed) this.serverApprovals.removed(server);
        this.#catalog.rebuild();
        if (changes.callLog) this.callLog.retain(toRetention(this.configuration.current.callLog));
      },
      onRemoved: (server) => {
        this.calls.forget(server);
        logLevels.forget(server);
        this.logins.removed(server);
      },
    });
    state.completions.connect({
      registries: this.registries,
      onChange: () => void this.configuration.reload().catch(() => undefined), // reported by event
    });
    this.configuration.open(config);
    const { supervisor } = this;
    this.#catalog = new LiveCatalog({
      config: () => this.configuration.current,
      supervisor,
      events,
      defaultAccess: settings.auth?.default_access === "none" ? [] : undefined,
    });
    events.on("catalog.changed", () => logLevels.catalogChanged());
    events.on("login", ({ server, principal, what }) => loginOffers.onLogin(server, principal, what));
  }

  /** Loads the config and builds the hub. Nothing runs yet. */
  static async open(options: HubOptions): Promise<Hub> {
    const { paths } = options;
    const settings = options.store === undefined ? await readSettings(paths.config) : { entry: {} };
    const storage = await openStorage(options, settings);
    try {
      return await Hub.#build(options, settings, storage);
    } catch (error) {
      await storage.database?.close();
      throw error;
    }
  }

  static async #build(options: HubOptions, settings: ReadSettings, storage: Storage): Promise<Hub> {
    const { paths, variables } = options;
    const [config, tracing] = await Promise.all([storage.config.load(), loadTracing(variables)]);
    const early: string[] = [];
    let warn: (message: string) => void = (message) => early.push(message);
    const onWarning = (message: string) => warn(message);
    const isInMemory = options.store !== undefined;
    const state = await openHubState({ paths, variables, isInMemory, database: storage.database, onWarning });
    const hub = new Hub(options, { storage, config, state, tracing, settings });
    await Promise.all([hub.history.load(), hub.serverApprovals.load()]);
    await hub.serverApprovals.adopt(
      hub.configuration.current.servers,
      async (server) => (await state.listings?.find(server)) !== undefined,
    );
    for (const message of early) hub.#warn(message);
    warn = (message) => hub.#warn(message);
    return hub;
  }

  /** Warnings about settings that work but are probably mistakes. */
  get warnings(): string[] {
    const network = this.#listeners?.warnings ?? [];
    const { configuration, catalog } = this;
    return [
      ...configuration.warnings,
      ...this.#ownWarnings,
      ...catalog.warnings,
      ...this.#dropped.warnings,
      ...network,
    ];
  }

  /** Its listeners; undefined if it does not listen. */
  get listeners(): Pick<HubListeners, "problems" | "certificateExpiresInMs" | "kept"> | undefined {
    return this.#listeners;
  }

  /** Its address for programs of this machine; undefined if it does not listen. */
  get url(): string | undefined {
    return this.#listeners?.url;
  }

  /** The address under which clients reach it, without a slash at the end; undefined if it does not listen. */
  get publicUrl(): string | undefined {
    return this.#listeners?.publicUrl;
  }

  /** The content of hub.json. Throws what is wrong with the file: a hub must not listen with other rules than those meant. */
  get settings(): HubSettingsEntry {
    const { entry, error } = this.#settings;
    if (error !== undefined) throw error;
    return entry;
  }

  /** The database that this hub shares with others; undefined if it keeps everything on this machine. */
  get databaseName(): string | undefined {
    const { database } = this.#storage;
    return database === undefined ? undefined : `the database ${database.name}`;
  }

  /** Why the database of the replicas cannot be used at the moment. Calls continue with what is in memory. */
  get databaseProblem(): string | undefined {
    return this.#storage.database?.problem();
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** The current catalog, including the last change. */
  get catalog(): Catalog {
    return this.#catalog.current;
  }

  /** Logs an unexpected error. Returns its text without secrets, as it is logged. */
  reportUnexpected(thrown: unknown, requestId?: string): string {
    const error = this.#redactor.redactText(inspect(thrown));
    this.events.emit("unexpected", { requestId, error });
    return error;
  }

  /**
   * Serves every group and the management API over HTTP. Call it before start(), so that a port in use ends the hub before any
   * process is started.
   */
  async listen({ ui, edges = [], fastPath, ...flags }: ListenOptions): Promise<string> {
    const { paths, variables, home = homedir() } = this.#options;
    const places = { folder: paths.config, data: paths.data, variables };
    const network = await openNetwork({ settings: this.settings, flags, ...places });
    const authenticator = await openAuthenticator({
      data: paths.data,
      settings: this.settings,
      identity: this.#identity,
      rates: this.rates,
      secrets: this.secrets,
      variables,
      lookup: this.#options.lookup,
      redactor: this.#redactor,
      onWarning: (message) => this.#warn(message),
    });
    const sso = await this.#openSso();
    const database = this.#storage.database;
    const cluster = database && (await this.#joinCluster(database));
    this.#cluster = cluster;
    const own = createEdges({
      hub: this,
      paths,
      user: { env: variables, platform: process.platform, home },
      authenticator,
      callLog: this.callLog,
      latency: this.latency,
      limits: toGrantLimits(this.settings.auth?.limits),
      dropped: this.#dropped,
      registryMirror: await openMirror(this.settings, { folder: paths.config, onWarning: (text) => this.#warn(text) }),
      catalog: () => this.#catalog.built,
      address: () => ({
        // Without an identity provider only the owner signs in.
        url: (network.isAdminLocal && sso === undefined ? this.url : this.publicUrl) ?? "",
        isPublic: network.publicUrl !== undefined,
        adminUrl: network.isAdminLocal ? this.url : undefined,
      }),
      mcp: {
        ...this.#shared,
        sessionRecords: (group) => cluster?.sessions.records(group) ?? this.#sessions?.endpoint(group),
        routing: cluster?.sessions,
      },
      ui:
        ui === undefined
          ? undefined
          : {
              users: this.users,
              sso,
              publicUrl: network.publicUrl,
              sessionsPath: () => this.#uiSessionsPath(),
              onWarning: (message) => this.#warn(message),
            },
      onUnexpected: (error, requestId) => void this.reportUnexpected(error, requestId),
    });
    // Clients that connect while the servers still start get the servers' last listings.
    await this.supervisor.offerCached();
    this.#catalog.rebuild();
    const files = ui === undefined ? [] : [uiEdge(ui)];
    const listeners = await HubListeners.open({
      network,
      clientEdges: own.clientEdges,
      adminEdges: [...own.adminEdges, ...files, ...edges],
      accountEdges: own.accountEdge === undefined ? [] : [own.accountEdge, ...files, redirectToUi],
      fastPath,
      onDrop: (limit) => this.#dropped.count(limit),
      onWarning: (message) => this.#warn(message),
    });
    this.#listeners = listeners;
    this.#edges = own;
    if (this.#state.listings !== undefined && cluster === undefined)
      this.#sessions = openSessionFile(paths, listeners.url, (message) => this.#warn(message));
    for (const endpoints of own.mcp) this.#subscribe(endpoints);
    authenticator.addresses.base = listeners.publicUrl;
    this.logins.baseUrl = { url: listeners.url, publicUrl: network.publicUrl };
    own.loginPages.listening(listeners.url);
    this.#loginPages = own.loginPages;
    // It is shown, and nothing depends on it.
    await database?.replicas.describe(database.replica, this.publicUrl ?? listeners.url).catch(() => undefined);
    return listeners.url;
  }

  /** A key that signs one browser in to the web interface; undefined if none is served. */
  async makeUiKey(): Promise<string | undefined> {
    return this.#edges?.makeUiKey();
  }

  /** Serves only the pages of logins, for a command that logs in while no hub is running. */
  async listenForLogins(address: { readonly host: string; readonly port: number }): Promise<void> {
    const { logins, supervisor, events } = this;
    const onUnexpected = (error: unknown, requestId: string) => void this.reportUnexpected(error, requestId);
    this.#loginPages = new HubLoginPages({ logins, supervisor, events, onUnexpected });
    this.logins.baseUrl = { url: await this.#loginPages.serve(address) };
  }

  /** One group as an MCP server, for a transport of the caller's. Lists wait for `settled`. */
  endpoint(
    name: string | undefined,
    { settled, exposure }: { readonly settled: Promise<void>; readonly exposure?: Exposure | undefined },
  ): Endpoint {
    const { calls, supervisor } = this;
    const shared = { calls, supervisor, settled, ...this.#shared };
    const find = () => this.catalog.group(name);
    const group = exposure === undefined ? find : () => find().exposing(exposure);
    const endpoint = new Endpoint({ group, ...shared });
    this.#subscribe(endpoint);
    return endpoint;
  }

  /** From now on, changes of the config files and of approvals by other processes take effect. */
  async watch(): Promise<void> {
    await Promise.all([this.configuration.watch(), this.serverApprovals.watch()]);
  }

  /** Starts every enabled server; resolves when each is up or has failed. */
  start(): Promise<void> {
    this.configuration.run();
    this.callLog.recover();
    this.logins.run();
    this.#state.completions.run();
    this.#stopWatchingSecrets = watchSecrets(this.secrets, this.supervisor);
    const settled = this.supervisor.startAll();
    // The next start removes what cannot be removed now.
    this.#pruning = this.#state.packages?.prune(this.configuration.current.servers).catch(() => undefined);
    return settled;
  }

  /**
   * Accepts no more requests, waits up to `drainMs` for open ones, then ends clients and servers. When it resolves, no process,
   * socket or timer of the hub is left.
   */
  stop({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    return (this.#stopping ??= this.#stop(drainMs));
  }

  async #stop(drainMs: number): Promise<void> {
    this.calls.approvals.close();
    this.calls.results.close();
    if (drainMs > 0) await this.#drain(drainMs);
    const left = this.#cluster?.close();
    this.#edges?.close();
    this.#shared.loginOffers.close();
    this.logins.close();
    this.#stopWatchingSecrets?.();
    await Promise.all([
      left,
      this.#listeners?.close(),
      this.#loginPages?.close(),
      this.supervisor.shutdownAll(),
      this.#state.completions.close().then(() => this.configuration.close()),
      this.#state.packages?.end(),
    ]);
    this.#sessions?.close();
    this.#dropped.close();
    this.#catalog.close();
    this.#watchdog.close();
    await Promise.all([
      saveHubState(this.#state),
      this.history.close(),
      this.serverApprovals.close(),
      this.#edges?.saved(),
      this.#identity.close(),
      this.#pruning,
      this.callLog.close(),
    ]);
    const { database } = this.#storage;
    if (this.#listeners !== undefined) await database?.replicas.leave(database.replica).catch(() => undefined); // away
    await database?.close();
    // Last: the span of a request ends when the call is recorded.
    await this.#tracing?.close();
  }

  async #drain(drainMs: number): Promise<void> {
    this.#listeners?.drain();
    // Their clients could no longer connect to send the input.
    for (const endpoints of this.#edges?.mcp ?? []) endpoints.cancelSuspendedCalls();
    const timeout = new AbortController();
    const limit = sleep(drainMs, undefined, { signal: timeout.signal }).catch(() => undefined); // idle in time
    await Promise.race([this.calls.idle(), limit]);
    timeout.abort();
    // Lets the edges send the last replies.
    await nextTurn();
  }

  #subscribe(endpoints: Pick<Endpoint, "catalogChanged" | "onTaskNotification">): void {
    this.events.on("catalog.changed", () => endpoints.catalogChanged());
    this.events.on("server.task", ({ server, notification }) => endpoints.onTaskNotification(server, notification));
  }

  /** Loaded only where identity providers are configured. */
  async #openSso(): Promise<SsoSignIns | undefined> {
    const { sso: providers = [] } = this.settings.auth ?? {};
    if (providers.length === 0) return undefined;
    const { openSso } = await import("./sso.ts");
    const { users, audit, rates, secrets } = this;
    return openSso({ providers, users, audit, rates, secrets, redactor: this.#redactor });
  }

  /** Loaded only where a database is configured. */
  async #joinCluster(database: ClusterDatabase): Promise<HubCluster> {
    const { HubCluster: Loaded } = await import("./cluster.ts");
    const endpoints = () => {
      const [groups, api] = this.#edges?.mcp ?? [];
      if (groups === undefined || api === undefined) throw new HubError("HubUnavailable", "The hub is starting");
      return { groups, api };
    };
    return Loaded.join({ database, settings: this.settings, folder: this.#options.paths.config, mcp: endpoints });
  }

  /** Undefined if the hub keeps nothing on disk. */
  #uiSessionsPath(): string | undefined {
    if (this.#listeners === undefined || this.#state.listings === undefined) return undefined;
    return uiSessionsPath(this.#options.paths, this.#listeners.url);
  }

  /** Emits a warning and shows it in the status from now on. */
  #warn(message: string): void {
    if (!this.#ownWarnings.includes(message) && this.#ownWarnings.length < MAX_WARNINGS)
      this.#ownWarnings.push(message);
    this.events.emit("warning", { message });
  }
}
