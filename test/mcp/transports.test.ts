// Every transport, on the server and the client side, with real sockets and independent peers: the official SDK v1 and `ws`.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolResultSchema,
  ToolListChangedNotificationSchema,
  type JSONRPCMessage,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { FaultProxy } from "../faults/fault-proxy.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { callText, openInProcess, untilState, type InProcess } from "../support/in-process.ts";
import { connect, http, post } from "../support/rpc.ts";
import { startResumable, startSse, startWebSocket, type SdkServer } from "../support/sdk-servers.ts";
import { Messages } from "../support/streams.ts";
import { listen, portOf } from "../support/sockets.ts";

const cleanups: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("clients of the hub", () => {
  let home: Home;
  let hub: RunningHub;

  beforeAll(async () => {
    home = await makeHome({ echo: fixture("echo"), other: fixture("echo") }, { work: { servers: ["other"] } });
    hub = await startHub(home);
  });

  afterAll(async () => {
    expect(await hub?.stop()).toBe(0);
    await home?.remove();
  });

  const address = (path: string, scheme = "http") => `${scheme}${hub.url.slice("http".length)}${path}`;

  /** A raw WebSocket that records its messages. */
  async function openSocket(path = "/mcp", options: { headers?: Record<string, string> } = {}) {
    const socket = new WebSocket(address(path, "ws"), ["mcp"], options);
    const messages = new Messages();
    socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString())));
    socket.on("close", () => messages.end());
    cleanups.push(() => socket.terminate());
    await once(socket, "open");
    return { socket, messages, send: (message: unknown) => socket.send(JSON.stringify(message)) };
  }

  const rpc = (id: unknown, method: string, params: unknown = {}) => ({ jsonrpc: "2.0", id, method, params });
  const initialize = (protocolVersion: string) =>
    rpc(0, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } });

  describe.each<[name: string, open: (path: string) => Transport]>([
    ["HTTP+SSE", (path) => new SSEClientTransport(new URL(address(path === "" ? "/sse" : `/sse${path}`)))],
    ["WebSocket", (path) => new WebSocketClientTransport(new URL(address(`/mcp${path}`, "ws")))],
    ["Streamable HTTP", (path) => new StreamableHTTPClientTransport(new URL(address(`/mcp${path}`)))],
  ])("SDK v1 over %s", (_, open) => {
    beforeAll(() => {
      // The SDK needs a global WebSocket, which Node 20 does not have.
      Object.assign(globalThis, { WebSocket });
    });

    async function start(path = ""): Promise<Client> {
      return (await startWatched(path)).client;
    }

    /** Also records incoming messages: the SDK drops progress that arrives together with the reply. */
    async function startWatched(path = "") {
      const client = new Client({ name: "test", version: "1" });
      const transport = open(path);
      await client.connect(transport);
      cleanups.push(() => client.close());
      const heard: JSONRPCMessage[] = [];
      const { onmessage } = transport;
      // eslint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK is no EventTarget
      transport.onmessage = (message, extra) => {
        // list_changed of another test reaches all clients.
        if (!("method" in message) || message.method === "notifications/progress") heard.push(message);
        onmessage?.call(transport, message, extra);
      };
      return { client, heard };
    }

    it("CL-7 GR-4 lists and calls, with progress on the way", async () => {
      const { client, heard } = await startWatched();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("echo__echo");
      heard.splice(0);
      const call = { name: "echo__progress", arguments: { steps: 3 } };
      await client.callTool(call, CallToolResultSchema, { onprogress: () => undefined });
      const progress = (n: number) => ({ method: "notifications/progress", params: { progress: n, total: 3 } });
      expect(heard).toMatchObject([
        progress(1),
        progress(2),
        progress(3),
        { result: { content: [{ type: "text", text: "3 steps" }] } },
      ]);
    });

    it("CL-7 GR-1 the path names the group, and an unknown group is not found", async () => {
      const { tools } = await (await start("/work")).listTools();
      // The only server of a group needs no prefix.
      expect(tools.map(({ name }) => name)).toContain("echo");
      await expect(start("/none")).rejects.toThrow();
    });

    it("CL-7 GR-8 gets list_changed", async () => {
      const client = await start();
      const changed = new Promise<void>((resolve) =>
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
      );
      // The SDK opens the GET stream after the handshake; earlier messages are buffered.
      await client.callTool({ name: "echo__change", arguments: { name: `new_${tools++}` } });
      await expect(changed).resolves.toBeUndefined();
    });

    it("CL-6 runs calls concurrently", async () => {
      const client = await start();
      const calls = Array.from({ length: 20 }, (__, n) =>
        client.callTool({ name: "echo__echo", arguments: { text: `n${n}` } }),
      );
      const texts = (await Promise.all(calls)).map(({ content }) => (content as { text: string }[])[0]?.text);
      expect(texts).toEqual(Array.from({ length: 20 }, (__, n) => `n${n}`));
    });
  });

  let tools = 0;

  describe("WebSocket", () => {
    it("CL-2 the first request decides the era: a modern client needs no handshake, and cannot switch", async () => {
      const { messages, send } = await openSocket();
      send(rpc("d", "server/discover", { _meta: ENVELOPE }));
      expect(await messages.find(({ id }) => id === "d")).toMatchObject({ result: { resultType: "complete" } });
      send(rpc("l", "subscriptions/listen", { notifications: { toolsListChanged: true }, _meta: ENVELOPE }));
      await messages.find(({ method }) => method === "notifications/subscriptions/acknowledged");
      send(rpc("c", "tools/call", { name: "echo__echo", arguments: { text: "hi" }, _meta: ENVELOPE }));
      expect(await messages.find(({ id }) => id === "c")).toMatchObject({
        result: { resultType: "complete", content: [{ text: "hi" }] },
      });
      send(initialize("2025-11-25"));
      expect(await messages.find(({ id }) => id === 0)).toMatchObject({ error: { code: -32600 } });
    });

    it.each([
      ["a foreign Origin", { origin: "http://evil.example" }, "/mcp", 403],
      ["a foreign Host", { host: "evil.example" }, "/mcp", 403],
      ["an unknown group", {}, "/mcp/none", 404],
      ["the management plane", {}, "/mcp/@admin", 404],
      ["another path", {}, "/api/v1/servers", 404],
      ["no subprotocol", { "sec-websocket-protocol": "" }, "/mcp", 400],
      ["another subprotocol", { "sec-websocket-protocol": "graphql-ws" }, "/mcp", 400],
    ])("SE-3 %s is refused before the upgrade", async (_, headers, path, status) => {
      const { host } = new URL(hub.url);
      const outgoing = httpRequest(address(path), {
        agent: false,
        headers: {
          host,
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": Buffer.alloc(16).toString("base64"),
          "sec-websocket-protocol": "mcp",
          ...headers,
        },
      }).end();
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      expect(response.statusCode).toBe(status);
      response.resume();
      await once(response, "close");
    });

    it("SE-3 the hub's own Origin is accepted", async () => {
      const { socket } = await openSocket("/mcp", { headers: { origin: hub.url } });
      expect(socket.protocol).toBe("mcp");
    });

    it("SE-5 a malformed message gets an error, and the connection continues", async () => {
      const { socket, messages, send } = await openSocket();
      for (const text of ["{", "[]", "7", `${'{"a":'.repeat(70)}1${"}".repeat(70)}`]) socket.send(text);
      await messages.more(3);
      expect(messages.all.map(({ error, id }) => [id, error.code < -32000])).toEqual(
        messages.all.map(() => [null, true]),
      );
      send(initialize("2025-11-25"));
      await messages.find(({ id, result }) => id === 0 && result !== undefined);
    });

    it.each([
      ["a frame of more than 4 MiB", "x".repeat((4 << 20) + 1), 1009],
      ["a binary frame", Buffer.from("{}"), 1003],
    ])("SE-5 %s ends the connection with a reason", async (_, data, code) => {
      const { socket } = await openSocket();
      socket.on("error", () => undefined);
      socket.send(data);
      const [closedWith] = await once(socket, "close");
      expect(closedWith).toBe(code);
    });

    it("T21 SE-5 only a client that does not read is disconnected", async () => {
      const { socket, messages, send } = await openSocket();
      const other = await openSocket();
      other.send(initialize("2025-11-25"));
      send(initialize("2025-11-25"));
      await messages.find(({ id }) => id === 0);
      socket.pause();
      for (let id = 1; id <= 40; id++)
        send(rpc(id, "tools/call", { name: "echo__big", arguments: { bytes: 1 << 20 } }));
      // A client that does not read notices the end only when it writes.
      socket.on("error", () => undefined);
      while (socket.readyState === WebSocket.OPEN) await new Promise((resolve) => socket.ping("", true, resolve));
      socket.resume();
      other.send(rpc(1, "tools/call", { name: "echo__echo", arguments: { text: "hi" } }));
      await other.messages.find(({ id }) => id === 1);
      expect(messages.all.length).toBeLessThan(40);
    });
  });

  describe("HTTP+SSE", () => {
    it("CL-7 the first event names the endpoint for messages; the session ends with the stream", async () => {
      let outgoing: ReturnType<typeof httpRequest> | undefined;
      const events = new Messages();
      const endpoint = await new Promise<string>((resolve) => {
        outgoing = httpRequest(
          address("/sse/work"),
          { agent: false, headers: { accept: "text/event-stream" } },
          (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (chunk: string) => {
              text += chunk;
              const [, path] = /^event: endpoint\ndata: (.+)\n\n/.exec(text) ?? [];
              if (path !== undefined) resolve(path);
              for (const [, data = ""] of text.matchAll(/^data: (\{.*\})\n\n/gm)) events.push(JSON.parse(data));
            });
            response.on("error", () => undefined);
          },
        ).end();
      });
      expect(endpoint).toMatch(/^\/messages\/work\?sessionId=[\da-f-]{36}$/);
      const accepted = await post(address(endpoint), initialize("2024-11-05"), { accept: "*/*" });
      expect([accepted.status, accepted.body]).toEqual([202, "Accepted"]);
      expect(await events.find(({ id }) => id === 0)).toMatchObject({ result: { protocolVersion: "2024-11-05" } });
      await post(address(endpoint), [rpc("a", "ping"), rpc("b", "tools/list")]);
      outgoing?.destroy();
      // The hub notices it a moment later.
      let status = 202;
      while (status === 202) ({ status } = await post(address(endpoint), rpc(1, "ping")));
      expect(status).toBe(404);
    });

    it.each<[what: string, path: string, method: string, headers: Record<string, string>, status: number]>([
      ["a foreign Origin", "/sse", "GET", { origin: "http://evil.example" }, 403],
      ["a foreign Host", "/sse", "GET", { host: "evil.example" }, 403],
      ["a foreign Origin of a message", "/messages?sessionId=1", "POST", { origin: "http://evil.example" }, 403],
      ["a POST for a stream", "/sse", "POST", {}, 405],
      ["a GET for a message", "/messages?sessionId=1", "GET", {}, 405],
      ["a GET that takes no stream", "/sse", "GET", { accept: "application/json" }, 406],
      ["a message to nobody", "/messages?sessionId=1", "POST", { "content-type": "application/json" }, 404],
      ["a message without a session", "/messages", "POST", { "content-type": "application/json" }, 404],
      ["a message that is no JSON", "/messages?sessionId=1", "POST", { "content-type": "text/plain" }, 415],
      ["an unknown group", "/sse/none", "GET", {}, 404],
    ])("SE-3 SE-5 %s is refused", async (_, path, method, headers, status) => {
      const given = { host: new URL(hub.url).host, ...headers };
      expect((await http(address(path), { method, headers: given })).status).toBe(status);
    });
  });

  it("CL-7 the reply survives a connection that is killed during a call, and comes once", async () => {
    const proxy = await FaultProxy.open(Number(new URL(hub.url).port));
    cleanups.push(() => proxy.close());
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(proxy.through(`${hub.url}/mcp`))));
    cleanups.push(() => client.close());
    const heardCalls = async () => {
      const { content } = await client.callTool({ name: "echo__heard", arguments: {} });
      const heard: unknown[] = JSON.parse((content as { text: string }[])[0]?.text ?? "[]");
      return heard.filter((method) => method === "tools/call").length;
    };
    const before = await heardCalls();
    const path = join(home.dir, "go");
    let call: Promise<unknown> | undefined;
    const resumable = new Promise<void>((resolve) => {
      call = client.callTool(
        { name: "echo__wait_for_file", arguments: { path, name: "PATH_THAT_IS_NOT_SET" } },
        CallToolResultSchema,
        { onresumptiontoken: () => resolve() },
      );
    });
    await resumable;
    proxy.resetAll();
    await writeFile(path, "");
    expect(await call).toMatchObject({ content: [{ text: "(unset)" }] });
    // The call itself, and the request that resumes its stream.
    expect(await heardCalls()).toBe(before + 2);
  });

  it("CL-9 batches over HTTP get one response, also from a server behind the hub", async () => {
    const session = await connect(`${hub.url}/mcp`, "2025-03-26");
    const { "mcp-session-id": id } = session.headers;
    const call = (n: number) => rpc(n, "tools/call", { name: "echo__echo", arguments: { text: `n${n}` } });
    const response = await post(`${hub.url}/mcp`, [call(1), call(2), rpc(3, "nope")], { "mcp-session-id": id });
    const answers: { id: number; result?: unknown }[] = JSON.parse(response.body);
    expect(answers.toSorted((a, b) => a.id - b.id)).toMatchObject([
      { id: 1, result: { content: [{ text: "n1" }] } },
      { id: 2, result: { content: [{ text: "n2" }] } },
      { id: 3, error: { code: -32601 } },
    ]);
  });

  it("CL-7 a POST that offers HTTP/2, as Java's client does, works like any other", async () => {
    const offer = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAAP__" };
    const answer = await post(`${hub.url}/mcp`, initialize("2025-11-25"), offer);
    expect(answer.status).toBe(200);
  });

  it("GR-5 a server's own -32601 has status 200; the hub's own is a 404", async () => {
    const headers = (method: string) => ({ "mcp-protocol-version": "2026-07-28", "mcp-method": method });
    const own = await post(`${hub.url}/mcp`, rpc(1, "nope", { _meta: ENVELOPE }), headers("nope"));
    expect([own.status, JSON.parse(own.body).error.code]).toEqual([404, -32601]);
  });
});

