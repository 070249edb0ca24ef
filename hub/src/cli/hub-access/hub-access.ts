// The hub that a command works with: the running one over its API, or one inside the command. Both return the shapes of the API,
// so commands do not care which one they have.

import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerApprovalsClient } from "../../api/client/server-approvals-client.ts";
import type { CallsClient } from "../../api/client/calls-client.ts";
import type { HubClient } from "../../api/client/client.ts";
import type { ConfigClient } from "../../api/client/config-client.ts";
import type { ConnectionsClient } from "../../api/client/connections-client.ts";
import type { GroupsClient } from "../../api/client/groups-client.ts";
import type { LoginsClient } from "../../api/client/logins-client.ts";
import type { RegistryClient } from "../../api/client/registry-client.ts";
import type { SecretsClient } from "../../api/client/secrets-client.ts";
import type { ServersClient } from "../../api/client/servers-client.ts";
import type { GrantsClient } from "../../api/client/grants-client.ts";
import type { TokensClient } from "../../api/client/tokens-client.ts";
import type { AuditClient, UsersClient } from "../../api/client/users-client.ts";
import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type { Raw, RawParams } from "../../protocol/rpc/jsonrpc.ts";
import { findHub, type RunningHub } from "./find-hub.ts";
import type { Pipe } from "./interactive-call.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import { hubFoldersOf } from "./run-file.ts";
import { timeoutOf, within } from "../input/timeout.ts";

/** Operations on servers that need a running hub. */
type RunningOnly =
  | "parse"
  | "start"
  | "stop"
  | "restart"
  | "tool"
  | "prompts"
  | "resourceTemplates"
  | "logs"
  | "history"
  | "usage";

/** The operations of both. */
export type Api = Pick<HubClient, "settings" | "changeSettings"> & {
  readonly servers: Omit<Pick<ServersClient, keyof ServersClient>, RunningOnly>;
  readonly groups: Omit<Pick<GroupsClient, keyof GroupsClient>, "preview" | "tool">;
  readonly registry: Pick<RegistryClient, keyof RegistryClient>;
  readonly secrets: Pick<SecretsClient, "list" | "set" | "delete" | "rotateKey">;
  readonly connections: Pick<ConnectionsClient, keyof ConnectionsClient>;
  readonly tokens: Pick<TokensClient, keyof TokensClient>;
  readonly users: Pick<UsersClient, keyof UsersClient>;
  readonly audit: Pick<AuditClient, keyof AuditClient>;
  readonly grants: Pick<GrantsClient, keyof GrantsClient>;
  readonly serverApprovals: Pick<ServerApprovalsClient, keyof ServerApprovalsClient>;
  readonly logins: Pick<LoginsClient, keyof LoginsClient>;
  readonly config: Pick<ConfigClient, "get">;
  readonly calls: Pick<CallsClient, "stats">;
};

export interface Access {
  readonly api: Api;
  readonly out: Output;
  /** Undefined if the hub is inside this command. */
  readonly hub: RunningHub | undefined;
  /** The path to show for a changed file. */
  readonly where: (file: "mcp_server.json" | "group.json" | "secrets") => string;
  /** Waits until one server, or all, are up or have failed. A running hub has done that already. */
  ready(server?: string): Promise<void>;
  /** Notes that no hub is running, so that the shown state came from a hub inside this command. */
  mentionNoHub(): void;
  /** Makes sure that a browser can come back from a login. `port`: where, if the hub is inside this command. */
  listenForLogins(port: number): Promise<void>;
  /** What happens to logins. `onOpen` is awaited before the first; ends when the signal is aborted. */
  loginEvents(options: {
    readonly onOpen: () => Promise<void>;
    readonly signal: AbortSignal;
  }): AsyncIterable<LoginNews>;
  /** The following return API answers with the server's bytes unchanged. */
  callTool(call: { readonly server: string; readonly tool: string; readonly args: RawParams }): Promise<Raw>;
  callGroupTool(call: { readonly group: string; readonly tool: string; readonly args: RawParams }): Promise<Raw>;
  /** A group's endpoint as a stdio pipe; undefined for a remote hub. */
  converse(group: string): Promise<Pipe> | undefined;
  readResource(group: string, uri: string): Promise<Raw>;
  getPrompt(group: string, prompt: string, args: JsonObject): Promise<Raw>;
}

/** A change of some login, or a warning of the hub. */
export interface LoginNews {
  readonly warning?: string;
}

/** Runs `use` on the hub, and stops everything that it started. */
export async function withAccess<T>(io: Io, options: GlobalOptions, use: (access: Access) => Promise<T>): Promise<T> {
  const out = new Output(io, options);
  const timeoutMs = timeoutOf(options);
  const hub = await findHub(io, options);
  if (hub !== undefined) return use(remoteAccess(hub, out, { timeoutMs }));
  const [{ withHub }, { LocalAccess }] = await Promise.all([import("./open-hub.ts"), import("./local-access.ts")]);
  return withHub(io, options, (inside) =>
    within(timeoutMs, use(new LocalAccess(io, { hub: inside, out, folders: hubFoldersOf(io, options), timeoutMs }))),
  );
}

function remoteAccess(hub: RunningHub, out: Output, use: { readonly timeoutMs: number | undefined }): Access {
  const { record, url, client } = hub;
  return {
    api: client,
    out,
    hub,
    where: (file) =>
      record === undefined || file === "secrets" ? url : (record.database ?? join(record.config, file)),
    ready: () => Promise.resolve(),
    mentionNoHub: () => undefined,
    listenForLogins: () => Promise.resolve(),
    loginEvents: (options) => loginEvents(client, options),
    callTool: async ({ server, tool, args }) => toRaw(await client.callToolRaw({ server, tool }, args.bytes, use)),
    callGroupTool: async ({ group, tool, args }) => toRaw(await client.callToolRaw({ group, tool }, args.bytes, use)),
    converse: (group) => (record === undefined ? undefined : bridgeTo(url, group)),
    readResource: async (group, uri) => toRaw(await client.readResourceRaw(group, uri, use)),
    getPrompt: async (group, prompt, args) => toRaw(await client.getPromptRaw(group, prompt, args, use)),
  };
}

async function* loginEvents(
  client: HubClient,
  { onOpen, signal }: Parameters<Access["loginEvents"]>[0],
): AsyncGenerator<LoginNews> {
  try {
    for await (const { event, data } of client.events({ topics: ["logins", "warning"], onOpen, signal })) {
      const message = event === "warning" && isObject(data) ? data["message"] : undefined;
      yield typeof message === "string" ? { warning: message } : {};
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (!signal.aborted) throw new HubError("ConnectionFailed", "The hub has stopped", { hint: "plugboard start" });
}

const CLOSE_MS = 500;

async function bridgeTo(url: string, group: string): Promise<Pipe> {
  const [{ Bridge }, { Endpoint }] = await Promise.all([
    import("../../bridge/bridge.ts"),
    import("../../bridge/endpoint.ts"),
  ]);
  const address = { url: new URL(`${url}/mcp/${encodeURIComponent(group)}`), headers: {} };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const endpoint = new Endpoint(address, () => Promise.resolve(address));
  const bridge = new Bridge({ input, output, endpoint, log: () => undefined });
  const close = async () => {
    input.end();
    // Flushes the last messages, but does not wait for a client that does not read.
    await Promise.race([bridge.ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    await bridge.close();
  };
  return { input, output, close };
}

function toRaw(bytes: Buffer): Raw {
  return { bytes, value: JSON.parse(bytes.toString()) };
}
