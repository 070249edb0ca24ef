// A hub inside the command, in the shapes of the management API: the API's own commands, without HTTP in between.

import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { toCallResult } from "../api/call-result.ts";
import { ConfigCommands } from "../api/commands/config.ts";
import { GroupCommands } from "../api/commands/groups.ts";
import { LifecycleCommands } from "../api/commands/lifecycle.ts";
import { SecretCommands } from "../api/commands/secrets.ts";
import { ServerCommands } from "../api/commands/servers.ts";
import { StatsCommands } from "../api/commands/stats.ts";
import { ToolCommands } from "../api/commands/tools.ts";
import type { Managed } from "../api/core.ts";
import type { Hub } from "../hub.ts";
import type { JsonObject } from "../wire/json.ts";
import type { Raw, RawParams } from "../wire/jsonrpc.ts";
import type { Access, Api } from "./access.ts";
import { CLIENT } from "./client-name.ts";
import type { Pipe } from "./interactive-call.ts";
import type { Io } from "./io.ts";
import { toStartup } from "./open-hub.ts";
import type { Output } from "./output.ts";
import { Progress } from "./progress.ts";
import type { Places } from "./record.ts";

const CLOSE_MS = 500;

interface LocalOptions {
  readonly hub: Hub;
  readonly out: Output;
  readonly places: Places;
  readonly timeoutMs: number | undefined;
}

export class LocalAccess implements Access {
  readonly hub = undefined;
  readonly out: Output;
  readonly api: Api;
  readonly #io: Io;
  readonly #hub: Hub;
  readonly #places: Places;
  readonly #tools: ToolCommands;
  readonly #use: { readonly timeoutMs: number | undefined; readonly client: string };

  constructor(io: Io, { hub, out, places, timeoutMs }: LocalOptions) {
    this.#io = io;
    this.#hub = hub;
    this.#places = places;
    this.#use = { timeoutMs, client: CLIENT };
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

  mentionNoHub(): void {
    if (!this.out.json) this.out.note("No hub is running: plugboard start");
  }

  async callTool({ server, tool, args }: { server: string; tool: string; args: RawParams }): Promise<Raw> {
    return toRaw(toCallResult(await this.#tools.callOnServer(server, tool, args, this.#use)));
  }

  async callGroupTool({ group, tool, args }: { group: string; tool: string; args: RawParams }): Promise<Raw> {
    return toRaw(toCallResult(await this.#tools.callInGroup(group, tool, args, this.#use)));
  }

  async converse(group: string): Promise<Pipe> {
    const { StdioServer } = await import("../wire/stdio-server.ts");
    const [input, output] = [new PassThrough(), new PassThrough()];
    const service = this.#hub.endpoint(group, Promise.resolve());
    const server = new StdioServer({ input, output, service });
    const close = async () => {
      input.end();
      service.close();
      await Promise.race([server.ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    };
    return { input, output, close };
  }

  readResource(group: string, uri: string): Promise<Raw> {
    return this.#tools.readResource(group, uri, this.#use);
  }

  getPrompt(group: string, prompt: string, args: JsonObject): Promise<Raw> {
    return this.#tools.getPrompt(group, prompt, args, this.#use);
  }
}

function toApi(managed: Managed, tools: ToolCommands): Api {
  const servers = new ServerCommands(managed);
  const lifecycle = new LifecycleCommands(managed, servers);
  const groups = new GroupCommands(managed);
  const secrets = new SecretCommands(managed);
  const config = new ConfigCommands(managed);
  const stats = new StatsCommands(managed);
  return {
    listServers: (options) => servers.list(options),
    getServer: (id) => servers.get(id),
    createServer: (entry) => servers.create(entry),
    updateServer: (id, entry) => servers.update(id, entry),
    patchServer: (id, patch) => servers.patch(id, patch),
    deleteServer: (id) => servers.delete(id),
    enableServer: (id) => lifecycle.enable(id),
    disableServer: (id) => lifecycle.disable(id),
    updatePackage: (id) => lifecycle.update(id, new AbortController().signal),
    testServer: (entry) => servers.test(entry),
    testSavedServer: (id) => servers.testSaved(id),
    listTools: async (id) => tools.ofServer(id),
    listGroups: async () => groups.list(),
    getGroup: async (name) => groups.get(name),
    createGroup: (name, entry) => groups.create(name, entry),
    setGroup: (name, entry) => groups.set(name, entry),
    deleteGroup: (name) => groups.delete(name),
    listGroupTools: async (group) => tools.ofGroup(group),
    listSecrets: () => secrets.list(),
    setSecret: (name, value, options) => secrets.set(name, value, options),
    deleteSecret: (name, options) => secrets.delete(name, options),
    rotateSecretKey: () => secrets.rotateKey(),
    config: async () => config.show(),
    stats: (query) => stats.of({ server: query?.server, since: toTime(query?.since) }),
  };
}

function toTime(time: string | number | undefined): number | undefined {
  return typeof time === "string" ? Date.parse(time) : time;
}

function toManaged(hub: Hub, paths: Places): Managed {
  return { hub, paths, callLog: hub.callLog };
}

function toRaw(bytes: Buffer): Raw {
  return { bytes, value: JSON.parse(bytes.toString()) };
}
