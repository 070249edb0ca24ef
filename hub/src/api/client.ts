// The management API for programs: one method for each thing that can be done with a running hub, with types. Failures
// are HubErrors of the same kind as inside the hub. It knows nothing of the server's side but its shapes.

import type { JsonObject } from "../wire/json.ts";
import { Connection, type ConnectionOptions, type Exchange } from "./connection.ts";
import { readEvents, type ReceivedEvent } from "./received-events.ts";
import type { Call, CallPage, LatencyMetrics, Stats } from "./schemas/call.ts";
import type {
  ConfigChangesView,
  ConfigCheck,
  ConfigDocument,
  ConfigView,
  KeyRotation,
  Secret,
} from "./schemas/config.ts";
import type { GroupInput, GroupView } from "./schemas/group.ts";
import type { Logs, PackageUpdate, Server, TestResult } from "./schemas/server.ts";
import type { HubStatus } from "./schemas/status.ts";
import type { GroupTool, Tool, ToolCallResult } from "./schemas/tool.ts";

/** S4's request of a tool call. */
export interface ToolCallRequest {
  readonly server_name: string;
  readonly tool_name: string;
  readonly arguments?: JsonObject;
  readonly workflow_id?: string;
}

export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
  /** Whoever repeats a call with the same key gets the first answer, and the tool is not called again. */
  readonly idempotencyKey?: string;
}

/** A tool by the name that its server knows, or by the one that a group exposes. */
export type ToolTarget =
  | { readonly server: string; readonly tool: string }
  | { readonly group: string; readonly tool: string };

export interface CreateOptions extends EditOptions {
  /** Whoever repeats a request with the same key gets the first answer, and nothing is created again. */
  readonly idempotencyKey?: string;
}

export interface EditOptions {
  /** Only if the config still has this revision. */
  readonly revision?: string;
}

/** Times are ISO 8601, or milliseconds since the epoch. */
export interface CallsQuery {
  readonly server?: string;
  readonly tool?: string;
  readonly group?: string;
  readonly client?: string;
  readonly workflow_id?: string;
  readonly outcome?: Call["outcome"];
  readonly success?: boolean;
  readonly since?: string | number;
  readonly until?: string | number;
  readonly slower_than_ms?: number;
  /** Only calls recorded after the one with this id. */
  readonly after?: number;
  readonly limit?: number;
  readonly cursor?: string;
}

/** Since then; all that is recorded unless told. */
export type StatsQuery = Pick<CallsQuery, "server" | "since">;

export interface EventsOptions {
  /** Of `server`, `log`, `catalog`, `call`, `config`, `warning`, or single events; all unless told. */
  readonly topics?: readonly string[];
  readonly server?: string;
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
  /** Nothing from now on is missed, and nothing is handed out before this resolves: the time to read what was before. */
  readonly onOpen?: () => Promise<void>;
}

/**
 * A hub, over its management API. Servers are named by name or id.
 *
 * @example
 * const hub = new HubClient({ url: "http://127.0.0.1:7430", token });
 * await hub.callTool({ server_name: "git", tool_name: "log", arguments: { n: 3 } });
 */
export class HubClient {
  readonly #hub: Connection;

  constructor(options: ConnectionOptions) {
    this.#hub = new Connection(options);
  }

  status(): Promise<HubStatus> {
    return this.#hub.ask("/status");
  }

  /** In a `summary` servers have the numbers of their tools and resources alone. */
  listServers({ view }: { readonly view?: "full" | "summary" } = {}): Promise<Server[]> {
    return this.#hub.ask("/servers", { query: { view } });
  }

  getServer(id: string): Promise<Server> {
    return this.#hub.ask(server(id));
  }

