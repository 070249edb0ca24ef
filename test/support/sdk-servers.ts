// Servers of the official SDK v1 in the test process, over each remote transport. They record their HTTP requests.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport, type EventStore } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { WebSocketServer, type WebSocket } from "ws";
import { listen, portOf } from "./sockets.ts";

export interface SdkServer {
  readonly url: string;
  /** Every request, including WebSocket upgrades. */
  readonly requests: IncomingMessage[];
  /** The called tools, in order. */
  readonly calls: string[];
  /** Sets the result of the tool `held`, which waits for it. */
  readonly release: (text: string) => void;
  /** Resolves when `held` is called. */
  readonly held: Promise<void>;
  /** Adds a tool and announces the change. */
  readonly grow: (tool: string) => Promise<void>;
  /** Closes all connections. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
}

type Serve = (http: HttpServer, connect: (transport: Transport) => Promise<void>) => RequestListener;

/** `path` is the path of the configured URL; the transport decides what is there. */
async function start(scheme: "http" | "ws", path: string, serve: Serve, wait = false): Promise<SdkServer> {
  const requests: IncomingMessage[] = [];
  const calls: string[] = [];
  const tools = ["echo", "held"];
  const servers = new Set<Server>();
  let release: (text: string) => void = () => undefined;
  const released = new Promise<string>((resolve) => (release = resolve));
  let onHeld: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (onHeld = resolve));
  const connect = async (transport: Transport) => {
    const server = new Server(
      { name: "sdk", version: "1" },
      { capabilities: { tools: { listChanged: true }, logging: {} } },
    );
    servers.add(server);
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: tools.map((name) => ({ name, inputSchema: { type: "object" as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }, extra) => {
      calls.push(name);
      const { text } = args ?? {};
      if (name !== "held") return { content: [{ type: "text", text: typeof text === "string" ? text : name }] };
      onHeld();
      // If the transport supports it, the client has to resume the stream for the answer.
      if (wait) extra.closeSSEStream?.();
      return { content: [{ type: "text", text: await released }] };
    });
    await server.connect(transport);
  };
  const http = createServer();
  const listener = serve(http, connect);
  http.on("request", (request, response) => {
    requests.push(request);
    listener(request, response);
  });
  http.on("upgrade", (request: IncomingMessage) => requests.push(request));
  await listen(http);
  const sockets = new Set<{ destroy(): void }>();
  http.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: `${scheme}://127.0.0.1:${portOf(http)}${path}`,
    requests,
    calls,
    release,
    held,
    grow: async (tool) => {
      tools.push(tool);
      // The client may have disconnected.
      for (const server of servers) await server.sendToolListChanged().catch(() => undefined);
    },
    cut,
    close: async () => {
      const closed = once(http, "close");
      http.close();
      cut();
      await closed;
    },
  };
}

/** HTTP+SSE only: `/sse` and `/messages`. */
export function startSse(): Promise<SdkServer> {
  const transports = new Map<string, SSEServerTransport>();
  return start("http", "/sse", (_, connect) => (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const known = transports.get(searchParams.get("sessionId") ?? "");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      void connect(transport);
    } else if (request.method === "POST" && pathname === "/messages" && known !== undefined) {
      void known.handlePostMessage(request, response);
    } else {
      response.writeHead(404).end();
    }
  });
}

/** WebSocket: the SDK has no server side, so the transport is ours. */
export function startWebSocket(): Promise<SdkServer> {
  return start("ws", "/", (http, connect) => {
    const acceptor = new WebSocketServer({ server: http, handleProtocols: () => "mcp" });
    acceptor.on("connection", (socket) => void connect(socketTransport(socket)));
    return (_, response) => void response.writeHead(426).end();
  });
}

function socketTransport(socket: WebSocket): Transport {
  const transport: Transport = {
    start: async () => undefined,
    send: async (message: JSONRPCMessage) => socket.send(JSON.stringify(message)),
    close: async () => socket.close(),
  };
  socket.on("message", (data: Buffer) => transport.onmessage?.(JSON.parse(data.toString())));
  socket.on("close", () => transport.onclose?.());
  return transport;
}

/** Streamable HTTP with an event store, whose tool `held` closes its stream before it answers. */
export function startResumable(retryInterval = 20): Promise<SdkServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const serve: Serve = (_, connect) => (request, response) => {
    const known = transports.get(String(request.headers["mcp-session-id"]));
    if (known !== undefined) return void known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
      eventStore: eventStore(),
      retryInterval,
    });
    void connect(transport as Transport).then(() => transport.handleRequest(request, response));
  };
  return start("http", "/mcp", serve, true);
}

function eventStore(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (stream, message) => {
      const id = `${events.length}_${stream}`;
      events.push({ id, stream, message });
      return id;
    },
    replayEventsAfter: async (lastId, { send }) => {
      const last = events.findIndex(({ id }) => id === lastId);
      const stream = events[last]?.stream ?? "";
      for (const event of events.slice(last + 1)) if (event.stream === stream) await send(event.id, event.message);
      return stream;
    },
  };
}
