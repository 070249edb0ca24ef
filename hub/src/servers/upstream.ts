// Our MCP client of one connected server: asks, lists, keeps its log level, and hears what it says unasked.
// The caller's params and the server's results pass through as bytes; only names and `_meta` belong to each hop.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Listed } from "../catalog/listing.ts";
import { ListingReport } from "../catalog/listing-report.ts";
import type { HubError } from "../errors.ts";
import type { ClientSpan } from "../telemetry/tracing.ts";
import type { Cancellation } from "../wire/cancellation.ts";
import { outgoingMeta, type Era } from "../wire/era.ts";
import { headerParams, HeaderRules, requestHeaders } from "../wire/headers.ts";
import { editObject, isObject, type JsonObject } from "../wire/json.ts";
import { failure, rawParams, RPC } from "../wire/jsonrpc.ts";
import type { NotificationMessage, Raw, RawParams, Reply, RequestMessage } from "../wire/jsonrpc.ts";
import type { OpenInquiry, PeerHandlers, Unowned } from "../wire/peer.ts";
import type { AskClient } from "../wire/server.ts";
import type { Askable } from "./era-memory.ts";
import { CLIENT_INFO, shakeHands, type Handshake, type HandshakeOptions, type Hello } from "./handshake.ts";
import type { Caller } from "./caller.ts";
import type { Link } from "./link.ts";
import { fetchListing } from "./lists.ts";
import { Announcements } from "./announcements.ts";
import { Elicitations } from "./elicitations.ts";
import { OwnTasks } from "./own-tasks.ts";
import { askableOf, subjectOf } from "./questions.ts";
import type { Respondent } from "./respondent.ts";
import { UnownedQuestions } from "./unowned-questions.ts";

/** A server may open its stream only with the first thing that it has to say. */
const HEAR_MS = 2000;
/** For what a server asks before its first call, such as its client's roots. */
const SETTLE_MS = 5000;

/** One request on behalf of a client. */
export interface Ask {
  readonly method: string;
  readonly params: RawParams | undefined;
  /** Members of the params to replace: the name that the server knows its tool by. */
  readonly replace?: JsonObject;
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs?: number | undefined;
  readonly logLevel?: string | undefined;
  /** Who asks. Not told by the hub's own questions. */
  readonly caller?: Caller;
  /** The tool's own definition, where the request is a call: its schema may ask for headers. */
  readonly tool?: JsonObject;
  /** Where the request is traced. */
  readonly trace?: ClientSpan;
  /** Whom the server may ask back. Without one it may ask nobody. */
  readonly respondent?: Respondent;
  /** Progress with the caller's own token, and log messages of this request. */
  onNotification?(method: string, params: Raw): void;
}

export interface ConnectOptions extends Omit<HandshakeOptions, "open"> {
  readonly requestMs: number;
  open(handlers: PeerHandlers): Promise<Link>;
  /** The server says that one of its lists changed. */
  onListChanged(): void;
  /** It says that a resource changed. */
  onResourceUpdated(params: RawParams | undefined): void;
  /** It says something about a task that belongs to no request. */
  onTaskNews(news: NotificationMessage): void;
  /** It asks a client for something: on the stream of the request that this belongs to, or where only the circumstances say so. */
  onAsked?(kind: Askable, how: { readonly isPlaced: boolean }): void;
  /** Whom a question goes to that belongs to no request, or to which of several is unknown: the connection is theirs alone. */
  readonly client?: OnlyClient;
  /** What it said for a while was not heard. */
  onGap(): void;
  onStage(stage: "handshake" | "listing"): void;
}

/** The only client of a connection. */
export interface OnlyClient {
  readonly capabilities: JsonObject;
  readonly ask: AskClient;
}

/** What is heard outside of any request, and yet belongs to one. */
interface Conversing {
  readonly elicitations: Elicitations;
  readonly ownTasks: OwnTasks;
  readonly unowned: UnownedQuestions;
}

export class Upstream {
  readonly hello: Hello;
  readonly #link: Link;
  readonly #requestMs: number;
  readonly #announcements: Announcements;
  readonly #elicitations: Elicitations;
  readonly #ownTasks: OwnTasks;
  readonly #unowned: UnownedQuestions;
  readonly #onAsked: Noting;
  readonly #headerRules = new HeaderRules();
  /** Whether the server itself said which era it speaks: only that is worth remembering. */
  readonly isEraCertain: boolean;

