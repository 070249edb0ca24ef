// The hub of the matrix: one hub, with a separate entry and group for every cell, so that cells do not affect each other. Clients
// on stdio launch their own hub, or a bridge to this one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { signIn } from "../browser-session.ts";
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

  /** A server of each era for all cells that use the network; its address. */
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
        // One feature needs two concurrent calls in one process, which modern clients share only with this setting.
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

  const browser = await signIn(hub);

  const overHttp = async (cell: Cell, path: string, headers: Readonly<Record<string, string>> = {}) => {
    let onStream = () => {};
    // A legacy client gets notifications only once its GET stream is open.
    const stream = new Promise<void>((resolve) => (onStream = resolve));
    const transport = new StreamableHTTPClientTransport(new URL(hub.url + path), {
      requestInit: { headers },
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
        return overHttp(cell, `/mcp/${groupOf(cell)}`);
      case "ui":
        return overHttp(cell, `/api/v1/servers/${groupOf(cell)}/mcp`, browser.headers);
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
    // In reverse order.
    end: async () => {
      for (const end of ends.toReversed()) await end();
    },
  };
}

function groupOf({ client, server }: Cell): string {
  return `${client.era}-${client.transport}-to-${server.era}-${server.transport}`;
}
