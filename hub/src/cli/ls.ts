// `plugboard ls`: every configured server with its real state. It starts them to know it.

import type { Hub } from "../hub.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import { count, printJson, table } from "./output.ts";
import type { Register } from "./program.ts";
import { describe, Progress } from "./progress.ts";

export const lsCommand: Register = (program, io, done) => {
  program
    .command("ls")
    .alias("list")
    .description("list all servers and whether they work")
    .action(async (options: GlobalOptions) => {
      await withHub(io, options, (hub) => ls(hub, io, options));
      done(0);
    });
};

async function ls(hub: Hub, io: Io, { json }: GlobalOptions): Promise<void> {
  const settled = hub.start();
  if (io.stderr.isTTY === true && json !== true) await new Progress(hub, io).show(settled);
  await settled;
  const { servers } = hub.supervisor;
  if (json === true)
    return printJson(
      io,
      servers.map((server) => toJson(server, hub)),
    );
  if (servers.length === 0) return void io.stdout.write("No servers. Add one to mcp_server.json.\n");
  const rows = servers.map((server) => [
    server.name,
    kindOf(server),
    server.status.state,
    server.status.state === "running" ? String(server.status.tools.length) : "-",
    groupsOf(server.name, hub).join(" "),
    server.status.state === "error" ? describe(server.status) : "",
  ]);
  io.stdout.write(table([["NAME", "KIND", "STATUS", "TOOLS", "GROUPS", ""], ...rows]));
  io.stdout.write(`${count(servers.length, "server")}: ${summary(servers)}\n`);
}

function toJson(server: ManagedServer, hub: Hub): unknown {
  const { name, config, status, hello } = server;
  return {
    id: config.id,
    name,
    kind: kindOf(server),
    enabled: config.enabled,
    status: status.state,
    tools: status.state === "running" ? status.tools : [],
    groups: groupsOf(name, hub),
    protocol_version: hello?.version ?? null,
    error: "error" in status ? status.error : null,
  };
}

function kindOf({ config: { transport } }: ManagedServer): string {
  return transport.type === "stdio" ? transport.launcher : transport.type;
}

function groupsOf(server: string, { catalog }: Hub): string[] {
  return catalog.groupNames.filter((name) => catalog.group(name).servers.includes(server));
}

function summary(servers: readonly ManagedServer[]): string {
  const states = new Map<string, number>();
  for (const { status } of servers) states.set(status.state, (states.get(status.state) ?? 0) + 1);
  return [...states].map(([state, n]) => `${n} ${state}`).join(", ");
}
