// Forwards a client's requests to the server of the group that owns the tool, prompt or resource, and translates the reply:
// names, URIs and task ids are those of the group, results those of the client's revision.

import type { ServerRequest, ToolCall } from "../calls/call.ts";
import type { Calls } from "../calls/calls.ts";
import { withExposedUris } from "../calls/exposed-uris.ts";
import { refusedArgument, withFixedArguments } from "../calls/fixed-arguments.ts";
import { KeptResults } from "../calls/results/kept-results.ts";
import { givenName, type ExposedTool, type Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { LEGACY_VERSIONS, META, MODERN_VERSION } from "../protocol/revisions/era.ts";
import { headerMismatch, HeaderRules } from "../protocol/revisions/headers.ts";
import { promptResultFor, toolResultFor } from "../protocol/revisions/tool-era.ts";
import { failure, RPC, type Raw, type Reply } from "../protocol/rpc/jsonrpc.ts";
import { passesLevel } from "../protocol/rpc/log-level.ts";
import type { IncomingRequest } from "../protocol/serve/service.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { InteractiveForwarder } from "./client-requests/interactive-forwarder.ts";
import type { LoginOffers } from "./client-requests/login-offers.ts";
import { toolError } from "./errors.ts";
import type { LogLevels } from "./log-levels.ts";
import { callerOf, clientKey, ownerOf } from "./principal.ts";
import { unsupportedTask } from "./tasks/task-requests.ts";
import type { Tasks } from "./tasks/tasks.ts";

/** Counts the calls of each client. */
export interface CallObserver {
  called(incoming: IncomingRequest, group: string): void;
}

export interface ForwarderOptions {
  readonly calls: Calls;
  readonly supervisor: Supervisor;
  readonly tasks: Tasks;
  readonly logLevels: LogLevels;
  readonly loginOffers: LoginOffers;
  readonly sessions?: CallObserver | undefined;
  /** How long a modern client may take to send the input that a server asked for. */
  readonly inputTimeoutMs?: number | undefined;
}

interface Target {
  readonly server: string;
  readonly group: Group;
}

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #interactive: InteractiveForwarder;
  readonly #headerRules = new HeaderRules();

  constructor(options: ForwarderOptions) {
    const { supervisor, tasks, loginOffers, inputTimeoutMs } = options;
    this.#options = options;
    this.#interactive = new InteractiveForwarder({
      tasks,
      loginOffers,
      eraOf: (server) => supervisor.eraOf(server),
      notify,
      ...(inputTimeoutMs === undefined ? {} : { inputTimeoutMs }),
    });
  }

  /** `check`: may refuse the call, which is recorded. */
  async callTool(
    incoming: IncomingRequest,
    group: Group,
    check?: (tool: ExposedTool) => HubError | undefined,
  ): Promise<Reply> {
    let target: ReturnType<Group["resolveTool"]>;
    try {
      target = group.resolveTool(stringParam(incoming, "name"));
    } catch (thrown) {
      throw await this.#refuse(incoming, group, thrown);
    }
    const { server, tool, definition, override, rules } = target;
    const exposed = givenName(target);
    this.#options.sessions?.called(incoming, group.name);
    const refusal = check?.(target);
    if (refusal !== undefined) throw await this.#refuse(incoming, group, refusal, { server, name: tool, exposed });
    const { params } = incoming.request;
    const forbidden = override === undefined ? undefined : refusedArgument(override, params);
    if (forbidden !== undefined) {
      return toolError(await this.#refuse(incoming, group, forbidden, { server, name: tool, exposed }));
    }
    const mismatch = this.#headerProblem(incoming, definition);
    if (mismatch !== undefined) {
      await this.#refuse(incoming, group, new HubError("InvalidArgument", mismatch), { server, name: tool, exposed });
      return failure({ code: RPC.headerMismatch, message: mismatch });
    }
    // One literal, not `requestFor` and more: spreading costs more here than all the rest of a call.
    const call: ToolCall = {
      method: incoming.request.method,
      params: override === undefined ? params : withFixedArguments(override, params),
      replace: { name: tool },
      signal: incoming.signal,
      timeoutMs: undefined,
      logLevel: incoming.logLevel,
      caller: callerOf(incoming),
      group: group.name,
      arrival: incoming,
      responder: this.#interactive.responderFor(incoming, server, group),
      onNotification: this.#notifier(incoming, server),
      tool: override?.definition ?? definition,
      approval: rules?.approval,
      server,
      name: tool,
      exposed,
      client: clientOf(incoming),
    };
    const reply = await this.#send(incoming, { server, group }, call, (request) =>
      this.#options.calls.callTool(request),
    );
    const shown = withExposedUris(reply, group.rewrittenUris(server));
    if (!shown.ok) return shown;
    const limited = rules?.maxResultBytes === undefined ? shown.result : this.#limited(shown.result, incoming, target);
    const result = this.#options.tasks.adopt(limited, incoming, server);
    return (
      unsupportedTask(result, incoming) ?? { ok: true, result: toolResultFor(result, versionOf(incoming), definition) }
    );
  }

  async getPrompt(incoming: IncomingRequest, group: Group): Promise<Reply> {
    const { server, prompt } = group.resolvePrompt(stringParam(incoming, "name"));
    const request = { ...this.requestFor(incoming, group, server), replace: { name: prompt } };
    const reply = await this.#send(incoming, { server, group }, request, (sent) =>
      this.#options.calls.forward(server, sent),
    );
    const exposed = withExposedUris(reply, group.rewrittenUris(server));
    if (!exposed.ok) return exposed;
    const result = promptResultFor(exposed.result, versionOf(incoming));
    return result === exposed.result ? exposed : { ok: true, result };
  }

  async readResource(incoming: IncomingRequest, group: Group): Promise<Reply> {
    const asked = stringParam(incoming, "uri");
    if (KeptResults.owns(asked))
      return { ok: true, result: this.#options.calls.results.read(asked, keeperOf(incoming)) };
    const { server, uri } = group.resolveResource(asked);
    const request = { ...this.requestFor(incoming, group, server), replace: { uri } };
    const reply = await this.#send(incoming, { server, group }, request, (sent) =>
      this.#options.calls.forward(server, sent),
    );
    return withExposedUris(reply, group.rewrittenUris(server));
  }

  complete(incoming: IncomingRequest, group: Group): Promise<Reply> {
    const ref = incoming.request.params?.value["ref"];
    if (!isObject(ref)) throw new HubError("InvalidArgument", "`ref` must be an object", { field: "ref" });
    const { calls } = this.#options;
    const request = (server: string) => this.requestFor(incoming, group, server);
    if (ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
      const { server, prompt } = group.resolvePrompt(ref["name"]);
      return calls.forward(server, { ...request(server), replace: { ref: { ...ref, name: prompt } } });
    }
    if (ref["type"] === "ref/resource" && typeof ref["uri"] === "string") {
      const { server, uriTemplate } = group.resolveTemplate(ref["uri"]);
      return calls.forward(server, { ...request(server), replace: { ref: { ...ref, uri: uriTemplate } } });
    }
    throw new HubError("InvalidArgument", "`ref` must name a prompt (ref/prompt) or a resource (ref/resource)", {
      field: "ref",
    });
  }

  /** A result that is too large is cut, and the client can read the rest. */
  #limited(result: Raw, incoming: IncomingRequest, { rules, override, definition }: ExposedTool): Raw {
    const maxBytes = rules?.maxResultBytes;
    if (maxBytes === undefined) return result;
    const { outputSchema } = override?.definition ?? definition;
    return this.#options.calls.results.limit(result, { maxBytes, owner: keeperOf(incoming), outputSchema });
  }

  /** The members that all forwarded requests have in common. */
  requestFor(incoming: IncomingRequest, group: Group, server: string): ServerRequest {
    const { request, signal, logLevel } = incoming;
    return {
      method: request.method,
      params: request.params,
      signal,
      logLevel,
      caller: callerOf(incoming),
      group: group.name,
      client: clientOf(incoming),
      arrival: incoming,
      responder: this.#interactive.responderFor(incoming, server, group),
      onNotification: this.#notifier(incoming, server),
    };
  }

  /** Cancels the calls that are suspended until their client sends input. */
  close(): void {
    this.#interactive.close();
  }

  /** Sends a request during which the server may log, and ask the client for input. */
  #send<Q extends ServerRequest>(
    incoming: IncomingRequest,
    target: Target,
    request: Q,
    send: (request: Q) => Promise<Reply>,
  ): Promise<Reply> {
    const { era, logLevel } = incoming;
    const { supervisor, logLevels } = this.#options;
    const forward = () => this.#interactive.forward(incoming, target, request, send);
    if (era === "legacy" || logLevel === undefined || supervisor.eraOf(target.server) !== "legacy") return forward();
    return logLevels.request(target.server, logLevel).then(forward);
  }

  /** A call that cannot be forwarded is recorded too. */
  #refuse(
    incoming: IncomingRequest,
    group: Group,
    thrown: unknown,
    target?: Pick<ToolCall, "server" | "name" | "exposed">,
  ): Promise<HubError> {
    const { params } = incoming.request;
    const name = params?.value["name"];
    const known = target ?? { server: "", name: typeof name === "string" ? name : "" };
    const call = { ...known, group: group.name, client: clientOf(incoming), params, arrival: incoming };
    return this.#options.calls.refuse(call, thrown);
  }

  /** Passes the server's notifications to the client, with the client's task ids. */
  #notifier(incoming: IncomingRequest, server: string): (method: string, params: Raw) => void {
    return (method, params) => {
      const translated = this.#options.tasks.toClient(params, incoming, server);
      if (translated !== undefined) notify(incoming, method, translated);
    };
  }

  /** Arguments that a tool's schema wants in headers must be there and match. Only HTTP requests have such headers. */
  #headerProblem({ era, headers, request }: IncomingRequest, definition: JsonObject): string | undefined {
    if (era !== "modern" || headers["mcp-method"] === undefined) return undefined;
    const rules = this.#headerRules.of(definition);
    return rules.length === 0 ? undefined : headerMismatch(headers, request.method, request.params?.value, rules);
  }
}

