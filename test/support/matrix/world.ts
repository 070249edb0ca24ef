// The hub of the matrix: one, with an entry of its own for every cell, alone in a group of its name: what one cell does to
// its server, no other sees. Clients on stdio launch a hub of their own, as they do, or a bridge to this one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { BIN, makeHome, startHub } from "../hub.ts";
import { nextLine } from "../processes.ts";
import { CELLS, ERAS, transportGap, type Cell, type Era } from "./cell.ts";
import { connectPeer, type Peer } from "./peer.ts";
import { SocketTransport } from "./socket-transport.ts";

const SERVER = fileURLToPath(new URL("../../conformance/fixture/server.mjs", import.meta.url));

export interface World {
  connect(cell: Cell): Promise<Peer>;
  end(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const ends: (() => Promise<unknown>)[] = [];

  /** A server of each era for all that reach it over the network; its address. */
  const startServer = async (era: Era) => {
    const child = spawn(process.execPath, [SERVER, `--era=${era}`, "--http"], { stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(child, "exit");
    ends.push(() => {
      child.stdin.end();
      return exited;
    });
    return [era, await nextLine(child.stdout)] as const;
  };
  const addresses = new Map(await Promise.all(ERAS.map(startServer)));

  const entryOf = ({ server: { era, transport } }: Cell) => {
    const url = new URL(addresses.get(era) ?? "");
    switch (transport) {
      case "stdio":
        // One feature is two calls at once that meet in one process, which modern clients have only where all share it.
        return { command: process.execPath, args: [SERVER, `--era=${era}`], isolation: "shared" };
      case "http":
        return { url: url.href };
      case "sse":
        return { type: "sse", url: new URL("/sse", url).href };
      case "websocket":
        return { type: "websocket", url: url.href.replace(/^http/, "ws") };
    }
  };

  const served = CELLS.filter((cell) => cell.client.transport !== "stdio" && transportGap(cell) === undefined);
  const entries = served.map((cell) => [groupOf(cell), { ...entryOf(cell), groups: [groupOf(cell)] }] as const);
  const home = await makeHome(Object.fromEntries(entries));
  ends.push(() => home.remove());
  const hub = await startHub(home);
  ends.push(() => hub.stop());

  const overHttp = async (cell: Cell) => {
    let onStream = () => {};
    // A legacy client is told of changes on a stream that it opens when it is connected: they are heard from then on.
    const stream = new Promise<void>((resolve) => (onStream = resolve));
    const transport = new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp/${groupOf(cell)}`), {
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
    const own = await makeHome({ [groupOf(cell)]: entryOf(cell) });
    ends.push(() => own.remove());
    return connectPeer(
      cell,
      new StdioClientTransport({ command: process.execPath, args: [BIN, "stdio"], env: own.env }),
    );
  };

  const overBridge = (cell: Cell) => {
    const args = [BIN, "stdio", "--group", groupOf(cell)];
    return connectPeer(cell, new StdioClientTransport({ command: process.execPath, args, env: home.env }));
  };

  const connect = (cell: Cell) => {
    switch (cell.client.transport) {
      case "bridge":
        return overBridge(cell);
      case "stdio":
        return overStdio(cell);
      case "http":
        return overHttp(cell);
      case "sse":
        return connectPeer(cell, new SSEClientTransport(new URL(`${hub.url}/sse/${groupOf(cell)}`)));
      case "websocket":
        return connectPeer(
          cell,
          new SocketTransport(new URL(`${hub.url.replace(/^http/, "ws")}/mcp/${groupOf(cell)}`)),
        );
    }
  };

  return {
    connect: async (cell) => {
      const peer = await connect(cell);
      ends.push(() => peer.client.close());
      return peer;
    },
    // The last to come are the first to go.
    end: async () => {
      for (const end of ends.toReversed()) await end();
    },
  };
}

function groupOf({ client, server }: Cell): string {
  return `${client.era}-${client.transport}-to-${server.era}-${server.transport}`;
}
