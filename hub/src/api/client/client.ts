// A typed client of the management API, with one method for each route. Errors are HubErrors of the same kind as in the hub.
// Imports only types from the server side.

import type { JsonObject } from "../../lib/json/json.ts";
import { CallsClient } from "./calls-client.ts";
import { ChatsClient } from "./chats-client.ts";
import { ConfigClient } from "./config-client.ts";
import { Connection, type ConnectionOptions, type RequestOptions } from "./connection.ts";
import { ConnectionsClient } from "./connections-client.ts";
import { LoginsClient } from "./logins-client.ts";
import { MachineClient } from "./machine-client.ts";
import { type EditOptions, groupPath, ifMatch, serverPath } from "./request-parts.ts";
import { readEvents, type ReceivedEvent } from "./received-events.ts";
import { SecretsClient } from "./secrets-client.ts";
import { GrantsClient } from "./grants-client.ts";
import { TokensClient } from "./tokens-client.ts";
import { AuditClient, UsersClient } from "./users-client.ts";
import type { ParsedServers } from "../schemas/parse.ts";
import type { GroupInput, GroupPreview, GroupPreviewInput, GroupView } from "../schemas/group.ts";
import type { Logs, PackageUpdate, Server, StatusChange, TestResult, Usage } from "../schemas/server.ts";
import type { LogLine, LogSource, ServerLogLevel } from "../schemas/log.ts";
import type { Session } from "../schemas/session.ts";
import type { Settings, SettingsPatch } from "../schemas/settings.ts";
import type { HubStatus } from "../schemas/status.ts";
import type {
  GroupTool,
  GroupToolDetail,
  Prompt,
  ResourceTemplate,
  Tool,
  ToolCallResult,
  ToolDetail,
  ToolIndex,
} from "../schemas/tool.ts";
import type { UiKey, UiSessionEntry } from "../schemas/ui.ts";

export interface ToolCallRequest {
  readonly server_name: string;
  readonly tool_name: string;
  readonly arguments?: JsonObject;
  readonly workflow_id?: string;
}

export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/** A tool by its name on a server, or in a group. */
export type ToolTarget =
  | { readonly server: string; readonly tool: string }
  | { readonly group: string; readonly tool: string };

export interface LogFilter {
  /** Default: both. */
  readonly source?: LogSource | undefined;
  /** Omits MCP log messages below it. */
  readonly level?: ServerLogLevel | undefined;
}

export interface EventsOptions {
  /** `server`, `log`, `catalog`, `call`, `session`, `config`, `logins`, `warning`, or names of events. Default: all. */
  readonly topics?: readonly string[];
  readonly server?: string;
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
  /** Called when the stream is open. Events are delivered after it resolves, so that it can read the state before them. */
  readonly onOpen?: () => Promise<void>;
}

/**
 * Client of the management API. Servers are identified by name or id.
 *
 * @example
 * const hub = new HubClient({ url: "http://127.0.0.1:7430", token });
 * await hub.callTool({ server_name: "git", tool_name: "log", arguments: { n: 3 } });
 */
export class HubClient {
  /** Recorded calls, their figures, and calls that are under way. */
  readonly calls: CallsClient;
  /** What agents may see of the chats of chat servers. */
  readonly chats: ChatsClient;
  /** The config as a whole, and its files. */
  readonly config: ConfigClient;
  /** Logins at remote servers. */
  /** The logins and personal secrets of one person. */
  readonly connections: ConnectionsClient;
  readonly logins: LoginsClient;
  /** Other MCP clients on the hub's machine, and their files. */
  readonly machine: MachineClient;
  readonly secrets: SecretsClient;
  readonly grants: GrantsClient;
  readonly tokens: TokensClient;
  readonly users: UsersClient;
  readonly audit: AuditClient;
  readonly #hub: Connection;

