// A hub inside the command, in the shapes of the management API: the API's own commands, without HTTP in between.

import { join } from "node:path";
import { toCallResult } from "../api/call-result.ts";
import { ConfigCommands } from "../api/commands/config.ts";
import { GroupCommands } from "../api/commands/groups.ts";
import { LifecycleCommands } from "../api/commands/lifecycle.ts";
import { SecretCommands } from "../api/commands/secrets.ts";
import { ServerCommands } from "../api/commands/servers.ts";
import { ToolCommands, type CallOutcome } from "../api/commands/tools.ts";
import type { Managed } from "../api/core.ts";
import type { Hub } from "../hub.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import type { Raw } from "../wire/jsonrpc.ts";
import type { Access, Answer, Api } from "./access.ts";
import type { Io } from "./io.ts";
import { toStartup } from "./open-hub.ts";
import type { Output } from "./output.ts";
import { Progress } from "./progress.ts";
import type { Places } from "./record.ts";

export class LocalAccess implements Access {
  readonly hub = undefined;
  readonly out: Output;
  readonly api: Api;
  readonly #io: Io;
  readonly #hub: Hub;
  readonly #places: Places;
  readonly #tools: ToolCommands;

  constructor(io: Io, { hub, out, places }: { hub: Hub; out: Output; places: Places }) {
    this.#io = io;
    this.#hub = hub;
    this.#places = places;
    this.out = out;
    const managed = toManaged(hub, places);
    this.#tools = new ToolCommands(managed);
    this.api = toApi(managed, this.#tools);
  }

  readonly where = (file: "mcp_server.json" | "group.json" | "secrets"): string =>
    join(file === "secrets" ? this.#places.data : this.#places.config, file);

  async ready(server?: string): Promise<void> {
    const settled = server === undefined ? this.#hub.start() : this.#hub.supervisor.get(server).start();
    if (this.out.live) {
      const shown = () => this.#hub.supervisor.servers.filter(({ name }) => server === undefined || name === server);
      await new Progress(this.#io, this.out, () => shown().map(toStartup)).show(settled);
    }
    await settled;
  }

  async callTool({ server, tool, args }: { server: string; tool: string; args: JsonObject }): Promise<Answer> {
    return toAnswer(await this.#tools.callOnServer(server, tool, args));
  }

  async callGroupTool({ group, tool, args }: { group: string; tool: string; args: JsonObject }): Promise<Answer> {
    return toAnswer(await this.#tools.callInGroup(group, tool, args));
  }
}

function toApi(managed: Managed, tools: ToolCommands): Api {
  const servers = new ServerCommands(managed);
  const lifecycle = new LifecycleCommands(managed, servers);
  const groups = new GroupCommands(managed);
  const secrets = new SecretCommands(managed);
  const config = new ConfigCommands(managed);
  return {
    listServers: () => servers.list(),
    getServer: (id) => servers.get(id),
    createServer: (entry) => servers.create(entry),
    updateServer: (id, entry) => servers.update(id, entry),
    patchServer: (id, patch) => servers.patch(id, patch),
    deleteServer: (id) => servers.delete(id),
    enableServer: (id) => lifecycle.enable(id),
    disableServer: (id) => lifecycle.disable(id),
    testServer: (entry) => servers.test(entry),
    testSavedServer: (id) => servers.testSaved(id),
    listTools: async (id) => tools.ofServer(id),
    readResource: async (group, uri) => toObject(await tools.readResource(group, uri)),
    getPrompt: async (group, name, args) => toObject(await tools.getPrompt(group, name, args ?? {})),
    listGroups: async () => groups.list(),
    getGroup: async (name) => groups.get(name),
    setGroup: (name, entry) => groups.set(name, entry),
    deleteGroup: (name) => groups.delete(name),
    listGroupTools: async (group) => tools.ofGroup(group),
    listSecrets: () => secrets.list(),
    setSecret: (name, value) => secrets.set(name, value),
    deleteSecret: (name) => secrets.delete(name),
    config: async () => config.show(),
  };
}

/** There are no records yet: the hub is as old as the command. */
function toManaged(hub: Hub, paths: Places): Managed {
  return {
    hub,
    paths,
    callLog: { degraded: undefined, query: () => Promise.resolve({ items: [], next_cursor: null }) },
    latency: { metrics: () => [] },
  };
}

function toAnswer(outcome: CallOutcome): Answer {
  const { reply } = outcome;
  const json = toCallResult(outcome).toString();
  if (!reply.ok) {
    const { message } = toObject(reply.error);
    return { json, success: false, content: [], error: typeof message === "string" ? message : "" };
  }
  const { content, isError } = toObject(reply.result);
  return { json, success: isError !== true, content };
}

function toObject({ value }: Raw): JsonObject {
  return isObject(value) ? value : {};
}
