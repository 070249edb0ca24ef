// A group as an MCP server, for any transport: answers lists from the catalog and forwards the rest to the server that owns it.
// The method tables say which method does what.

import type { Calls } from "../calls/calls.ts";
import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { adaptReply } from "../protocol/revisions/era.ts";
import { success } from "../protocol/rpc/jsonrpc.ts";
import type { NotificationMessage, Raw, Reply } from "../protocol/rpc/jsonrpc.ts";
import { isLogLevel } from "../protocol/rpc/log-level.ts";
import type { IncomingRequest, RevivedSession, Service, Session, SessionOrigin } from "../protocol/serve/service.ts";
import { LoginOffers } from "./client-requests/login-offers.ts";
import { toReply } from "./errors.ts";
import { forwardExtension } from "./extension-methods.ts";
import { Forwarder, stringParam, versionOf, type CallObserver } from "./forwarder.ts";
import { discoverResult, initializeResult } from "./initialize.ts";
import { findGroup, ListChangedNotifier } from "./lists/list-changed.ts";
import { ToolLists } from "./lists/tool-lists.ts";
import { LogLevels } from "./log-levels.ts";
import { lastingCallerOf } from "./principal.ts";
import { answerMetaCall, metaCallOf } from "./search/meta-calls.ts";
import { ResourceSubscriptions, wantedUris } from "./resources/resource-subscriptions.ts";
import type { TaskIds } from "./tasks/task-ids.ts";
import { TaskRequests } from "./tasks/task-requests.ts";
import { Tasks } from "./tasks/tasks.ts";

export interface EndpointOptions {
  /** The current group: called on every request, so that a new catalog takes effect at once. */
  readonly group: () => Group;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
  readonly taskIds?: TaskIds;
  /** Shared by all groups. */
  readonly logLevels?: LogLevels;
  /** Shared by all groups. */
  readonly loginOffers?: LoginOffers;
  /** Lists wait for this. For clients that launch the hub and never list again after the first list. */
  readonly settled?: Promise<void>;
  /** Shared by all groups. */
  readonly sessions?: SessionObserver | undefined;
  /** How long a modern client may take to send the input that a server asked for. */
  readonly inputTimeoutMs?: number;
}

/** Keeps a list of the clients that are connected. */
export interface SessionObserver extends CallObserver {
  opened(opened: {
    readonly session: Session;
    readonly origin: SessionOrigin;
    readonly group: string;
    subscriptions(): number;
  }): void;
  closed(session: Session): void;
}

type Handler = (incoming: IncomingRequest, group: Group) => Promise<Reply> | Reply;

export class Endpoint implements Service {
  readonly #options: EndpointOptions;
  readonly #forwarder: Forwarder;
  readonly #listChanged: ListChangedNotifier;
  readonly #subscriptions: ResourceSubscriptions;
  readonly #logLevels: LogLevels;
  readonly #loginOffers: LoginOffers;
  readonly #tasks: Tasks;
  readonly #taskRequests: TaskRequests;
  readonly #toolLists = new ToolLists();
  /** List results by their entries, which are serialized once for each snapshot. */
  readonly #listResults = new WeakMap<Buffer, Raw>();