  private constructor({ link, hello, isCertain }: Handshake, conversing: Conversing, options: ConnectOptions) {
    this.#link = link;
    this.hello = hello;
    this.isEraCertain = isCertain;
    this.#elicitations = conversing.elicitations;
    this.#ownTasks = conversing.ownTasks;
    this.#unowned = conversing.unowned;
    this.#onAsked = asking(options);
    this.#requestMs = options.requestMs;
    this.#announcements = new Announcements({
      hello,
      ask: (ask) => this.ask(ask),
      ...(link.listen === undefined ? {} : { listen: link.listen }),
      onListChanged: () => options.onListChanged(),
      onGap: () => options.onGap(),
    });
  }

  static async connect(options: ConnectOptions): Promise<Upstream> {
    const unowned = new UnownedQuestions({
      client: options.client,
      onAsked: (method) => asking(options)(method, { isPlaced: false }),
    });
    const conversing = { elicitations: new Elicitations(), ownTasks: new OwnTasks(), unowned };
    const { elicitations, ownTasks } = conversing;
    const handlers = {
      onNotification: (message: NotificationMessage) => {
        const { method, params } = message;
        if (LIST_NEWS.has(method)) options.onListChanged();
        else if (method === "notifications/elicitation/complete") elicitations.completed(params);
        else if (method === "notifications/resources/updated") options.onResourceUpdated(params);
        else if (TASK_NEWS.has(method) && !ownTasks.tell(message)) options.onTaskNews(message);
      },
      onRequest: (message: RequestMessage, why: Unowned) => unowned.answer(message, why),
    };
    const open = async () => {
      const link = await options.open(handlers);
      options.onStage("handshake");
      return link;
    };
    return new Upstream(await shakeHands({ ...options, open }), conversing, options);
  }

  get era(): Era {
    return this.hello.era;
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

  /** The last lines of the server's stderr. */
  stderr(): string {
    return this.#link.stderr();
  }

  async list(signal?: AbortSignal): Promise<Listed> {
    const listed = await fetchListing(
      (method, params) => this.ask({ method, params: rawParams(params), ...(signal === undefined ? {} : { signal }) }),
      this.hello.capabilities,
    );
    return this.#needsHeaders ? withValidHeaders(listed) : listed;
  }

  /** From now on the server's own announcements are heard. Called once, when the first listing is there. */
  follow(): void {
    void this.#announcements.start();
  }

  /** The same for a connection that lists nothing: over HTTP, a legacy server may ask on that stream. Resolves when it is open. */
  async hear(): Promise<void> {
    if (this.era === "modern" || this.#link.listen === undefined) return;
    const limit = new AbortController();
    const over = sleep(HEAR_MS, undefined, { signal: limit.signal }).catch(() => undefined); // open in time
    await Promise.race([this.#announcements.start(), over]);
    limit.abort();
  }

  ask(ask: Ask): Promise<Reply> {
    if (this.era === "modern" || !OwnTasks.needs(ask)) return this.#ask(ask);
    return this.#ownTasks.ask(ask, (each) => this.#ask(each));
  }

  async #ask(ask: Ask): Promise<Reply> {
    const { method, params, replace, tool, signal, respondent, timeoutMs = this.#requestMs } = ask;
    const token = progressToken(params);
    const { peer, transport, address } = this.#link;
    respondent?.sentIn?.(this.era);
    const build = (id: number) => {
      ask.trace?.sent({ id, version: this.hello.version, transport, address });
      return this.#buildParams(ask, token === undefined ? undefined : id);
    };
    const reply = await peer.request(method, build, {
      timeoutMs,
      signal,
      caller: () => respondent?.caller(),
      task: method === "tasks/result" ? taskIn({ ...params?.value, ...replace }) : undefined,
      headers: this.#needsHeaders ? this.#headersFor(method, { ...params?.value, ...replace }, tool) : undefined,
      onNotification: (message) => ask.onNotification?.(message.method, withToken(message, token)),
      // A modern server has no questions: what it wants stands in its answer.
      onRequest: this.era === "modern" ? refuse : this.#answering(respondent),
    });
    if (!reply.ok && respondent !== undefined) this.#elicitations.answered(reply, respondent);
    return reply;
  }

  #answering(respondent: Respondent | undefined) {
    return (question: RequestMessage, inquiry: OpenInquiry): Promise<Reply> => {
      this.#onAsked(question.method, inquiry);
      if (respondent === undefined || askableOf(question.method) === undefined) return refuse(question);
      this.#elicitations.asked(question, respondent);
      return respondent.answer(question, inquiry);
    };
  }

  /** Resolves when what the server asked right after the handshake has its answer, or has had its time. */
  async settled(): Promise<void> {
    // Messages are read in their order: what it asks at once comes before the answer.
    await this.#ask({ method: "ping", params: undefined, timeoutMs: SETTLE_MS }).catch(() => undefined);
    await this.#unowned.answered(SETTLE_MS);
  }

  /** Legacy servers have one level for all; it is the caller's to choose the lowest that anyone wants. */
  async setLogLevel(level: string): Promise<void> {
    if (this.era === "modern" || !isObject(this.hello.capabilities["logging"])) return;
    await this.ask({ method: "logging/setLevel", params: rawParams({ level }) });
  }

  /** Nothing new is asked from now on. Resolves when what was asked is answered, or has had its time. */
  async drain(limitMs: number): Promise<void> {
    this.#announcements.stop();
    const timer = new AbortController();
    const limit = sleep(limitMs, undefined, { signal: timer.signal }).catch(() => undefined); // answered in time
    await Promise.race([this.#link.peer.idle(), limit]);
    timer.abort();
    // Whoever got the last answer records it while the server's secrets are still known.
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

  #buildParams({ params, replace, logLevel, trace, respondent }: Ask, token: number | undefined): Buffer | undefined {
    const given = params?.value["_meta"];
    const isPlain = given === undefined && trace === undefined && token === undefined && this.era === "legacy";
    if (isPlain && isSame(params, replace)) return params?.bytes;
    const meta = outgoingMeta({
      from: trace === undefined ? given : { ...(isObject(given) ? given : {}), ...trace.meta },
      era: this.era,
      clientInfo: CLIENT_INFO,
      capabilities: respondent?.capabilities ?? {},
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

/** Nothing has to be replaced: a tool that clients know by the name that its server gave it. */
function isSame(params: RawParams | undefined, replace: JsonObject | undefined): boolean {
  for (const key in replace) if (params?.value[key] !== replace[key]) return false;
  return true;
}

const NO_MEMBERS = Buffer.from("{}");

/** What makes the last listing doubtful. A subscription is acknowledged after some time in which nobody listened. */
const LIST_NEWS: ReadonlySet<string> = new Set([
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/subscriptions/acknowledged",
]);

/** Besides its status: where the request that made a task is answered, the task may still have something to say. */
const TASK_NEWS: ReadonlySet<string> = new Set([
  "notifications/tasks/status",
  "notifications/progress",
  "notifications/message",
]);

/** Who made the request cannot be asked: not this, or nothing at all. */
async function refuse({ method }: RequestMessage): Promise<Reply> {
  return failure({ code: RPC.methodNotFound, message: `${subjectOf(method)}, and whoever called it cannot be asked` });
}

type Noting = (method: string, how: { readonly isPlaced: boolean }) => void;

function asking({ onAsked }: Pick<ConnectOptions, "onAsked">): Noting {
  return (method, { isPlaced }) => {
    const kind = askableOf(method);
    if (kind !== undefined) onAsked?.(kind, { isPlaced });
  };
}

function taskIn({ taskId }: JsonObject): string | undefined {
  return typeof taskId === "string" ? taskId : undefined;
}

/** Over HTTP a tool whose header rules are invalid cannot be called by any client, and must not be offered. */
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

/** The message as the caller expects it: its own token back in place of ours, text or number as it was. */
function withToken({ method, params }: NotificationMessage, token: string | number | undefined): Raw {
  if (params === undefined) return rawParams({});
  if (method !== "notifications/progress" || token === undefined) return params;
  return {
    bytes: editObject(params.bytes, { progressToken: JSON.stringify(token) }),
    value: { ...params.value, progressToken: token },
  };
}