  createServer(entry: JsonObject, options?: CreateOptions): Promise<Server> {
    return this.#hub.ask("/servers", {
      method: "POST",
      body: entry,
      headers: { ...ifMatch(options), ...keyOf(options) },
    });
  }

  updateServer(id: string, entry: JsonObject, options?: EditOptions): Promise<Server> {
    return this.#hub.ask(server(id), { method: "PUT", body: entry, headers: ifMatch(options) });
  }

  /** JSON Merge Patch: null removes a member. */
  patchServer(id: string, patch: JsonObject, options?: EditOptions): Promise<Server> {
    const headers = { "content-type": "application/merge-patch+json", ...ifMatch(options) };
    return this.#hub.ask(server(id), { method: "PATCH", body: patch, headers });
  }

  deleteServer(id: string, options?: EditOptions): Promise<void> {
    return this.#hub.ask(server(id), { method: "DELETE", headers: ifMatch(options) });
  }

  startServer(id: string): Promise<Server> {
    return this.#act(id, "start");
  }

  stopServer(id: string): Promise<Server> {
    return this.#act(id, "stop");
  }

  restartServer(id: string): Promise<Server> {
    return this.#act(id, "restart");
  }

  /** On for good, if it also starts. */
  enableServer(id: string): Promise<Server> {
    return this.#act(id, "enable");
  }

  disableServer(id: string): Promise<Server> {
    return this.#act(id, "disable");
  }

  /** Installs what its npm package is today, and runs that. */
  updatePackage(id: string): Promise<PackageUpdate> {
    return this.#hub.ask(`${server(id)}/update`, { method: "POST" });
  }

  /** Tries an entry that is not saved. */
  testServer(entry: JsonObject): Promise<TestResult> {
    return this.#hub.ask("/servers/test", { method: "POST", body: entry });
  }

  testSavedServer(id: string): Promise<TestResult> {
    return this.#hub.ask(`${server(id)}/test`, { method: "POST" });
  }

  listTools(id: string): Promise<Tool[]> {
    return this.#hub.ask(`${server(id)}/tools`);
  }

  /** The last lines of its stderr. */
  serverLogs(id: string, tail?: number): Promise<Logs> {
    return this.#hub.ask(`${server(id)}/logs`, { query: { tail } });
  }

  callTool(request: ToolCallRequest, options?: CallOptions): Promise<ToolCallResult> {
    const { server_name, tool_name, arguments: args = {}, workflow_id } = request;
    const body = { arguments: args, ...(workflow_id === undefined ? {} : { workflow_id }) };
    return this.#use(`${server(server_name)}/tools/${encodeURIComponent(tool_name)}/call`, body, options);
  }

  /** By the name that the group exposes, or `server:tool`. */
  callGroupTool(name: string, tool: string, args: JsonObject = {}, options?: CallOptions): Promise<ToolCallResult> {
    return this.#use(`${group(name)}/tools/${encodeURIComponent(tool)}/call`, { arguments: args }, options);
  }

  /** S4's result byte by byte, for numbers that JavaScript cannot hold. The arguments are JSON, too. */
  callToolRaw(target: ToolTarget, args: Buffer, { timeoutMs, signal, ...key }: CallOptions = {}): Promise<Buffer> {
    const timed = timeoutMs === undefined ? "" : `,"timeout_ms":${timeoutMs}`;
    const body = Buffer.concat([Buffer.from('{"arguments":'), args, Buffer.from(`${timed}}`)]);
    const owner = "server" in target ? server(target.server) : group(target.group);
    const path = `${owner}/tools/${encodeURIComponent(target.tool)}/call`;
    return this.#hub.askBytes(path, { method: "POST", body, headers: keyOf(key), signal });
  }

  /** The same, byte by byte. */
  readResourceRaw(name: string, uri: string, options?: CallOptions): Promise<Buffer> {
    return this.#hub.askBytes(`${group(name)}/resources/read`, toUse({ uri }, options));
  }

  /** The same, byte by byte. */
  getPromptRaw(name: string, prompt: string, args: JsonObject = {}, options?: CallOptions): Promise<Buffer> {
    const path = `${group(name)}/prompts/${encodeURIComponent(prompt)}/get`;
    return this.#hub.askBytes(path, toUse({ arguments: args }, options));
  }

  /** The server's own result: `contents`. */
  readResource(name: string, uri: string, options?: CallOptions): Promise<JsonObject> {
    return this.#use(`${group(name)}/resources/read`, { uri }, options);
  }

  /** The server's own result: `messages`. */
  getPrompt(name: string, prompt: string, args: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.#use(`${group(name)}/prompts/${encodeURIComponent(prompt)}/get`, { arguments: args }, options);
  }

  listGroups(): Promise<GroupView[]> {
    return this.#hub.ask("/groups");
  }

  getGroup(name: string): Promise<GroupView> {
    return this.#hub.ask(group(name));
  }

  /** Fails where there is one of this name. */
  createGroup(name: string, entry: GroupInput, options?: CreateOptions): Promise<GroupView> {
    const headers = { ...ifMatch(options), ...keyOf(options) };
    return this.#hub.ask("/groups", { method: "POST", body: { ...entry, name }, headers });
  }

  setGroup(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    return this.#hub.ask(group(name), { method: "PUT", body: entry, headers: ifMatch(options) });
  }

  deleteGroup(name: string, options?: EditOptions): Promise<void> {
    return this.#hub.ask(group(name), { method: "DELETE", headers: ifMatch(options) });
  }

  listGroupTools(name: string): Promise<GroupTool[]> {
    return this.#hub.ask(`${group(name)}/tools`);
  }

  /** Names and who uses them; a value never comes back. */
  listSecrets(): Promise<Secret[]> {
    return this.#hub.ask("/secrets");
  }

  /** `unlessDifferent`: where it is stored with another value, that stays, and this fails. */
  setSecret(name: string, value: string, { unlessDifferent = false } = {}): Promise<Secret> {
    const body = unlessDifferent ? { value, unless_different: true } : { value };
    return this.#hub.ask(secret(name), { method: "PUT", body });
  }

  /** One that servers use only with `force`. */
  deleteSecret(name: string, { force }: { readonly force?: boolean | undefined } = {}): Promise<void> {
    return this.#hub.ask(secret(name), { method: "DELETE", query: { force } });
  }

  /** Encrypts all secrets with a new key. */
  rotateSecretKey(): Promise<KeyRotation> {
    return this.#hub.ask("/secrets/rotate-key", { method: "POST" });
  }

  calls(query: CallsQuery = {}): Promise<CallPage> {
    return this.#hub.ask("/calls", { query: { ...query } });
  }

  /** One of them. */
  call(id: number): Promise<Call> {
    return this.#hub.ask(`/calls/${id}`);
  }

  /** Of the last 24 hours. */
  latency(name?: string): Promise<LatencyMetrics[]> {
    return this.#hub.ask("/metrics/latency", { query: { server: name } });
  }

  /** Per server and tool, from the call log; also of servers that are gone. */
  stats(query: StatsQuery = {}): Promise<Stats[]> {
    return this.#hub.ask("/stats", { query: { ...query } });
  }

  config(): Promise<ConfigView> {
    return this.#hub.ask("/config");
  }

  validateConfig(document: JsonObject): Promise<ConfigCheck> {
    return this.#hub.ask("/config/validate", { method: "POST", body: document });
  }

  exportConfig(): Promise<ConfigDocument> {
    return this.#hub.ask("/config/export");
  }

  reloadConfig(): Promise<ConfigChangesView> {
    return this.#hub.ask("/config/reload", { method: "POST" });
  }

  /** What happens in the hub, as it happens. Ends when the hub ends the stream, or when the signal says so. */
  async *events(options: EventsOptions = {}): AsyncGenerator<ReceivedEvent> {
    const { topics, server: name, lastEventId, signal, onOpen } = options;
    const body = await this.#hub.open("/events", {
      query: { topics: topics?.join(","), server: name },
      headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
      signal,
    });
    await onOpen?.();
    yield* readEvents(body, signal);
  }

  #act(id: string, action: string): Promise<Server> {
    return this.#hub.ask(`${server(id)}/${action}`, { method: "POST" });
  }

  #use<T>(path: string, body: JsonObject, options?: CallOptions): Promise<T> {
    return this.#hub.ask(path, toUse(body, options));
  }
}

function toUse(body: JsonObject, { timeoutMs, signal, ...key }: CallOptions = {}): Exchange {
  const timed = timeoutMs === undefined ? body : { ...body, timeout_ms: timeoutMs };
  return { method: "POST", body: timed, headers: keyOf(key), signal };
}

function keyOf({ idempotencyKey }: Pick<CallOptions, "idempotencyKey"> = {}): Record<string, string> {
  return idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
}

const server = (id: string) => `/servers/${encodeURIComponent(id)}`;
const group = (name: string) => `/groups/${encodeURIComponent(name)}`;
const secret = (name: string) => `/secrets/${encodeURIComponent(name)}`;

function ifMatch({ revision }: EditOptions = {}): Record<string, string> {
  return revision === undefined ? {} : { "if-match": `"${revision}"` };
}
