// A group as an MCP server, for any transport: answers what it knows from the catalog and passes the rest on to the
// server that owns it. One table says which method does what.

import type { Calls, Question, ToolCall } from "../calls/call.ts";
import { withExposedUris } from "../calls/exposed-uris.ts";
import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { adaptReply, LEGACY_VERSIONS, META, MODERN_VERSION } from "../wire/era.ts";
import { headerMismatch, HeaderRules } from "../wire/headers.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { failure, RPC, success } from "../wire/jsonrpc.ts";
import type { NotificationMessage, Raw, Reply } from "../wire/jsonrpc.ts";
import type { Exchange, Service, Session } from "../wire/server.ts";
import { Conversations } from "./conversations.ts";
import { askExtension } from "./extension-methods.ts";
import { callerOf } from "./principal.ts";
import { toReply } from "./failure.ts";
import { discoverResult, initializeResult } from "./hello.ts";
import { isLogLevel, passesLevel } from "./log-level.ts";
import { LogLevels } from "./log-levels.ts";
import { promptResultFor, toolResultFor } from "../wire/tool-era.ts";
import { Subscriptions, wantedUris } from "./subscriptions.ts";
import type { TaskIds } from "./task-ids.ts";
import { foreignTask, TaskRequests } from "./task-requests.ts";
import { Tasks } from "./tasks.ts";
import { ToolLists } from "./tool-lists.ts";
import { findGroup, Watchers } from "./watchers.ts";

export interface EndpointOptions {
  /** The group as it is now: asked on every request, so that a new catalog is seen at once. */
  readonly group: () => Group;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
  readonly taskIds?: TaskIds;
  /** Of all groups together. */
  readonly logLevels?: LogLevels;
  /** Lists wait for this, where the client launched the hub itself and takes the first list for the whole truth. */
  readonly settled?: Promise<void>;
  /** How long a modern client may take to come back with what a server asked. */
  readonly patienceMs?: number;
}

type Handler = (exchange: Exchange, group: Group) => Promise<Reply> | Reply;

