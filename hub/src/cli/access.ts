// The hub that a command works with: the one that runs, over its API, or, where none runs, one inside the command itself.
// Both answer in the shapes of the API, so a command need not know which one it has.

import { join } from "node:path";
import type { HubClient } from "../api/client.ts";
import type { ToolCallResult } from "../api/schemas/tool.ts";
import type { JsonObject } from "../wire/json.ts";
import { findHub, type RunningHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import { placesOf } from "./record.ts";

/** What both can do. */
export type Api = Pick<
  HubClient,
  | "listServers"
  | "getServer"
  | "createServer"
  | "updateServer"
  | "patchServer"
  | "deleteServer"
  | "enableServer"
  | "disableServer"
  | "testServer"
  | "testSavedServer"
  | "listTools"
  | "readResource"
  | "getPrompt"
  | "listGroups"
  | "getGroup"
  | "setGroup"
  | "deleteGroup"
  | "listGroupTools"
  | "listSecrets"
  | "setSecret"
  | "deleteSecret"
  | "config"
>;

/** What a server answered. */
export interface Answer {
  /** S4's result of a call as JSON; its content is the server's own bytes, where this process has them. */
  readonly json: string;
  readonly success: boolean;
  readonly content: unknown;
  /** The server refused the call: its own message. */
  readonly error?: string;
}

export interface Access {
  readonly api: Api;
  readonly out: Output;
  /** Undefined where the hub is inside this command. */
  readonly hub: RunningHub | undefined;
  /** Where a change of this file is to be seen. */
  readonly where: (file: "mcp_server.json" | "group.json" | "secrets") => string;
  /** Waits until a server, or each of them, is up or has failed. In a running hub they are that already. */
  ready(server?: string): Promise<void>;
  callTool(call: { readonly server: string; readonly tool: string; readonly args: JsonObject }): Promise<Answer>;
  callGroupTool(call: { readonly group: string; readonly tool: string; readonly args: JsonObject }): Promise<Answer>;
}

/** Runs `use` on the hub, and leaves nothing running that did not run before. */
export async function withAccess<T>(io: Io, options: GlobalOptions, use: (access: Access) => Promise<T>): Promise<T> {
  const out = new Output(io, options);
  const hub = await findHub(io, options);
  if (hub !== undefined) return use(remoteAccess(hub, out));
  const [{ withHub }, { LocalAccess }] = await Promise.all([import("./open-hub.ts"), import("./local-access.ts")]);
  return withHub(io, options, (inside) =>
    use(new LocalAccess(io, { hub: inside, out, places: placesOf(io, options) })),
  );
}

function remoteAccess(hub: RunningHub, out: Output): Access {
  const { record, url, client } = hub;
  return {
    api: client,
    out,
    hub,
    where: (file) => (record === undefined || file === "secrets" ? url : join(record.config, file)),
    ready: () => Promise.resolve(),
    callTool: async ({ server, tool, args }) =>
      toAnswer(await client.callTool({ server_name: server, tool_name: tool, arguments: args })),
    callGroupTool: async ({ group, tool, args }) => toAnswer(await client.callGroupTool(group, tool, args)),
  };
}

function toAnswer(outcome: ToolCallResult): Answer {
  const { success, content, error, rpc_error } = outcome;
  const refused =
    rpc_error === undefined
      ? {}
      : { error: typeof rpc_error["message"] === "string" ? rpc_error["message"] : (error ?? "") };
  return { json: JSON.stringify(outcome, null, 2), success, content, ...refused };
}
