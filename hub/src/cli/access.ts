// The hub that a command works with: the one that runs, over its API, or, where none runs, one inside the command itself.
// Both answer in the shapes of the API, so a command need not know which one it has.

import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { HubClient } from "../api/client.ts";
import type { JsonObject } from "../wire/json.ts";
import type { Raw, RawParams } from "../wire/jsonrpc.ts";
import { findHub, type RunningHub } from "./find-hub.ts";
import type { Pipe } from "./interactive-call.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import { placesOf } from "./record.ts";
import { timeoutOf, within } from "./timeout.ts";

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
  | "updatePackage"
  | "testServer"
  | "testSavedServer"
  | "listTools"
  | "listGroups"
  | "getGroup"
  | "createGroup"
  | "setGroup"
  | "deleteGroup"
  | "listGroupTools"
  | "listSecrets"
  | "setSecret"
  | "deleteSecret"
  | "rotateSecretKey"
  | "config"
  | "stats"
>;

export interface Access {
  readonly api: Api;
  readonly out: Output;
  /** Undefined where the hub is inside this command. */
  readonly hub: RunningHub | undefined;
  /** Where a change of this file is to be seen. */
  readonly where: (file: "mcp_server.json" | "group.json" | "secrets") => string;
  /** Waits until a server, or each of them, is up or has failed. In a running hub they are that already. */
  ready(server?: string): Promise<void>;
  /** Says that no hub is running, where none is: what was shown came from one inside this command. */
  mentionNoHub(): void;
  /** What follows is the API's answer: of a call S4's result, else the server's own, with the server's bytes in it. */
  callTool(call: { readonly server: string; readonly tool: string; readonly args: RawParams }): Promise<Raw>;
  callGroupTool(call: { readonly group: string; readonly tool: string; readonly args: RawParams }): Promise<Raw>;
  /** A group's endpoint as an MCP client has it; undefined where the hub is elsewhere. */
  converse(group: string): Promise<Pipe> | undefined;
  readResource(group: string, uri: string): Promise<Raw>;
  getPrompt(group: string, prompt: string, args: JsonObject): Promise<Raw>;
}

/** Runs `use` on the hub, and leaves nothing running that did not run before. */
export async function withAccess<T>(io: Io, options: GlobalOptions, use: (access: Access) => Promise<T>): Promise<T> {
  const out = new Output(io, options);
  const timeoutMs = timeoutOf(options);
  const hub = await findHub(io, options);
  if (hub !== undefined) return use(remoteAccess(hub, out, { timeoutMs }));
  const [{ withHub }, { LocalAccess }] = await Promise.all([import("./open-hub.ts"), import("./local-access.ts")]);
  return withHub(io, options, (inside) =>
    within(timeoutMs, use(new LocalAccess(io, { hub: inside, out, places: placesOf(io, options), timeoutMs }))),
  );
}

function remoteAccess(hub: RunningHub, out: Output, use: { readonly timeoutMs: number | undefined }): Access {
  const { record, url, client } = hub;
  return {
    api: client,
    out,
    hub,
    where: (file) => (record === undefined || file === "secrets" ? url : join(record.config, file)),
    ready: () => Promise.resolve(),
    mentionNoHub: () => undefined,
    callTool: async ({ server, tool, args }) => toRaw(await client.callToolRaw({ server, tool }, args.bytes, use)),
    callGroupTool: async ({ group, tool, args }) => toRaw(await client.callToolRaw({ group, tool }, args.bytes, use)),
    converse: (group) => (record === undefined ? undefined : bridgeTo(url, group)),
    readResource: async (group, uri) => toRaw(await client.readResourceRaw(group, uri, use)),
    getPrompt: async (group, prompt, args) => toRaw(await client.getPromptRaw(group, prompt, args, use)),
  };
}

const CLOSE_MS = 500;

async function bridgeTo(url: string, group: string): Promise<Pipe> {
  const [{ Bridge }, { Endpoint }] = await Promise.all([
    import("../bridge/bridge.ts"),
    import("../bridge/endpoint.ts"),
  ]);
  const place = { url: new URL(`${url}/mcp/${encodeURIComponent(group)}`), headers: {} };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const endpoint = new Endpoint(place, () => Promise.resolve(place));
  const bridge = new Bridge({ input, output, endpoint, log: () => undefined });
  const close = async () => {
    input.end();
    // What was sent last is to arrive; who does not take it is not waited for.
    await Promise.race([bridge.ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    await bridge.close();
  };
  return { input, output, close };
}

function toRaw(bytes: Buffer): Raw {
  return { bytes, value: JSON.parse(bytes.toString()) };
}