  constructor(options: ConnectionOptions) {
    this.#hub = new Connection(options);
    this.calls = new CallsClient(this.#hub);
    this.chats = new ChatsClient(this.#hub);
    this.config = new ConfigClient(this.#hub);
    this.connections = new ConnectionsClient(this.#hub);
    this.logins = new LoginsClient(this.#hub);
    this.machine = new MachineClient(this.#hub);
    this.secrets = new SecretsClient(this.#hub);
    this.grants = new GrantsClient(this.#hub);
    this.tokens = new TokensClient(this.#hub);
    this.users = new UsersClient(this.#hub);
    this.audit = new AuditClient(this.#hub);
  }

  status(): Promise<HubStatus> {
    return this.#hub.request("/status");
  }

  /** In a `summary`, servers have only the numbers of their tools and resources. */
  listServers({ view }: { readonly view?: "full" | "summary" } = {}): Promise<Server[]> {
    return this.#hub.request("/servers", { query: { view } });
  }

  /** Reads pasted text as server entries: a command, an address, a package, the config of a client. */
  parseServers(text: string): Promise<ParsedServers> {
    return this.#hub.request("/servers/parse", { method: "POST", body: { text } });
  }

  getServer(id: string, { view }: { readonly view?: "full" | "summary" } = {}): Promise<Server> {
    return this.#hub.request(serverPath(id), { query: { view } });
  }

  createServer(entry: JsonObject, options?: EditOptions): Promise<Server> {
    return this.#hub.request("/servers", { method: "POST", body: entry, headers: ifMatch(options) });
  }

  updateServer(id: string, entry: JsonObject, options?: EditOptions): Promise<Server> {
    return this.#hub.request(serverPath(id), { method: "PUT", body: entry, headers: ifMatch(options) });
  }

  /** JSON Merge Patch: null removes a member. */
  patchServer(id: string, patch: JsonObject, options?: EditOptions): Promise<Server> {
    const headers = { "content-type": "application/merge-patch+json", ...ifMatch(options) };
    return this.#hub.request(serverPath(id), { method: "PATCH", body: patch, headers });
  }

  deleteServer(id: string, options?: EditOptions): Promise<void> {
    return this.#hub.request(serverPath(id), { method: "DELETE", headers: ifMatch(options) });
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

  /** Saved only if the server starts. */
  enableServer(id: string): Promise<Server> {
    return this.#act(id, "enable");
  }

  disableServer(id: string): Promise<Server> {
    return this.#act(id, "disable");
  }

  /** Installs and runs the current version of its npm package. */
  updatePackage(id: string): Promise<PackageUpdate> {
    return this.#hub.request(`${serverPath(id)}/update`, { method: "POST" });
  }

  /** Tests an entry without saving it. */
  testServer(entry: JsonObject): Promise<TestResult> {
    return this.#hub.request("/servers/test", { method: "POST", body: entry });
  }

  testSavedServer(id: string): Promise<TestResult> {
    return this.#hub.request(`${serverPath(id)}/test`, { method: "POST" });
  }

  listTools(id: string): Promise<Tool[]> {
    return this.#hub.request(`${serverPath(id)}/tools`);
  }

  /** By its name on the server. */
  getTool(id: string, name: string): Promise<ToolDetail> {
    return this.#hub.request(`${serverPath(id)}/tools/${encodeURIComponent(name)}`);
  }

  listPrompts(id: string): Promise<Prompt[]> {
    return this.#hub.request(`${serverPath(id)}/prompts`);
  }

  listResourceTemplates(id: string): Promise<ResourceTemplate[]> {
    return this.#hub.request(`${serverPath(id)}/resource-templates`);
  }

  /** The tools of all servers under their own names, or those of a group under the names that its clients see. */
  toolIndex(name?: string): Promise<ToolIndex> {
    const path = name === undefined ? "/tools" : `${groupPath(name)}/tools`;
    return this.#hub.request(path, { query: { view: "index" } });
  }

  /** The last lines of its stderr, and its last MCP log messages. */
  serverLogs(id: string, tail?: number, filter: LogFilter = {}): Promise<Logs> {
    return this.#hub.request(`${serverPath(id)}/logs`, { query: { tail, ...filter } });
  }

  /** Its states in the last seven days, oldest first; since a time: also the state that held then. */
  serverHistory(id: string, since?: string | number): Promise<StatusChange[]> {
    return this.#hub.request(`${serverPath(id)}/history`, { query: { since } });
  }

  /** Memory and CPU time of its processes; null if not known. */
  serverUsage(id: string): Promise<Usage | null> {
    return this.#hub.request(`${serverPath(id)}/usage`);
  }

  /** The last lines of the hub's own log. */
  hubLogs(tail?: number): Promise<LogLine[]> {
    return this.#hub.request("/logs", { query: { tail } });
  }

  callTool(request: ToolCallRequest, options?: CallOptions): Promise<ToolCallResult> {
    const { server_name, tool_name, arguments: args = {}, workflow_id } = request;
    const body = { arguments: args, ...(workflow_id === undefined ? {} : { workflow_id }) };
    return this.#call(`${serverPath(server_name)}/tools/${encodeURIComponent(tool_name)}/call`, body, options);
  }

  /** By the name in the group, or `server:tool`. */
  callGroupTool(name: string, tool: string, args: JsonObject = {}, options?: CallOptions): Promise<ToolCallResult> {
    return this.#call(`${groupPath(name)}/tools/${encodeURIComponent(tool)}/call`, { arguments: args }, options);
  }

  /** The JSON of the result, for numbers that JavaScript cannot represent. The arguments are JSON too. */
  callToolRaw(target: ToolTarget, args: Buffer, { timeoutMs, signal }: CallOptions = {}): Promise<Buffer> {
    const timeout = timeoutMs === undefined ? "" : `,"timeout_ms":${timeoutMs}`;
    const body = Buffer.concat([Buffer.from('{"arguments":'), args, Buffer.from(`${timeout}}`)]);
    const owner = "server" in target ? serverPath(target.server) : groupPath(target.group);
    const path = `${owner}/tools/${encodeURIComponent(target.tool)}/call`;
    return this.#hub.requestBytes(path, { method: "POST", body, signal });
  }

  /** The JSON of the result. */
  readResourceRaw(name: string, uri: string, options?: CallOptions): Promise<Buffer> {
    return this.#hub.requestBytes(`${groupPath(name)}/resources/read`, toCall({ uri }, options));
  }

  /** The JSON of the result. */
  getPromptRaw(name: string, prompt: string, args: JsonObject = {}, options?: CallOptions): Promise<Buffer> {
    const path = `${groupPath(name)}/prompts/${encodeURIComponent(prompt)}/get`;
    return this.#hub.requestBytes(path, toCall({ arguments: args }, options));
  }

  /** The result of the server, with `contents`. */
  readResource(name: string, uri: string, options?: CallOptions): Promise<JsonObject> {
    return this.#call(`${groupPath(name)}/resources/read`, { uri }, options);
  }

  /** The result of the server, with `messages`. */
  getPrompt(name: string, prompt: string, args: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.#call(`${groupPath(name)}/prompts/${encodeURIComponent(prompt)}/get`, { arguments: args }, options);
  }

  listGroups(): Promise<GroupView[]> {
    return this.#hub.request("/groups");
  }

  getGroup(name: string): Promise<GroupView> {
    return this.#hub.request(groupPath(name));
  }

  /** Fails if the group exists. */
  createGroup(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    return this.#hub.request("/groups", { method: "POST", body: { ...entry, name }, headers: ifMatch(options) });
  }

  /** What a group would expose; saves nothing. */
  previewGroup(input: GroupPreviewInput): Promise<GroupPreview> {
    return this.#hub.request("/groups/preview", { method: "POST", body: input });
  }

  setGroup(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    return this.#hub.request(groupPath(name), { method: "PUT", body: entry, headers: ifMatch(options) });
  }

  deleteGroup(name: string, options?: EditOptions): Promise<void> {
    return this.#hub.request(groupPath(name), { method: "DELETE", headers: ifMatch(options) });
  }

  listGroupTools(name: string): Promise<GroupTool[]> {
    return this.#hub.request(`${groupPath(name)}/tools`);
  }

  /** By the name that clients see, or `server:tool`. */
  getGroupTool(name: string, tool: string): Promise<GroupToolDetail> {
    return this.#hub.request(`${groupPath(name)}/tools/${encodeURIComponent(tool)}`);
  }

  /** Connected clients. */
  listSessions(): Promise<Session[]> {
    return this.#hub.request("/sessions");
  }

  endSession(id: string): Promise<void> {
    return this.#hub.request(`/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  settings(): Promise<Settings> {
    return this.#hub.request("/settings");
  }

  /** Null restores a default. The answer has all settings. */
  changeSettings(patch: SettingsPatch, options?: EditOptions): Promise<Settings> {
    const headers = { "content-type": "application/merge-patch+json", ...ifMatch(options) };
    return this.#hub.request("/settings", { method: "PATCH", body: patch, headers });
  }

  /** A link that signs one browser in to the web interface. */
  createUiKey(): Promise<UiKey> {
    return this.#hub.request("/ui/keys", { method: "POST" });
  }

  /** Browsers that are signed in to the web interface. */
  listUiSessions(): Promise<UiSessionEntry[]> {
    return this.#hub.request("/ui/sessions");
  }

  /** Signs all browsers out. */
  signOutAll(): Promise<void> {
    return this.#hub.request("/ui/sessions", { method: "DELETE" });
  }

  /** Events of the hub. Ends when the hub ends the stream, or when the signal is aborted. */
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
    return this.#hub.request(`${serverPath(id)}/${action}`, { method: "POST" });
  }

  #call<T>(path: string, body: JsonObject, options?: CallOptions): Promise<T> {
    return this.#hub.request(path, toCall(body, options));
  }
}

function toCall(body: JsonObject, { timeoutMs, signal }: CallOptions = {}): RequestOptions {
  const timed = timeoutMs === undefined ? body : { ...body, timeout_ms: timeoutMs };
  return { method: "POST", body: timed, signal };
}
