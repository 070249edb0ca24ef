// A hub inside the command, with the operations of the management API but without HTTP.

import { EventEmitter, on } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { toCallResult } from "../../api/server/call-result.ts";
import { ServerApprovalCommands } from "../../api/server/commands/server-approvals.ts";
import { ConfigCommands } from "../../api/server/commands/config.ts";
import { GroupCommands } from "../../api/server/commands/groups.ts";
import { LifecycleCommands } from "../../api/server/commands/lifecycle.ts";
import { ConnectionCommands } from "../../api/server/commands/connections.ts";
import { OWNER_RIGHTS } from "../../api/server/commands/on-behalf.ts";
import { LoginCommands } from "../../api/server/commands/logins.ts";
import { RegistryCommands } from "../../api/server/commands/registry.ts";
import { SecretCommands } from "../../api/server/commands/secrets.ts";
import { ServerCommands } from "../../api/server/commands/servers.ts";
import { SettingsCommands } from "../../api/server/commands/settings.ts";
import { StatsCommands } from "../../api/server/commands/stats.ts";
import { OAuthCommands } from "../../api/server/commands/oauth.ts";
import { TokenCommands } from "../../api/server/commands/tokens.ts";
import { ToolCommands } from "../../api/server/commands/tools.ts";
import { AuditCommands } from "../../api/server/commands/audit.ts";
import { UserCommands } from "../../api/server/commands/users.ts";
import { audited, type Operation } from "../../api/server/route-audit.ts";
import { OWNER, ownerGrant } from "../../auth/grant.ts";
import type { Managed } from "../../api/server/core.ts";
import type { Hub } from "../../hub/hub.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { Raw, RawParams } from "../../protocol/rpc/jsonrpc.ts";
import type { Access, Api, LoginNews } from "./hub-access.ts";
import { CLIENT } from "./client-name.ts";
import type { Pipe } from "./interactive-call.ts";
import type { Io } from "../io.ts";
import { toStartup } from "./open-hub.ts";
import type { Output } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import type { HubFolders } from "./run-file.ts";

const CLOSE_MS = 500;

interface LocalOptions {
  readonly hub: Hub;
  readonly out: Output;
  readonly folders: HubFolders;
  readonly timeoutMs: number | undefined;
}

export class LocalAccess implements Access {
  readonly hub = undefined;
  readonly out: Output;
  readonly api: Api;
  readonly #io: Io;
  readonly #hub: Hub;
  readonly #places: HubFolders;
  readonly #tools: ToolCommands;
  readonly #use: { readonly timeoutMs: number | undefined; readonly client: string };

