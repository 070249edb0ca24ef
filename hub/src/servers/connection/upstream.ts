// The MCP client of one connected server: forwards requests, reads lists, sets the log level, and handles what the server sends
// on its own. Params and results pass through as bytes; only names and `_meta` are replaced on each hop.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Listed } from "../../catalog/listing.ts";
import { ListingReport } from "../../catalog/listing-report.ts";
import type { HubError } from "../../errors.ts";
import type { ClientSpan } from "../../telemetry/tracing.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { outgoingMeta, type Era } from "../../protocol/revisions/era.ts";
import { headerParams, HeaderRules, requestHeaders } from "../../protocol/revisions/headers.ts";
import { editObject, isObject, type JsonObject } from "../../lib/json/json.ts";
import { failure, rawParams, RPC } from "../../protocol/rpc/jsonrpc.ts";
import type { NotificationMessage, Raw, RawParams, Reply, RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { PeerHandlers, UnownedReason } from "../../protocol/connect/peer.ts";
import type { OpenServerRequest } from "../../protocol/connect/pending-request.ts";
import type { AskClient } from "../../protocol/serve/service.ts";
import type { ClientFeature } from "./era-memory.ts";
import {
  CLIENT_INFO,
  shakeHands,
  type ClientInfo,
  type Handshake,
  type HandshakeOptions,
  type ServerInfo,
} from "./handshake.ts";
import type { Caller } from "../instances/caller.ts";
import type { Link } from "./link.ts";
import { fetchListing, fetchTools } from "./lists.ts";
import { Announcements } from "./announcements.ts";
import { Elicitations } from "./elicitations.ts";
import { LegacyTasks } from "./legacy-tasks.ts";
import { featureOf, subjectOf, type ClientResponder } from "./client-responder.ts";
import { UnownedRequests } from "./unowned-requests.ts";

/** A server may open its stream only with its first message. */
const HEAR_MS = 2000;
/** For requests of the server before its first call, such as roots/list. */
const SETTLE_MS = 5000;

/** One request on behalf of a client. */
export interface ForwardRequest {
  readonly method: string;
  readonly params: RawParams | undefined;
  /** Members of the params to replace, such as the tool's name on the server. */
  readonly replace?: JsonObject;
  readonly signal?: Cancellation | undefined;
  /** The limit that the caller sets. Without it the server's own holds. 0: no limit. */
  readonly timeoutMs?: number | undefined;
  /** The remaining time limit after waiting for a slot, a start or an earlier attempt. */
  readonly leftMs?: number;
  readonly logLevel?: string | undefined;
  /** Not set for requests of the hub itself. */
  readonly caller?: Caller;
  /** The definition of the tool, for tools/call: its schema may require headers. */
  readonly tool?: JsonObject;
  /** Set if the request is traced. */
  readonly trace?: ClientSpan;
  /** Answers requests of the server to the client. Without it they are refused. */
  readonly responder?: ClientResponder;
  /** Progress with the caller's token, and log messages of this request. */
  onNotification?(method: string, params: Raw): void;
}

export interface ConnectOptions extends Omit<HandshakeOptions, "open"> {
  readonly requestMs: number;
  open(handlers: PeerHandlers): Promise<Link>;
  /** The server announces a changed list. */
  onListChanged(): void;
  /** A resource changed. */
  onResourceUpdated(params: RawParams | undefined): void;
  /** A notification about a task, outside of any request. */
  onTaskNotification(notification: NotificationMessage): void;
  /** A log message, during a request or outside of any. */
  readonly onLogMessage?: ((params: JsonObject) => void) | undefined;
  /** The server sends a request to its client. `hasOwnStream`: on the stream of the request that it belongs to. */
  onClientRequest?(feature: ClientFeature, how: { readonly hasOwnStream: boolean }): void;
  /** Answers requests that belong to no call, or to an unknown one, if the connection has only one client. */
  readonly client?: OnlyClient | undefined;
  /** Lists nothing but tools. */
  readonly toolsOnly?: boolean;
  /** Notifications may have been lost. */
  onGap(): void;
  onStage(stage: "handshake" | "listing"): void;
}

/** The only client of a connection. */
export interface OnlyClient {
  readonly capabilities: JsonObject;
  /** The program that embeds the hub: it rejects requests that it cannot answer. */
  readonly isProgram?: true;
  readonly ask: AskClient;
}

/** Handles messages that arrive outside of their request. */
interface OutOfBand {
  readonly elicitations: Elicitations;
  readonly legacyTasks: LegacyTasks;
  readonly unowned: UnownedRequests;
}

export class Upstream {
  readonly info: ServerInfo;
  readonly #link: Link;
  readonly #requestMs: number;
  readonly #clientInfo: ClientInfo;
  readonly #toolsOnly: boolean;
  readonly #announcements: Announcements;
  readonly #elicitations: Elicitations;
  readonly #legacyTasks: LegacyTasks;
  readonly #unowned: UnownedRequests;
  readonly #onClientRequest: OnClientRequest;
  readonly #onLogMessage: ConnectOptions["onLogMessage"];
  readonly #headerRules = new HeaderRules();
  /** Whether the server itself stated its era: only that is remembered. */
  readonly isEraCertain: boolean;

  private constructor({ link, info: hello, isCertain }: Handshake, outOfBand: OutOfBand, options: ConnectOptions) {
    this.#link = link;
    this.info = hello;
    this.isEraCertain = isCertain;
    this.#elicitations = outOfBand.elicitations;
    this.#legacyTasks = outOfBand.legacyTasks;
    this.#unowned = outOfBand.unowned;
    this.#onClientRequest = clientRequestHandler(options);
    this.#onLogMessage = options.onLogMessage;
    this.#requestMs = options.requestMs;
    this.#clientInfo = options.identity?.clientInfo ?? CLIENT_INFO;
    this.#toolsOnly = options.toolsOnly === true;
    this.#announcements = new Announcements({
      info: hello,
      forward: (request) => this.forward(request),
      ...(link.listen === undefined ? {} : { listen: link.listen }),
      onListChanged: () => options.onListChanged(),
      onGap: () => options.onGap(),
    });
  }

  static async connect(options: ConnectOptions): Promise<Upstream> {
    const unowned = new UnownedRequests({
      client: options.client,
      onClientRequest: (method) => clientRequestHandler(options)(method, { hasOwnStream: false }),
    });
    const elicitations = new Elicitations();
    const legacyTasks = new LegacyTasks(options.requestMs);
    const handlers = {
      onNotification: (message: NotificationMessage) => {
        const { method, params } = message;
        if (method === LOG_MESSAGE) options.onLogMessage?.(params?.value ?? {});
        if (LIST_CHANGES.has(method)) options.onListChanged();
        else if (method === "notifications/elicitation/complete") elicitations.completed(params);
        else if (method === "notifications/resources/updated") options.onResourceUpdated(params);
        else if (TASK_NOTIFICATIONS.has(method) && !legacyTasks.notify(message)) options.onTaskNotification(message);
      },
      onRequest: (message: RequestMessage, why: UnownedReason) => unowned.answer(message, why),
    };
    const open = async () => {
      const link = await options.open(handlers);
      options.onStage("handshake");
      return link;
    };
    return new Upstream(await shakeHands({ ...options, open }), { elicitations, legacyTasks, unowned }, options);
  }

  get era(): Era {
    return this.info.era;
  }

  get pid(): number | undefined {
    return this.#link.pid;
  }

  get lost(): Promise<HubError> {
    return this.#link.lost;
  }

  get counters() {
    return this.#link.peer.counters;
  }

  /** Whether a request of the server may belong to another client than this one, which is being asked or has cancelled. */
  isContested(caller: string | undefined): boolean {
    return this.era === "legacy" && this.#link.peer.isContested(caller);
  }

  /** The last lines of the server's stderr. */
  stderr(): string {
    return this.#link.stderr();
  }

  async list(signal?: AbortSignal): Promise<Listed> {
    const send = (method: string, params: JsonObject) =>
      this.forward({ method, params: rawParams(params), ...(signal === undefined ? {} : { signal }) });
    const listed = await (this.#toolsOnly ? fetchTools(send) : fetchListing(send, this.info.capabilities));
    return this.#needsHeaders ? withValidHeaders(listed) : listed;
  }

  /** Begins to listen for the server's announcements. Called once, after the first listing. */
  follow(): void {
    void this.#announcements.start();
  }

  /** The same for a connection that lists nothing: a legacy HTTP server may send requests on that stream. Resolves when it is open. */
  async hear(): Promise<void> {
    if (this.era === "modern" || this.#link.listen === undefined) return;
    const limit = new AbortController();
    const over = sleep(HEAR_MS, undefined, { signal: limit.signal }).catch(() => undefined); // open in time
    await Promise.race([this.#announcements.start(), over]);
    limit.abort();
  }

  forward(request: ForwardRequest): Promise<Reply> {
    if (this.era === "modern" || !LegacyTasks.needs(request)) return this.#send(request);
    return this.#legacyTasks.call(request, (each) => this.#send(each));
  }

  async #send(request: ForwardRequest): Promise<Reply> {
    const { method, params, replace, tool, signal, responder } = request;
    const token = progressToken(params);
    const { peer, transport, address } = this.#link;
    responder?.sentIn?.(this.era);
    const build = (id: number) => {
      request.trace?.sent({ id, version: this.info.version, transport, address });
      return this.#buildParams(request, token === undefined ? undefined : id);
    };
    const reply = await peer.request(method, build, {
      timeoutMs: request.leftMs ?? request.timeoutMs ?? this.#requestMs,
      signal,
      caller: () => responder?.caller(),
      isOneClient: responder?.isOneClient,
      task: method === "tasks/result" ? taskIn({ ...params?.value, ...replace }) : undefined,
      headers: this.#needsHeaders ? this.#headersFor(method, { ...params?.value, ...replace }, tool) : undefined,
      onNotification: (message) => {
        if (message.method === LOG_MESSAGE) this.#onLogMessage?.(message.params?.value ?? {});
        request.onNotification?.(message.method, withToken(message, token));
      },
      // A modern server sends no requests: its answer contains them.
      onRequest: this.era === "modern" ? refuse : this.#answerWith(responder),
    });
    if (!reply.ok && responder !== undefined) this.#elicitations.answered(reply, responder);
    return reply;
  }

  #answerWith(responder: ClientResponder | undefined) {
    return (message: RequestMessage, open: OpenServerRequest): Promise<Reply> => {
      this.#onClientRequest(message.method, open);
      if (responder === undefined || featureOf(message.method) === undefined) return refuse(message);
      this.#elicitations.requested(message, responder);
      return responder.answer(message, open);
    };
  }

  /** Resolves when requests that the server sent right after the handshake are answered, or the limit is over. */
  async settled(): Promise<void> {
    // Messages are read in order: its requests arrive before the answer to the ping.
    await this.#send({ method: "ping", params: undefined, timeoutMs: SETTLE_MS }).catch(() => undefined);
    await this.#unowned.answered(SETTLE_MS);
  }

  /** Legacy servers have one level for all clients: the caller passes the lowest that any of them wants. */
  async setLogLevel(level: string): Promise<void> {
    if (this.era === "modern" || !isObject(this.info.capabilities["logging"])) return;
    await this.forward({ method: "logging/setLevel", params: rawParams({ level }) });
  }

  /** Resolves when open requests are answered, or the limit is over. The caller sends no new ones. */
  async drain(limitMs: number): Promise<void> {
    this.#announcements.stop();
    const timer = new AbortController();
    const limit = sleep(limitMs, undefined, { signal: timer.signal }).catch(() => undefined); // answered in time
    await Promise.race([this.#link.peer.idle(), limit]);
    timer.abort();
    // The last answer is recorded while the server's secrets are still known.
    await nextTurn();
  }

  close(): Promise<void> {
    this.#announcements.stop();
    return this.#link.close();
  }

  get #needsHeaders(): boolean {
    return this.era === "modern" && this.#link.transport === "http";
  }

  #headersFor(method: string, params: JsonObject, tool: JsonObject | undefined): Record<string, string> {
    return requestHeaders(method, params, tool && this.#headerRules.of(tool));
  }

  #buildParams(
    { params, replace, logLevel, trace, responder }: ForwardRequest,
    token: number | undefined,
  ): Buffer | undefined {
    const given = params?.value["_meta"];
    const isPlain = given === undefined && trace === undefined && token === undefined && this.era === "legacy";
    if (isPlain && isSame(params, replace)) return params?.bytes;
    const meta = outgoingMeta({
      from: trace === undefined ? given : { ...(isObject(given) ? given : {}), ...trace.meta },
      era: this.era,
      clientInfo: this.#clientInfo,
      capabilities: responder?.capabilities ?? {},
      ...(logLevel === undefined ? {} : { logLevel }),
      ...(token === undefined ? {} : { progressToken: token }),
    });
    const changes: Record<string, string | undefined> = {};
    for (const [key, value] of Object.entries(replace ?? {})) {
      if (params?.value[key] !== value) changes[key] = JSON.stringify(value);
    }
    if (meta !== undefined || given !== undefined)
      changes["_meta"] = meta === undefined ? undefined : JSON.stringify(meta);
    if (Object.keys(changes).length === 0) return params?.bytes;
    return editObject(params?.bytes ?? NO_MEMBERS, changes, params?.members);
  }
}

/** Nothing has to be replaced: clients use the server's name of the tool. */
function isSame(params: RawParams | undefined, replace: JsonObject | undefined): boolean {
  for (const key in replace) if (params?.value[key] !== replace[key]) return false;
  return true;
}

const LOG_MESSAGE = "notifications/message";
const NO_MEMBERS = Buffer.from("{}");

/** The last listing may be outdated. Before a subscription is acknowledged, changes go unnoticed. */
const LIST_CHANGES: ReadonlySet<string> = new Set([
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/subscriptions/acknowledged",
]);

/** A task may still send progress and logs after the request that made it was answered. */
const TASK_NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/tasks/status",
  "notifications/progress",
  LOG_MESSAGE,
]);