it("LC-5 a hub that stops ends its clients on every transport", async () => {
  const home = await makeHome({ echo: fixture("echo") });
  cleanups.push(() => home.remove());
  const hub = await startHub(home);
  cleanups.push(() => hub.stop());
  const socket = new WebSocket(`ws${hub.url.slice("http".length)}/mcp`, ["mcp"]);
  await once(socket, "open");
  const stream = httpRequest(`${hub.url}/sse`, { agent: false, headers: { accept: "text/event-stream" } }).end();
  const [events] = (await once(stream, "response")) as [IncomingMessage];
  const ended = once(events.resume(), "end");
  const closing = once(socket, "close");
  expect(await hub.stop()).toBe(0);
  expect((await closing)[0]).toBe(1001);
  await ended;
});

describe("servers behind the hub", () => {
  async function open(entry: Readonly<Record<string, unknown>>): Promise<InProcess> {
    const inProcess = await openInProcess({ it: { resilience: { restart: false }, ...entry } });
    cleanups.push(() => inProcess.end());
    await inProcess.hub.start().catch(() => undefined); // its status shows the outcome
    return inProcess;
  }

  async function serve(starting: Promise<SdkServer>): Promise<SdkServer> {
    const server = await starting;
    cleanups.push(() => server.close());
    return server;
  }

  /** A scripted HTTP server. */
  async function serveHttp(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await listen(server);
    cleanups.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${portOf(server)}`;
  }

  const KINDS: [kind: string, start: () => Promise<SdkServer>, type: string][] = [
    ["HTTP+SSE", startSse, "sse"],
    ["HTTP+SSE, found out", startSse, "http"],
    ["WebSocket", startWebSocket, "websocket"],
    ["Streamable HTTP", startResumable, "http"],
  ];

  it.each(KINDS)("CL-2 CL-7 SDK v1 over %s: handshake, list, call, change of the list", async (_, start, type) => {
    const server = await serve(start());
    const { hub } = await open({ type, url: server.url });
    expect(hub.supervisor.get("it")).toMatchObject({ status: { state: "running" }, info: { era: "legacy" } });
    expect(await callText(hub, "it", "echo", { text: "hi" })).toBe("hi");
    const isListed = () => hub.supervisor.get("it").listing?.tools.some(({ name }) => name === "more") === true;
    await server.grow("more");
    while (!isListed()) await once(hub.events, "catalog.changed");
  });

  it.each(KINDS)(
    "SE-1 SE-3 over %s the server's own headers go with every request, the client's never",
    async (_, start, type) => {
      const server = await serve(start());
      const inProcess = await open({ type, url: server.url, headers: { Authorization: "Bearer own", "X-Own": "1" } });
      const url = await inProcess.hub.listen({ host: "127.0.0.1", port: 0 });
      const marker = "MARKER-of-the-client";
      const authorization = `Bearer ${marker}`;
      const hello = await post(
        `${url}/mcp`,
        { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } },
        { authorization },
      );
      const id = String(hello.headers["mcp-session-id"]);
      const params = { name: "echo", arguments: { text: "hi" } };
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      const answer = await post(`${url}/mcp`, call, { authorization, "mcp-session-id": id, cookie: marker });
      expect(answer.body).toContain('"hi"');
      expect(server.requests.length).toBeGreaterThan(0);
      for (const { headers } of server.requests)
        expect(headers).toMatchObject({ authorization: "Bearer own", "x-own": "1" });
      expect(JSON.stringify(server.requests.map(({ rawHeaders, url: path }) => [rawHeaders, path]))).not.toContain(
        marker,
      );
    },
  );

  it("CL-7 a stream that a server breaks off is resumed, and the reply comes once", async () => {
    const server = await serve(startResumable());
    const { hub } = await open({ url: server.url });
    const call = callText(hub, "it", "held");
    await server.held;
    const isResumed = () => server.requests.some(({ headers }) => headers["last-event-id"] !== undefined);
    server.release("done");
    expect(await call).toBe("done");
    expect(server.calls).toEqual(["held"]);
    expect(isResumed()).toBe(true);
  });

  it.each([
    ["HTTP+SSE", startSse, "sse"],
    ["WebSocket", startWebSocket, "websocket"],
  ] as const)("LC-7 a lost connection over %s is an outage, and the hub reconnects", async (_, start, type) => {
    const server = await serve(start());
    const { hub } = await open({ type, url: server.url, resilience: {} });
    const lost = callText(hub, "it", "held");
    await server.held;
    server.cut();
    expect(await lost.catch((error) => error.code)).toBe("NETWORK_ERROR");
    await untilState(hub, "it", "running");
    expect(await callText(hub, "it", "echo", { text: "again" })).toBe("again");
  });

  it("CL-2 a modern server over WebSocket is used as modern, with a subscription", async () => {
    const listener = createServer();
    const acceptor = new WebSocketServer({ server: listener, handleProtocols: () => "mcp" });
    const heard: string[] = [];
    acceptor.on("connection", (socket) =>
      socket.on("message", (data: Buffer) => {
        const { id, method } = JSON.parse(data.toString());
        heard.push(method);
        const capabilities = { tools: { listChanged: true } };
        const result =
          method === "server/discover"
            ? { supportedVersions: ["2026-07-28"], capabilities }
            : { tools: [], content: [{ type: "text", text: "modern" }] };
        if (method !== "subscriptions/listen") {
          socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } }));
        }
      }),
    );
    await listen(listener);
    cleanups.push(async () => {
      for (const client of acceptor.clients) client.terminate();
      await new Promise((resolve) => listener.close(resolve));
    });
    const { hub } = await open({ url: `ws://127.0.0.1:${portOf(listener)}/` });
    expect(hub.supervisor.get("it")).toMatchObject({ status: { state: "running" }, info: { era: "modern" } });
    expect(await callText(hub, "it", "any")).toBe("modern");
    expect(heard).toEqual(["server/discover", "tools/list", "subscriptions/listen", "tools/call"]);
  });

  it.each([
    ["sse", 401, "UNAUTHENTICATED", "unauthenticated"],
    ["websocket", 401, "UNAUTHENTICATED", "unauthenticated"],
    ["websocket", 403, "FORBIDDEN", "unauthenticated"],
    ["websocket", 500, "NETWORK_ERROR", "error"],
    ["sse", 404, "NETWORK_ERROR", "error"],
  ] as const)("LC-3 %s: HTTP status %d is reported as %s", async (type, status, code, state) => {
    const url = await serveHttp((_, response) => response.writeHead(status).end());
    const { hub } = await open({ type, url: type === "sse" ? url : url.replace("http", "ws") });
    expect(hub.supervisor.get("it").status).toMatchObject({ state, error: { code } });
  });

  it("LC-3 a server that refuses POSTs and is silent on its stream fails sooner than a configured SSE server", async () => {
    const asked: string[] = [];
    const url = await serveHttp(({ method = "" }, response) => {
      asked.push(method);
      if (method === "POST") response.writeHead(404).end();
    });
    const inProcess = await openInProcess({
      said: { type: "sse", url, resilience: { restart: false } },
      tried: { url, resilience: { restart: false } },
    });
    cleanups.push(() => inProcess.end());
    const { hub } = inProcess;
    void hub.start();
    await untilState(hub, "tried", "error");
    expect(asked.filter((method) => method === "GET")).toHaveLength(2);
    // The first error is the better one.
    expect(hub.supervisor.get("tried").status).toMatchObject({ error: { message: expect.stringContaining("404") } });
    expect(hub.supervisor.get("said").status.state).toBe("starting");
  });

  it("SE-1 an endpoint of another origin is refused, and gets no request", async () => {
    const heard: string[] = [];
    const elsewhere = await serveHttp((request, response) => {
      heard.push(String(request.url));
      response.end();
    });
    const url = await serveHttp((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: endpoint\ndata: ${elsewhere}/messages\n\n`);
    });
    const { hub } = await open({ type: "sse", url, headers: { Authorization: "Bearer own" } });
    expect(hub.supervisor.get("it").status).toMatchObject({
      state: "error",
      error: { kind: "ProtocolError", detail: elsewhere },
    });
    expect(heard).toEqual([]);
  });

  it.each([
    ["http", "ConnectionFailed"],
    ["websocket", "ConnectionFailed"],
  ] as const)(
    "SE-1 %s: a redirect to another origin is refused with a clear error, and not followed",
    async (type, kind) => {
      const heard: string[] = [];
      const elsewhere = await serveHttp((request, response) => {
        heard.push(String(request.url));
        response.end();
      });
      const url = await serveHttp((_, response) => response.writeHead(307, { location: `${elsewhere}/mcp` }).end());
      const { hub } = await open({ type, url: type === "http" ? url : url.replace("http", "ws") });
      expect(hub.supervisor.get("it").status).toMatchObject({
        error: { kind, message: expect.stringContaining("redirects"), detail: expect.stringContaining(elsewhere) },
      });
      expect(heard).toEqual([]);
    },
  );

  it("CL-9 replies in arrays work, as JSON and as events", async () => {
    const url = await serveHttp((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        const { id, method } = JSON.parse(body === "" ? "{}" : body);
        if (request.method !== "POST") return response.writeHead(405).end();
        if (id === undefined) return response.writeHead(202).end();
        if (method === "server/discover") return response.writeHead(400).end();
        const result = {
          ...(method === "initialize" ? { protocolVersion: "2025-03-26", capabilities: { tools: {} } } : {}),
          tools: [],
          content: [{ type: "text", text: "from an array" }],
        };
        const array = JSON.stringify([
          { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } },
          { jsonrpc: "2.0", id, result },
        ]);
        if (method === "tools/list") response.writeHead(200, { "content-type": "application/json" }).end(array);
        else response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${array}\n\n`);
      });
    });
    const { hub } = await open({ url });
    expect(hub.supervisor.get("it").status).toMatchObject({ state: "running" });
    expect(await callText(hub, "it", "any")).toBe("from an array");
  });
});