  constructor(io: Io, { hub, out, folders, timeoutMs }: LocalOptions) {
    this.#io = io;
    this.#hub = hub;
    this.#places = folders;
    this.#use = { timeoutMs, client: CLIENT };
    this.out = out;
    const managed = toManaged(hub, folders, io);
    this.#tools = new ToolCommands(managed);
    this.api = toApi(managed, this.#tools);
  }

  readonly where = (file: "mcp_server.json" | "group.json" | "secrets"): string =>
    this.#hub.databaseName ?? join(file === "secrets" ? this.#places.data : this.#places.config, file);

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

  listenForLogins(port: number): Promise<void> {
    return this.#hub.listenForLogins({ host: "127.0.0.1", port });
  }

  async *loginEvents({ onOpen, signal }: Parameters<Access["loginEvents"]>[0]): AsyncGenerator<LoginNews> {
    // Both events as one, so that they come in order.
    const news = new EventEmitter();
    const onLogin = () => news.emit("news", {});
    const onWarning = ({ message }: { readonly message: string }) => news.emit("news", { warning: message });
    const { events } = this.#hub;
    events.on("login", onLogin).on("warning", onWarning);
    const received = on(news, "news", { signal });
    try {
      await onOpen();
      for await (const [one] of received) yield one;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      events.off("login", onLogin).off("warning", onWarning);
    }
  }

  async callTool({ server, tool, args }: { server: string; tool: string; args: RawParams }): Promise<Raw> {
    return toRaw(toCallResult(await this.#tools.callOnServer(server, tool, args, this.#use)));
  }

  async callGroupTool({ group, tool, args }: { group: string; tool: string; args: RawParams }): Promise<Raw> {
    return toRaw(toCallResult(await this.#tools.callInGroup(group, tool, args, this.#use)));
  }

  async converse(group: string): Promise<Pipe> {
    const { StdioServer } = await import("../../protocol/serve/stdio-server.ts");
    const [input, output] = [new PassThrough(), new PassThrough()];
    const service = this.#hub.endpoint(group, { settled: Promise.resolve() });
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
  const registry = new RegistryCommands(managed, { servers, secrets });
  const tokens = new TokenCommands(managed);
  const oauth = new OAuthCommands(managed);
  const approvals = new ServerApprovalCommands(managed);
  const logins = new LoginCommands(managed);
  const connections = new ConnectionCommands(managed);
  const config = new ConfigCommands(managed);
  const settings = new SettingsCommands(managed);
  const stats = new StatsCommands(managed);
  const [users, audit] = [new UserCommands(managed), new AuditCommands(managed)];
  const context = { log: managed.hub.audit, by: ownerGrant({ kind: "owner", id: "cli", client: CLIENT }) };
  const noted = <T>(id: string, operation: Operation, effect: () => T | Promise<T>) =>
    Promise.resolve(audited(context, id, operation, effect));
  return {
    servers: {
      list: (options) => servers.list(options),
      get: (id) => servers.get(id),
      create: (entry) => noted("createServer", { body: entry }, () => servers.create(entry)),
      update: (id, entry) => noted("updateServer", { params: { id } }, () => servers.update(id, entry)),
      patch: (id, patch) => noted("patchServer", { params: { id } }, () => servers.patch(id, patch)),
      delete: (id) => noted("deleteServer", { params: { id } }, () => servers.delete(id)),
      enable: (id) => noted("enableServer", { params: { id } }, () => lifecycle.enable(id)),
      disable: (id) => noted("disableServer", { params: { id } }, () => lifecycle.disable(id)),
      updatePackage: (id) => lifecycle.update(id, new AbortController().signal),
      previewUpdate: (id) => lifecycle.previewUpdate(id, new AbortController().signal),
      rollBackPackage: (id) => lifecycle.rollBack(id, new AbortController().signal),
      test: (entry) => servers.test(entry),
      testSaved: (id) => servers.testSaved(id),
      tools: async (id) => tools.ofServer(id),
    },
    groups: {
      list: async () => groups.list(),
      get: async (name) => groups.get(name),
      create: (name, entry) => noted("createGroup", { params: { name } }, () => groups.create(name, entry)),
      set: (name, entry) => noted("setGroup", { params: { name } }, () => groups.set(name, entry)),
      delete: (name) => noted("deleteGroup", { params: { name } }, () => groups.delete(name)),
      tools: async (group) => tools.ofGroup(group),
    },
    settings: () => settings.show(),
    changeSettings: (patch) => noted("changeSettings", {}, () => settings.change(patch)),
    registry: {
      list: () => registry.list(),
      search: (query) => registry.search(query),
      get: (name, which) => registry.get(name, which),
      add: (input) => noted("addRegistryServer", { body: input }, () => registry.add(input)),
    },
    secrets: {
      list: () => secrets.list(),
      set: (name, value, options) => noted("setSecret", { params: { name } }, () => secrets.set(name, value, options)),
      delete: (name, options) => noted("deleteSecret", { params: { name } }, () => secrets.delete(name, options)),
      rotateKey: () => noted("rotateSecretKey", {}, () => secrets.rotateKey()),
    },
    tokens: {
      list: () => tokens.list(context.by),
      create: (input) => noted("createToken", { body: input }, () => tokens.make(input, context.by)),
      revoke: (name) =>
        noted("revokeToken", { params: { id: name } }, async () => void (await tokens.revoke(name, context.by))),
    },
    users: {
      list: () => users.list(),
      change: (id, patch) => noted("changeUser", { params: { id }, body: patch }, () => users.change(id, patch)),
      remove: (id) => noted("removeUser", { params: { id } }, () => users.remove(id, OWNER)),
    },
    audit: {
      search: (filter) => audit.search(filter ?? {}),
      verify: (note) => audit.verify(note),
    },
    grants: {
      list: () => oauth.grants(context.by),
      create: (input) => noted("createGrant", { body: input }, () => oauth.addProgram(input, context.by)),
      revoke: (id) => oauth.revoke(id, context.by),
      request: async (code) => oauth.request(code),
      approve: (code) => noted("approveAccessRequest", {}, () => oauth.approve(code, context.by)),
    },
    serverApprovals: {
      list: async () => approvals.list(),
      get: (id) => approvals.get(id),
      approve: (id, input) =>
        noted("approveServer", { params: { id }, body: input }, () => approvals.approve(id, input ?? {}, OWNER)),
    },
    logins: {
      begin: (id, input) => noted("beginLogin", { params: { id } }, () => logins.begin(id, OWNER_RIGHTS, input)),
      getAttempt: async (id) => logins.find(id, OWNER_RIGHTS),
      finish: (id, url) => logins.callback(id, OWNER_RIGHTS, url),
      cancel: async (id) => logins.cancel(id, OWNER_RIGHTS),
      list: () => logins.list(OWNER_RIGHTS),
      refresh: (id, whose) => logins.refresh(id, OWNER_RIGHTS, whose?.as),
      import: (id, taken) => noted("importLogin", { params: { id } }, () => logins.takeOver(id, OWNER_RIGHTS, taken)),
      logout: (id, whose) => noted("logout", { params: { id } }, () => logins.logout(id, OWNER_RIGHTS, whose?.as)),
    },
    connections: {
      get: (whose) => connections.show(OWNER_RIGHTS, whose?.for),
      setSecret: (name, value, whose) =>
        noted("setPersonalSecret", { params: { name } }, () =>
          connections.setSecret(OWNER_RIGHTS, name, value, whose?.for),
        ),
      deleteSecret: (name, whose) =>
        noted("deletePersonalSecret", { params: { name } }, () =>
          connections.deleteSecret(OWNER_RIGHTS, name, whose?.for),
        ),
    },
    config: { get: async () => config.show() },
    calls: { stats: (query) => stats.of({ server: query?.server, since: toTime(query?.since) }) },
  };
}

function toTime(time: string | number | undefined): number | undefined {
  return typeof time === "string" ? Date.parse(time) : time;
}

function toManaged(hub: Hub, paths: HubFolders, user: Io): Managed {
  return { hub, paths, user, callLog: hub.callLog };
}

function toRaw(bytes: Buffer): Raw {
  return { bytes, value: JSON.parse(bytes.toString()) };
}
