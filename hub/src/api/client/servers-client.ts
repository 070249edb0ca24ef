// The part of the client about servers, which are identified by name or id.

import type { JsonObject } from "../../lib/json/json.ts";
import type { LogSource, ServerLogLevel } from "../schemas/log.ts";
import type { ParsedServers } from "../schemas/parse.ts";
import type { Logs, PackageUpdate, UpdatePreview, Server, StatusChange, TestResult, Usage } from "../schemas/server.ts";
import type { Prompt, ResourceTemplate, Tool, ToolDetail } from "../schemas/tool.ts";
import type { Connection } from "./connection.ts";
import { type EditOptions, ifMatch, serverPath } from "./request-parts.ts";

export interface LogFilter {
  /** Default: both. */
  readonly source?: LogSource | undefined;
  /** Omits MCP log messages below it. */
  readonly level?: ServerLogLevel | undefined;
}

export class ServersClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** In a `summary`, servers have only the numbers of their tools and resources. */
  list({ view }: { readonly view?: "full" | "summary" } = {}): Promise<Server[]> {
    return this.#hub.request("/servers", { query: { view } });
  }

  /** Reads pasted text as server entries: a command, an address, a package, the config of a client. */
  parse(text: string): Promise<ParsedServers> {
    return this.#hub.request("/servers/parse", { method: "POST", body: { text } });
  }

  get(id: string, { view }: { readonly view?: "full" | "summary" } = {}): Promise<Server> {
    return this.#hub.request(serverPath(id), { query: { view } });
  }

  create(entry: JsonObject, options?: EditOptions): Promise<Server> {
    return this.#hub.request("/servers", { method: "POST", body: entry, headers: ifMatch(options) });
  }

  update(id: string, entry: JsonObject, options?: EditOptions): Promise<Server> {
    return this.#hub.request(serverPath(id), { method: "PUT", body: entry, headers: ifMatch(options) });
  }

  /** JSON Merge Patch: null removes a member. */
  patch(id: string, patch: JsonObject, options?: EditOptions): Promise<Server> {
    const headers = { "content-type": "application/merge-patch+json", ...ifMatch(options) };
    return this.#hub.request(serverPath(id), { method: "PATCH", body: patch, headers });
  }

  delete(id: string, options?: EditOptions): Promise<void> {
    return this.#hub.request(serverPath(id), { method: "DELETE", headers: ifMatch(options) });
  }

  start(id: string): Promise<Server> {
    return this.#act(id, "start");
  }

  stop(id: string): Promise<Server> {
    return this.#act(id, "stop");
  }

  restart(id: string): Promise<Server> {
    return this.#act(id, "restart");
  }

  /** Saved only if the server starts. */
  enable(id: string): Promise<Server> {
    return this.#act(id, "enable");
  }

  disable(id: string): Promise<Server> {
    return this.#act(id, "disable");
  }

  /** Installs and runs the current version of its npm package. */
  updatePackage(id: string): Promise<PackageUpdate> {
    return this.#hub.request(`${serverPath(id)}/update`, { method: "POST" });
  }

  /** What an update would change in its tools. Nothing of the new version is left. */
  previewUpdate(id: string): Promise<UpdatePreview> {
    return this.#hub.request(`${serverPath(id)}/update/preview`, { method: "POST" });
  }

  /** Goes back to the version before the last update. */
  rollBackPackage(id: string): Promise<PackageUpdate> {
    return this.#hub.request(`${serverPath(id)}/update/rollback`, { method: "POST" });
  }

  /** Tests an entry without saving it. */
  test(entry: JsonObject): Promise<TestResult> {
    return this.#hub.request("/servers/test", { method: "POST", body: entry });
  }

  testSaved(id: string): Promise<TestResult> {
    return this.#hub.request(`${serverPath(id)}/test`, { method: "POST" });
  }

  tools(id: string): Promise<Tool[]> {
    return this.#hub.request(`${serverPath(id)}/tools`);
  }

  /** By its name on the server. */
  tool(id: string, name: string): Promise<ToolDetail> {
    return this.#hub.request(`${serverPath(id)}/tools/${encodeURIComponent(name)}`);
  }

  prompts(id: string): Promise<Prompt[]> {
    return this.#hub.request(`${serverPath(id)}/prompts`);
  }

  resourceTemplates(id: string): Promise<ResourceTemplate[]> {
    return this.#hub.request(`${serverPath(id)}/resource-templates`);
  }

  /** The last lines of its stderr, and its last MCP log messages. */
  logs(id: string, tail?: number, filter: LogFilter = {}): Promise<Logs> {
    return this.#hub.request(`${serverPath(id)}/logs`, { query: { tail, ...filter } });
  }

  /** Its states in the last seven days, oldest first; since a time: also the state that held then. */
  history(id: string, since?: string | number): Promise<StatusChange[]> {
    return this.#hub.request(`${serverPath(id)}/history`, { query: { since } });
  }

  /** Memory and CPU time of its processes; null if not known. */
  usage(id: string): Promise<Usage | null> {
    return this.#hub.request(`${serverPath(id)}/usage`);
  }

  #act(id: string, action: string): Promise<Server> {
    return this.#hub.request(`${serverPath(id)}/${action}`, { method: "POST" });
  }
}
