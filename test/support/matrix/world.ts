// The hub of the matrix: one, with a server of its own for every cell, alone in a group of its name. What one cell does to
// its server, no other sees. Clients on stdio launch a hub of their own, as they do.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BIN, makeHome, startHub, type Home } from "../hub.ts";
import { nextLine } from "../processes.ts";
import { CELLS, transportGap, type Cell, type Side } from "./cell.ts";
import { connectPeer, type Peer } from "./peer.ts";

const SERVER = fileURLToPath(new URL("../../conformance/fixture/server.mjs", import.meta.url));

const groupOf = ({ client, server }: Cell) => `${client.era}-to-${server.era}-${server.transport}`;

export interface World {
  connect(cell: Cell): Promise<Peer>;
  end(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const ends: (() => Promise<unknown>)[] = [];

  const stdioEntry = ({ era }: Side) => ({ command: process.execPath, args: [SERVER, `--era=${era}`] });

  const httpEntry = async ({ era }: Side) => {
    const child = spawn(process.execPath, [SERVER, `--era=${era}`, "--http"], { stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(child, "exit");
    ends.push(() => {
      child.stdin.end();
      return exited;
    });
    return { url: await nextLine(child.stdout) };
  };

  const served = CELLS.filter((cell) => cell.client.transport === "http" && transportGap(cell) === undefined);
  const entries = await Promise.all(
    served.map(async (cell) => {
      const entry = cell.server.transport === "stdio" ? stdioEntry(cell.server) : await httpEntry(cell.server);
      return [groupOf(cell), { ...entry, groups: [groupOf(cell)] }] as const;
    }),
  );
  const home = await makeHome(Object.fromEntries(entries));
  ends.push(() => home.remove());
  const hub = await startHub(home);
  ends.push(() => hub.stop());

  const overHttp = async (cell: Cell) => {
    const url = new URL(`${hub.url}/mcp/${groupOf(cell)}`);
    let onStream = () => {};
    // A legacy client is told of changes on a stream that it opens when it is connected: they are heard from then on.
    const stream = new Promise<void>((resolve) => (onStream = resolve));
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: async (address, init) => {
        const response = await fetch(address, init);
        if (init?.method === "GET" && response.ok) onStream();
        return response;
      },
    });
    const peer = await connectPeer(cell, transport);
    if (cell.client.era === "legacy") await stream;
    return peer;
  };

  const overStdio = async (cell: Cell) => {
    const own: Home = await makeHome({ [groupOf(cell)]: stdioEntry(cell.server) });
    ends.push(() => own.remove());
    const transport = new StdioClientTransport({ command: process.execPath, args: [BIN, "stdio"], env: own.env });
    return connectPeer(cell, transport);
  };

  return {
    connect: async (cell) => {
      const peer = await (cell.client.transport === "stdio" ? overStdio(cell) : overHttp(cell));
      ends.push(() => peer.client.close());
      return peer;
    },
    // The last to come are the first to go.
    end: async () => {
      for (const end of ends.reverse()) await end();
    },
  };
}