/** The caller cannot answer this, or no requests at all. */
async function refuse({ method }: RequestMessage): Promise<Reply> {
  return failure({ code: RPC.methodNotFound, message: `${subjectOf(method)}, and the caller cannot answer` });
}

type OnClientRequest = (method: string, how: { readonly hasOwnStream: boolean }) => void;

function clientRequestHandler({ onClientRequest }: Pick<ConnectOptions, "onClientRequest">): OnClientRequest {
  return (method, { hasOwnStream }) => {
    const feature = featureOf(method);
    if (feature !== undefined) onClientRequest?.(feature, { hasOwnStream });
  };
}

function taskIn({ taskId }: JsonObject): string | undefined {
  return typeof taskId === "string" ? taskId : undefined;
}

/** Over HTTP no client can call a tool with invalid header rules, so it is not offered. */
function withValidHeaders({ listing, warnings, isPartial }: Listed): Listed {
  const report = new ListingReport();
  const tools = listing.tools.filter((tool) => {
    const params = headerParams(tool["inputSchema"]);
    if ("invalid" in params) report.omitted("tools", String(tool["name"]), params.invalid);
    return !("invalid" in params);
  });
  return { listing: { ...listing, tools }, warnings: [...warnings, ...report.warnings], isPartial };
}

function progressToken(params: RawParams | undefined): string | number | undefined {
  const meta = params?.value["_meta"];
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

/** The message with the caller's own progress token in place of ours. */
function withToken({ method, params }: NotificationMessage, token: string | number | undefined): Raw {
  if (params === undefined) return rawParams({});
  if (method !== "notifications/progress" || token === undefined) return params;
  return {
    bytes: editObject(params.bytes, { progressToken: JSON.stringify(token) }),
    value: { ...params.value, progressToken: token },
  };
}