export class Endpoint implements Service {
  readonly #options: EndpointOptions;
  readonly #watchers: Watchers;
  readonly #conversations: Conversations;
  readonly #subscriptions: Subscriptions;
  readonly #logLevels: LogLevels;
  readonly #tasks: Tasks;
  readonly #taskRequests: TaskRequests;
  readonly #toolLists = new ToolLists();
  /** By their entries, which are made once for each snapshot: so is the result around them. */
  readonly #listResults = new WeakMap<Buffer, Raw>();
  readonly #headerRules = new HeaderRules();

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#watchers = new Watchers(options.group);
    this.#logLevels = options.logLevels ?? new LogLevels(options.supervisor);
    this.#tasks = new Tasks(options.taskIds);
    this.#conversations = new Conversations({
      tasks: this.#tasks,
      eraOf: (server) => options.supervisor.eraOf(server),
      notify,
      ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
    });
    this.#subscriptions = new Subscriptions(options.supervisor);
    this.#taskRequests = new TaskRequests({ ...options, tasks: this.#tasks });
  }

  readonly #legacy: Readonly<Record<string, Handler>> = {
    initialize: ({ session }, group) =>
      success(initializeResult(session?.version ?? "", group, this.#options.supervisor)),
    ping: () => success({}),
    "logging/setLevel": (exchange) => this.#setLevel(exchange),
    "resources/subscribe": (exchange, group) => this.#subscribe(exchange, group),
    "resources/unsubscribe": (exchange) => this.#unsubscribe(exchange),
    "tasks/get": (exchange, group) => this.#askTask(exchange, group),
    "tasks/result": (exchange, group) => this.#askTask(exchange, group),
    "tasks/cancel": (exchange, group) => this.#askTask(exchange, group),
    "tasks/list": (exchange, group) =>
      this.#taskRequests.list(exchange, group, (server) => this.#ask(exchange, group, server)),
  };

  readonly #modern: Readonly<Record<string, Handler>> = {
    "server/discover": (_, group) => success(discoverResult(group, this.#options.supervisor)),
    "subscriptions/listen": (exchange, group) => this.#listen(exchange, group),
    "tasks/get": (exchange, group) => this.#askTask(exchange, group),
    "tasks/update": (exchange, group) => this.#askTask(exchange, group),
    "tasks/cancel": (exchange, group) => this.#askTask(exchange, group),
  };

  readonly #both: Readonly<Record<string, Handler>> = {
    "tools/list": (exchange, group) =>
      this.#list(exchange, group, "tools", this.#toolLists.json(group, versionOf(exchange))),
    "prompts/list": (exchange, group) => this.#list(exchange, group, "prompts", group.promptsJson),
    "resources/list": (exchange, group) => this.#list(exchange, group, "resources", group.resourcesJson),
    "resources/templates/list": (exchange, group) =>
      this.#list(exchange, group, "resourceTemplates", group.templatesJson),
    "tools/call": (exchange, group) => this.#callTool(exchange, group),
    "prompts/get": (exchange, group) => this.#getPrompt(exchange, group),
    "resources/read": (exchange, group) => this.#readResource(exchange, group),
    "completion/complete": (exchange, group) => this.#complete(exchange, group),
  };

  /** What the protocol itself does not have: an extension's, or nothing. */
  readonly #other: Handler = (exchange, group) =>
    askExtension(exchange, group, this.#options.supervisor, (server, replace) =>
      this.#options.calls.ask(server, { ...this.#ask(exchange, group, server), replace }),
    );

  async handle(exchange: Exchange): Promise<Reply> {
    const { request, era } = exchange;
    const table = era === "modern" ? this.#modern : this.#legacy;
    const handler = own(table, request.method) ?? own(this.#both, request.method) ?? this.#other;
    try {
      if (this.#options.settled !== undefined && this.#waits(exchange)) await this.#options.settled;
      return adaptReply(await handler(exchange, this.#options.group()), request.method, era);
    } catch (error) {
      return adaptReply(toReply(error, request.method, era), request.method, era);
    }
  }

  /** Whether a request is about what the servers offer, which they must have said first. */
  #waits({ request }: Exchange): boolean {
    if (request.method === "subscriptions/listen") return wantedUris(request).length > 0;
    return request.method === "resources/subscribe" || own(this.#both, request.method) !== undefined;
  }

  onNotification(_message: NotificationMessage, _session: Session | undefined): void {
    // `initialized` and roots changes need nothing here; cancellation is the transport's.
  }

  onSession(session: Session): void {
    this.#watchers.add(session);
  }

  onSessionRevived(session: Session, watched: readonly string[]): void {
    this.#watchers.announceAll(session);
    if (session.logLevel !== undefined) void this.#followLevel(session, session.logLevel);
    this.#subscriptions.restore(session, watched, findGroup(this.#options.group));
  }

  onSessionEnd(session: Session): void {
    this.#watchers.remove(session);
    this.#logLevels.end(session);
    this.#options.supervisor.sessionEnded(session.id);
    this.#subscriptions.endSession(session);
  }

  /** The catalog was replaced. */
  catalogChanged(): void {
    this.#watchers.changed();
    this.#subscriptions.catalogChanged(findGroup(this.#options.group));
  }

  /** Calls that wait for their client to come back will wait in vain from now on. */
  endParked(): void {
    this.#conversations.close();
  }

  /** A server says how a task is doing; here, if it is a task of one of these clients. */
  taskNews(server: string, news: NotificationMessage): void {
    this.#tasks.tell(server, news);
  }

  close(): void {
    this.#watchers.close();
    this.#conversations.close();
  }

  /** All entries on one page, as the bytes that the catalog made once. So there is no cursor that could be valid. */
  #list({ request }: Exchange, group: Group, key: string, entries: Buffer): Reply {
    this.#watchers.served(group);
    if (request.params?.value["cursor"] !== undefined) {
      throw new HubError("InvalidConfig", "This cursor is not one of ours", { field: "cursor" });
    }
    let result = this.#listResults.get(entries);
    if (result === undefined) {
      result = { bytes: Buffer.concat([Buffer.from(`{"${key}":`), entries, Buffer.from("}")]), value: {} };
      this.#listResults.set(entries, result);
    }
    return { ok: true, result };
  }

  #subscribe(exchange: Exchange, group: Group): Promise<Reply> {
    return this.#subscriptions.subscribe(sessionOf(exchange), stringParam(exchange, "uri"), group);
  }

  #unsubscribe(exchange: Exchange): Reply {
    return this.#subscriptions.unsubscribe(sessionOf(exchange), stringParam(exchange, "uri"));
  }

  async #listen(exchange: Exchange, group: Group): Promise<Reply> {
    const granted = [this.#subscriptions.grant(exchange, group), this.#taskRequests.grant(exchange, group)];
    const wanted = granted.flatMap((grant) => grant ?? []);
    return this.#watchers.listen(exchange, wanted.length === 0 ? [] : await Promise.all(wanted));
  }

  #askTask(exchange: Exchange, group: Group): Promise<Reply> {
    return this.#taskRequests.forward(exchange, group, (server) => this.#ask(exchange, group, server));
  }

  async #callTool(exchange: Exchange, group: Group): Promise<Reply> {
    let target: ReturnType<Group["resolveTool"]>;
    try {
      target = group.resolveTool(stringParam(exchange, "name"));
    } catch (thrown) {
      throw await this.#refuse(exchange, group, thrown);
    }
    const { server, tool, definition } = target;
    const mismatch = this.#headerProblem(exchange, definition);
    if (mismatch !== undefined) {
      await this.#refuse(exchange, group, new HubError("InvalidConfig", mismatch), { server, name: tool });
      return failure({ code: RPC.headerMismatch, message: mismatch });
    }
    // One literal, not `#ask` and more: spreading costs more here than all the rest of a call.
    const call: ToolCall = {
      method: exchange.request.method,
      params: exchange.request.params,
      replace: { name: tool },
      signal: exchange.signal,
      timeoutMs: undefined,
      logLevel: exchange.logLevel,
      caller: callerOf(exchange),
      group: group.name,
      arrival: exchange,
      respondent: this.#conversations.respondent(exchange, server, group),
      onNotification: this.#notifying(exchange, server),
      tool: definition,
      server,
      name: tool,
      client: clientOf(exchange),
    };
    const reply = await this.#pass(exchange, { server, group }, call, (question) => this.#options.calls.tool(question));
    const exposed = withExposedUris(reply, group.rewrittenUris(server));
    if (!exposed.ok) return exposed;
    const result = this.#tasks.adopt(exposed.result, exchange, server);
    return (
      foreignTask(result, exchange) ?? { ok: true, result: toolResultFor(result, versionOf(exchange), definition) }
    );
  }

  /** A call that cannot be forwarded is on record all the same. */
  #refuse(
    exchange: Exchange,
    group: Group,
    thrown: unknown,
    target?: { server: string; name: string },
  ): Promise<HubError> {
    const { params } = exchange.request;
    const named = params?.value["name"];
    const known = target ?? { server: "", name: typeof named === "string" ? named : "" };
    const call = { ...known, group: group.name, client: clientOf(exchange), params };
    return this.#options.calls.refuse(call, thrown);
  }

  async #getPrompt(exchange: Exchange, group: Group): Promise<Reply> {
    const { server, prompt } = group.resolvePrompt(stringParam(exchange, "name"));
    const ask = { ...this.#ask(exchange, group, server), replace: { name: prompt } };
    const reply = await this.#pass(exchange, { server, group }, ask, (question) =>
      this.#options.calls.ask(server, question),
    );
    const exposed = withExposedUris(reply, group.rewrittenUris(server));
    return mapResult(exposed, (result) => promptResultFor(result, versionOf(exchange)));
  }

  async #readResource(exchange: Exchange, group: Group): Promise<Reply> {
    const { server, uri } = group.resolveResource(stringParam(exchange, "uri"));
    const ask = { ...this.#ask(exchange, group, server), replace: { uri } };
    const reply = await this.#pass(exchange, { server, group }, ask, (question) =>
      this.#options.calls.ask(server, question),
    );
    return withExposedUris(reply, group.rewrittenUris(server));
  }

  #complete(exchange: Exchange, group: Group): Promise<Reply> {
    const ref = exchange.request.params?.value["ref"];
    if (!isObject(ref)) throw new HubError("InvalidConfig", "`ref` must be an object", { field: "ref" });
    const ask = (server: string) => this.#ask(exchange, group, server);
    if (ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
      const { server, prompt } = group.resolvePrompt(ref["name"]);
      return this.#options.calls.ask(server, { ...ask(server), replace: { ref: { ...ref, name: prompt } } });
    }
    if (ref["type"] === "ref/resource" && typeof ref["uri"] === "string") {
      const { server, uriTemplate } = group.resolveTemplate(ref["uri"]);
      return this.#options.calls.ask(server, { ...ask(server), replace: { ref: { ...ref, uri: uriTemplate } } });
    }
    throw new HubError("InvalidConfig", "`ref` must name a prompt (ref/prompt) or a resource (ref/resource)", {
      field: "ref",
    });
  }

  /** A request in which the server may ask back, or have something to say. */
  #pass<Q extends Question>(
    exchange: Exchange,
    asked: { readonly server: string; readonly group: Group },
    question: Q,
    run: (question: Q) => Promise<Reply>,
  ): Promise<Reply> {
    const { era, logLevel } = exchange;
    const { server } = asked;
    const pass = () => this.#conversations.pass(exchange, asked, question, run);
    if (era === "legacy" || logLevel === undefined || this.#options.supervisor.eraOf(server) !== "legacy")
      return pass();
    return this.#logLevels.request(server, logLevel).then(pass);
  }

  /** What every forwarded request has in common. */
  #ask(exchange: Exchange, group: Group, server: string): Question {
    const { request, signal, logLevel } = exchange;
    return {
      method: request.method,
      params: request.params,
      signal,
      logLevel,
      caller: callerOf(exchange),
      group: group.name,
      client: clientOf(exchange),
      arrival: exchange,
      respondent: this.#conversations.respondent(exchange, server, group),
      onNotification: this.#notifying(exchange, server),
    };
  }

  /** What a server says in the course of a request; what it says of a task in the words that clients know. */
  #notifying(exchange: Exchange, server: string): (method: string, params: Raw) => void {
    return (method, params) => {
      const heard = this.#tasks.heard(params, exchange, server);
      if (heard !== undefined) notify(exchange, method, heard);
    };
  }

  async #setLevel(exchange: Exchange): Promise<Reply> {
    const level = stringParam(exchange, "level");
    if (!isLogLevel(level)) throw new HubError("InvalidConfig", `There is no log level "${level}"`, { field: "level" });
    const session = sessionOf(exchange);
    session.logLevel = level;
    await this.#followLevel(session, level);
    return success({});
  }

  #followLevel(session: Session, level: string): Promise<void> {
    return this.#logLevels.set(session, { level, servers: () => findGroup(this.#options.group)?.servers ?? [] });
  }

  /** Arguments that a tool wants repeated in headers must be there and fit. Only HTTP has headers to check. */
  #headerProblem({ era, headers, request }: Exchange, definition: JsonObject): string | undefined {
    if (era !== "modern" || headers["mcp-method"] === undefined) return undefined;
    const rules = this.#headerRules.of(definition);
    return rules.length === 0 ? undefined : headerMismatch(headers, request.method, request.params?.value, rules);
  }
}

