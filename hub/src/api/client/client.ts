// A typed client of the management API, with one method for each route. Errors are HubErrors of the same kind as in the hub.
// Imports only types from the server side.

import type { JsonObject } from "../../lib/json/json.ts";
import { ApprovalsClient } from "./approvals-client.ts";
import { CallsClient } from "./calls-client.ts";
import { ChatsClient } from "./chats-client.ts";
import { ConfigClient } from "./config-client.ts";
import { Connection, type ConnectionOptions, type RequestOptions } from "./connection.ts";
import { ConnectionsClient } from "./connections-client.ts";
import { GroupsClient } from "./groups-client.ts";
import { LoginsClient } from "./logins-client.ts";
import { MachineClient } from "./machine-client.ts";
import { type EditOptions, groupPath, ifMatch, serverPath } from "./request-parts.ts";
import { readEvents, type ReceivedEvent } from "./received-events.ts";
import { RegistryClient } from "./registry-client.ts";
import { SecretsClient } from "./secrets-client.ts";
import { ServerApprovalsClient } from "./server-approvals-client.ts";
import { ServersClient } from "./servers-client.ts";
import { GrantsClient } from "./grants-client.ts";
import { TokensClient } from "./tokens-client.ts";
import { AuditClient, UsersClient } from "./users-client.ts";
import type { LogLine } from "../schemas/log.ts";
import type { Session } from "../schemas/session.ts";
import type { Settings, SettingsPatch } from "../schemas/settings.ts";
import type { HubStatus } from "../schemas/status.ts";
import type { ToolCallResult, ToolIndex } from "../schemas/tool.ts";
import type { UiKey, UiSessionEntry } from "../schemas/ui.ts";

export interface ToolCallRequest {
  readonly server: string;
  readonly tool: string;
  readonly arguments?: JsonObject;
  readonly workflowId?: string;
}

export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/** A tool by its name on a server, or in a group. */
export type ToolTarget =
  | { readonly server: string; readonly tool: string }
  | { readonly group: string; readonly tool: string };

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
 * await hub.callTool({ server: "git", tool: "log", arguments: { n: 3 } });
 */
export class HubClient {
  /** Recorded calls, their figures, and calls that are under way. */
  readonly calls: CallsClient;
  /** What agents may see of the chats of chat servers. */
  readonly chats: ChatsClient;
  /** The config as a whole, and its files. */
  readonly config: ConfigClient;
  /** The logins and personal secrets of one person. */
  readonly connections: ConnectionsClient;
  readonly groups: GroupsClient;
  /** Logins at remote servers. */
  readonly logins: LoginsClient;
  /** Other MCP clients on the hub's machine, and their files. */
  readonly machine: MachineClient;
  /** Where servers are found. */
  readonly registry: RegistryClient;
  readonly secrets: SecretsClient;
  readonly servers: ServersClient;
  readonly grants: GrantsClient;
  readonly approvals: ApprovalsClient;
  readonly tokens: TokensClient;
  readonly users: UsersClient;
  readonly audit: AuditClient;
  /** Approvals of servers and of their tools. */
  readonly serverApprovals: ServerApprovalsClient;
  readonly #hub: Connection;

  constructor(options: ConnectionOptions) {
    this.#hub = new Connection(options);
    this.calls = new CallsClient(this.#hub);
    this.chats = new ChatsClient(this.#hub);
    this.config = new ConfigClient(this.#hub);
    this.connections = new ConnectionsClient(this.#hub);
    this.groups = new GroupsClient(this.#hub);
    this.logins = new LoginsClient(this.#hub);
    this.machine = new MachineClient(this.#hub);
    this.registry = new RegistryClient(this.#hub);
    this.secrets = new SecretsClient(this.#hub);
    this.servers = new ServersClient(this.#hub);
    this.grants = new GrantsClient(this.#hub);
    this.approvals = new ApprovalsClient(this.#hub);
    this.tokens = new TokensClient(this.#hub);
    this.users = new UsersClient(this.#hub);
    this.audit = new AuditClient(this.#hub);
    this.serverApprovals = new ServerApprovalsClient(this.#hub);
  }

  status(): Promise<HubStatus> {
    return this.#hub.request("/status");
  }

  /** The tools of all servers under their own names, or those of a group under the names that its clients see. */
  toolIndex(name?: string): Promise<ToolIndex> {
    const path = name === undefined ? "/tools" : `${groupPath(name)}/tools`;
    return this.#hub.request(path, { query: { view: "index" } });
  }

  /** The last lines of the hub's own log. */
  hubLogs(tail?: number): Promise<LogLine[]> {
    return this.#hub.request("/logs", { query: { tail } });
  }

  callTool(
    { server, tool, arguments: args = {}, workflowId }: ToolCallRequest,
    options?: CallOptions,
  ): Promise<ToolCallResult> {
    const body = { arguments: args, ...(workflowId === undefined ? {} : { workflow_id: workflowId }) };
    return this.#call(`${serverPath(server)}/tools/${encodeURIComponent(tool)}/call`, body, options);
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

  #call<T>(path: string, body: JsonObject, options?: CallOptions): Promise<T> {
    return this.#hub.request(path, toCall(body, options));
  }
}

function toCall(body: JsonObject, { timeoutMs, signal }: CallOptions = {}): RequestOptions {
  const timed = timeoutMs === undefined ? body : { ...body, timeout_ms: timeoutMs };
  return { method: "POST", body: timed, signal };
}