  constructor(options: EndpointOptions) {
    const { calls, supervisor, inputTimeoutMs } = options;
    this.#options = options;
    this.#listChanged = new ListChangedNotifier(options.group);
    this.#logLevels = options.logLevels ?? new LogLevels(supervisor);
    this.#loginOffers = options.loginOffers ?? new LoginOffers();
    this.#tasks = new Tasks(options.taskIds);
    this.#forwarder = new Forwarder({
      calls,
      supervisor,
      tasks: this.#tasks,
      logLevels: this.#logLevels,
      loginOffers: this.#loginOffers,
      sessions: options.sessions,
      inputTimeoutMs,
    });
    this.#subscriptions = new ResourceSubscriptions(supervisor);
    this.#taskRequests = new TaskRequests({ calls, supervisor, tasks: this.#tasks });
  }

  readonly #legacy: Readonly<Record<string, Handler>> = {
    initialize: ({ session }, group) =>
      success(initializeResult(session?.version ?? "", group, this.#options.supervisor)),
    ping: () => success({}),
    "logging/setLevel": (incoming) => this.#setLevel(incoming),
    "resources/subscribe": (incoming, group) =>
      this.#subscriptions.subscribe(sessionOf(incoming), stringParam(incoming, "uri"), {
        group,
        caller: lastingCallerOf(incoming),
      }),
    "resources/unsubscribe": (incoming) =>
      this.#subscriptions.unsubscribe(sessionOf(incoming), stringParam(incoming, "uri")),
    "tasks/get": (incoming, group) => this.#forwardTask(incoming, group),
    "tasks/result": (incoming, group) => this.#forwardTask(incoming, group),
    "tasks/cancel": (incoming, group) => this.#forwardTask(incoming, group),
    "tasks/list": (incoming, group) =>
      this.#taskRequests.list(incoming, group, (server) => this.#forwarder.requestFor(incoming, group, server)),
  };

  readonly #modern: Readonly<Record<string, Handler>> = {
    "server/discover": (_, group) => success(discoverResult(group, this.#options.supervisor)),
    "subscriptions/listen": (incoming, group) => this.#listen(incoming, group),
    "tasks/get": (incoming, group) => this.#forwardTask(incoming, group),
    "tasks/update": (incoming, group) => this.#forwardTask(incoming, group),
    "tasks/cancel": (incoming, group) => this.#forwardTask(incoming, group),
  };

  readonly #both: Readonly<Record<string, Handler>> = {
    "tools/list": (incoming, group) =>
      this.#list(incoming, group, "tools", this.#toolLists.json(group, versionOf(incoming))),
    "prompts/list": (incoming, group) => this.#list(incoming, group, "prompts", group.promptsJson),
    "resources/list": (incoming, group) => this.#list(incoming, group, "resources", group.resourcesJson),
    "resources/templates/list": (incoming, group) =>
      this.#list(incoming, group, "resourceTemplates", group.templatesJson),
    "tools/call": (incoming, group) => {
      const meta = metaCallOf(incoming, group);
      if (meta !== undefined) return answerMetaCall(meta, incoming, group, this.#forwarder);
      return this.#forwarder.callTool(incoming, group);
    },
    "prompts/get": (incoming, group) => this.#forwarder.getPrompt(incoming, group),
    "resources/read": (incoming, group) => this.#forwarder.readResource(incoming, group),
    "completion/complete": (incoming, group) => this.#forwarder.complete(incoming, group),
  };

  /** A method that is not part of the protocol: an extension's, or unknown. */
  readonly #other: Handler = (incoming, group) =>
    forwardExtension(incoming, group, this.#options.supervisor, (server, replace) =>
      this.#options.calls.forward(server, { ...this.#forwarder.requestFor(incoming, group, server), replace }),
    );

  async handle(incoming: IncomingRequest): Promise<Reply> {
    const limit = incoming.requester?.limit;
    // A subscription is open as long as its client.
    if (limit === undefined || incoming.request.method === "subscriptions/listen") return this.#handle(incoming);
    try {
      if (incoming.transport !== "http") limit.take();
      limit.enter();
    } catch (error) {
      // Not the result of a tool: the request was not looked at.
      return adaptReply(toReply(error, "", incoming.era), incoming.request.method, incoming.era);
    }
    try {
      return await this.#handle(incoming);
    } finally {
      limit.leave();
    }
  }

  async #handle(incoming: IncomingRequest): Promise<Reply> {
    const { request, era } = incoming;
    const table = era === "modern" ? this.#modern : this.#legacy;
    const handler = findHandler(table, request.method) ?? findHandler(this.#both, request.method) ?? this.#other;
    try {
      if (this.#options.settled !== undefined && this.#needsServers(incoming)) await this.#options.settled;
      return adaptReply(await handler(incoming, this.#options.group()), request.method, era);
    } catch (error) {
      return adaptReply(toReply(error, request.method, era), request.method, era);
    }
  }

  onNotification(_message: NotificationMessage, _session: Session | undefined): void {
    // `initialized` and roots changes need no action; transports handle cancellation.
  }

  onSession(session: Session, origin: SessionOrigin): void {
    this.#listChanged.add(session);
    this.#options.sessions?.opened({
      session,
      origin,
      group: findGroup(this.#options.group)?.name ?? "",
      subscriptions: () => this.#subscriptions.count(session),
    });
  }

  onSessionRevived(session: Session, { watched, requester }: RevivedSession): void {
    this.#listChanged.announceAll(session);
    if (session.logLevel !== undefined) void this.#applyLevel(session, session.logLevel);
    const group = findGroup(this.#options.group);
    const caller = lastingCallerOf({ requester, headers: {} });
    this.#subscriptions.restore(session, watched, { caller, ...(group === undefined ? {} : { group }) });
  }

  onSessionEnd(session: Session): void {
    this.#options.sessions?.closed(session);
    this.#listChanged.remove(session);
    this.#logLevels.end(session);
    this.#loginOffers.endSession(session);
    this.#options.supervisor.sessionEnded(session.id);
    this.#subscriptions.endSession(session);
  }

  /** The catalog was replaced. */
  catalogChanged(): void {
    this.#listChanged.catalogChanged();
    this.#subscriptions.catalogChanged(findGroup(this.#options.group));
  }

  /** Cancels the calls that are suspended until their client sends input: it can no longer resume them. */
  cancelSuspendedCalls(): void {
    this.#forwarder.close();
  }

  /** A server reports the status of a task, which may belong to a client of this group. */
  onTaskNotification(server: string, message: NotificationMessage): void {
    this.#tasks.notifySession(server, message);
  }

  close(): void {
    this.#listChanged.close();
    this.#forwarder.close();
  }

  /** Whether the reply depends on the servers' listings. */
  #needsServers({ request }: IncomingRequest): boolean {
    if (request.method === "subscriptions/listen") return wantedUris(request).length > 0;
    return request.method === "resources/subscribe" || findHandler(this.#both, request.method) !== undefined;
  }

  /** All entries on one page, as the catalog serialized them. There are no further pages, so no cursor is valid. */
  #list({ request }: IncomingRequest, group: Group, key: string, entries: Buffer): Reply {
    this.#listChanged.listServed(group);
    if (request.params?.value["cursor"] !== undefined) {
      throw new HubError("InvalidArgument", "Invalid cursor", { field: "cursor" });
    }
    let result = this.#listResults.get(entries);
    if (result === undefined) {
      result = { bytes: Buffer.concat([Buffer.from(`{"${key}":`), entries, Buffer.from("}")]), value: {} };
      this.#listResults.set(entries, result);
    }
    return { ok: true, result };
  }

  async #listen(incoming: IncomingRequest, group: Group): Promise<Reply> {
    const granted = [this.#subscriptions.grant(incoming, group), this.#taskRequests.grant(incoming, group)];
    const wanted = granted.flatMap((grant) => grant ?? []);
    return this.#listChanged.listen(incoming, wanted.length === 0 ? [] : await Promise.all(wanted));
  }

  #forwardTask(incoming: IncomingRequest, group: Group): Promise<Reply> {
    return this.#taskRequests.forward(incoming, group, (server) => this.#forwarder.requestFor(incoming, group, server));
  }

  async #setLevel(incoming: IncomingRequest): Promise<Reply> {
    const level = stringParam(incoming, "level");
    if (!isLogLevel(level)) throw new HubError("InvalidArgument", `Unknown log level "${level}"`, { field: "level" });
    const session = sessionOf(incoming);
    session.logLevel = level;
    await this.#applyLevel(session, level);
    return success({});
  }

  #applyLevel(session: Session, level: string): Promise<void> {
    return this.#logLevels.set(session, { level, servers: () => findGroup(this.#options.group)?.servers ?? [] });
  }
}

function findHandler(table: Readonly<Record<string, Handler>>, method: string): Handler | undefined {
  return Object.hasOwn(table, method) ? table[method] : undefined;
}

/** On stdio a client may send requests before `initialize`; subscriptions and log levels need a session. */
function sessionOf({ session }: IncomingRequest): Session {
  if (session !== undefined) return session;
  throw new HubError("InvalidArgument", "Send `initialize` first");
}