function notify(exchange: Exchange, method: string, params: Raw): void {
  if (method === "notifications/message" && !wantsLog(exchange, params.value)) return;
  exchange.notify(method, params);
}

/** The revision that the client speaks. On stdio one may ask before it has said. */
function versionOf({ era, session }: Exchange): string {
  return era === "modern" ? MODERN_VERSION : (session?.version ?? LEGACY_VERSIONS[0]);
}

function mapResult(reply: Reply, map: (result: Raw) => Raw): Reply {
  if (!reply.ok) return reply;
  const result = map(reply.result);
  return result === reply.result ? reply : { ok: true, result };
}

function own(table: Readonly<Record<string, Handler>>, method: string): Handler | undefined {
  return Object.hasOwn(table, method) ? table[method] : undefined;
}

/** A modern request that names no level must not get logs; a legacy session that named none gets what its server sends. */
function wantsLog({ era, logLevel, session }: Exchange, message: unknown): boolean {
  if (era === "modern") return logLevel !== undefined && passesLevel(message, logLevel);
  return passesLevel(message, session?.logLevel);
}

/** What the client calls itself: for the record only. */
function clientOf({ session, request }: Exchange): string | undefined {
  const meta = request.params?.value["_meta"];
  const info = session?.clientInfo ?? (isObject(meta) ? meta[META.clientInfo] : undefined);
  const name = isObject(info) ? info["name"] : undefined;
  return typeof name === "string" ? name.slice(0, 128) : undefined;
}

/** On stdio a client may ask before it has shaken hands; what would be told unasked has nowhere to go then. */
function sessionOf({ session }: Exchange): Session {
  if (session !== undefined) return session;
  throw new HubError("InvalidConfig", "Send `initialize` first");
}

function stringParam({ request }: Exchange, key: string): string {
  const value = request.params?.value[key];
  if (typeof value === "string") return value;
  throw new HubError("InvalidConfig", `\`${key}\` must be a string`, { field: key });
}