/** Who may read what was cut from a result: the caller, in the same session. */
function keeperOf(incoming: IncomingRequest): string {
  return JSON.stringify([ownerOf(incoming), clientKey(incoming) ?? null]);
}

/** The client's revision. On stdio a client may send requests before `initialize`. */
export function versionOf({ era, session }: IncomingRequest): string {
  return era === "modern" ? MODERN_VERSION : (session?.version ?? LEGACY_VERSIONS[0]);
}

export function stringParam({ request }: IncomingRequest, key: string): string {
  const value = request.params?.value[key];
  if (typeof value === "string") return value;
  throw new HubError("InvalidArgument", `\`${key}\` must be a string`, { field: key });
}

function notify(incoming: IncomingRequest, method: string, params: Raw): void {
  if (method === "notifications/message" && !wantsLog(incoming, params.value)) return;
  incoming.notify(method, params);
}

/** A modern request without a level gets no logs; a legacy session without one gets all that its server sends. */
function wantsLog({ era, logLevel, session }: IncomingRequest, message: unknown): boolean {
  if (era === "modern") return logLevel !== undefined && passesLevel(message, logLevel);
  return passesLevel(message, session?.logLevel);
}

/** The client's name for the call log: that of the authenticated caller if it has one, or what the client calls itself. */
function clientOf({ session, request, requester }: IncomingRequest): string | undefined {
  if (requester?.clientName !== undefined) return requester.clientName;
  const meta = request.params?.value["_meta"];
  const info = session?.clientInfo ?? (isObject(meta) ? meta[META.clientInfo] : undefined);
  const name = isObject(info) ? info["name"] : undefined;
  return typeof name === "string" ? name.slice(0, 128) : undefined;
}
