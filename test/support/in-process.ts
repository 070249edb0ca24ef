// A hub in the test process, for tests that inspect its state: statuses, events, and what a server received.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { Hub, type HubOptions } from "../../hub/src/hub/hub.ts";
import { LOCAL } from "../../hub/src/servers/instances/caller.ts";
import type { Status } from "../../hub/src/servers/status.ts";
import type { ForwardRequest } from "../../hub/src/servers/connection/upstream.ts";
import { rawParams, type Reply } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { processesWithMark } from "./processes.ts";
import { makeHome, type Home, type Servers } from "./hub.ts";

export interface InProcess {
  readonly home: Home;
  readonly hub: Hub;
  /** Every status that a server took, in order. */
  readonly statuses: (server: string) => Status[];
  /** Stops the hub, removes the home, and returns the processes that are still running. */
  readonly end: () => Promise<number[]>;
}

export interface InProcessOptions {
  readonly groups?: unknown;
  readonly variables?: Readonly<Record<string, string>>;
  readonly lookup?: LookupFunction;
  readonly fetchDocument?: HubOptions["fetchDocument"];
  /** The content of hub.json. */
  readonly settings?: unknown;
}

export async function openInProcess(
  servers: Servers | undefined,
  { groups, variables = {}, lookup, settings, fetchDocument }: InProcessOptions = {},
): Promise<InProcess> {
  const home = await makeHome(servers, groups);
  if (settings !== undefined) await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
  const env = { ...home.env, ...variables };
  const paths = hubPaths({ env, platform: process.platform, home: home.dir });
  const hub = await Hub.open({ paths, variables: env, ...(lookup === undefined ? {} : { lookup }), fetchDocument });
  const seen: { server: string; status: Status }[] = [];
  hub.events.on("server.status", (event) => seen.push(event));
  return {
    home,
    hub,
    statuses: (server) => seen.filter((event) => event.server === server).map(({ status }) => status),
    end: async () => {
      await hub.stop();
      const left = processesWithMark(home.mark);
      await home.remove();
      return left;
    },
  };
}

/** Calls a tool of a server. */
export function callTool(
  hub: Hub,
  server: string,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  more: Partial<ForwardRequest> = {},
): Promise<Reply> {
  const params = rawParams({ name, arguments: args });
  return hub.calls.callTool({ method: "tools/call", params, group: "default", server, name, caller: LOCAL, ...more });
}

/** The text of a tool result. */
export async function callText(...args: Parameters<typeof callTool>): Promise<string> {
  return textOf(await callTool(...args));
}

export function textOf(reply: Reply): string {
  if (!reply.ok) throw new Error(`The server answered with an error: ${reply.error.bytes.toString()}`);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixtures answer in this form
  const { content } = reply.result.value as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}

/** The next status of a server that is in one of the states; at once, if it is in one now. */
export async function untilState(hub: Hub, server: string, ...states: Status["state"][]): Promise<Status> {
  for (;;) {
    const { status } = hub.supervisor.get(server);
    if (states.includes(status.state)) return status;
    await once(hub.events, "server.status");
  }
}
