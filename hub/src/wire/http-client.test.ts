// Streamable HTTP, the client's side, against small real servers that answer well, badly, in pieces, or not at all.

import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { HubError } from "../errors.ts";
import { HttpChannel } from "./http-client.ts";
import { HttpStatusError } from "./http-failure.ts";
import { Peer } from "./peer.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** What a server saw of one request. */
interface SeenRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}

async function listen(server: Server | TcpServer): Promise<URL> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  const { port } = server.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/mcp?x=1`);
}

async function serve(answer: (seen: SeenRequest) => void) {
  const seen: SeenRequest[] = [];
  const news = new EventEmitter();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { request, response, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(one);
      news.emit("news");
    });
  });
  const url = await listen(server);
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const request = async (index: number): Promise<SeenRequest> => {
    for (;;) {
      const one = seen[index];
      if (one !== undefined) return one;
      await once(news, "news");
    }
  };
  return { url, server, seen, request };
}

/** A server below HTTP: gets each socket when the request's bytes are there. */
async function serveRaw(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  const url = await listen(server);
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return url;
}

interface ConnectOptions {
  readonly maxMessageBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether somebody waits for the answer, however the exchange ends. */
  readonly waits?: boolean;
}

function connect(url: URL, { maxMessageBytes = 1 << 20, headers = {}, waits = false }: ConnectOptions = {}) {
  const messages: [text: string, via: number | undefined][] = [];
  const finished: [id: number, error: HubError][] = [];
  const unreachable: HubError[] = [];
  const news = new EventEmitter();
  const channel = new HttpChannel({
    url,
    headers,
    maxMessageBytes,
    connectTimeoutMs: 5000,
    isWaiting: () => waits,
    onMessage: (bytes, via) => {
      messages.push([bytes.toString(), via]);
      news.emit("news");
    },
    onFinished: (id, why) => {
      finished.push([id, why()]);
      news.emit("news");
    },
    onUnreachable: (error) => {
      unreachable.push(error);
      news.emit("news");
    },
  });
  cleanups.push(() => channel.close());
  const until = async (holds: () => boolean) => {
    while (!holds()) await once(news, "news");
  };
  const send = (id: number, more: Record<string, string> = {}) =>
    channel.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"x"}`), { id, method: "x", headers: more });
  const ask = async (id = 1) => {
    send(id);
    await until(() => finished.some(([done]) => done === id));
    return finished.find(([done]) => done === id)?.[1];
  };
  return { channel, messages, finished, unreachable, send, ask, until };
}

const json = (response: ServerResponse, body: string, status = 200, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
const sse = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"n":1.0,"text":"äöü €"}}';
const LOG = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\u{1f600}"}}';
const STREAM = `: hello\n\nid: 1\ndata:\n\nevent: message\r\ndata: ${LOG}\r\n\r\ndata: ${ANSWER}\n\n`;

describe("answers", () => {
  it("CL-7 as JSON: the bytes as they came, for the request that asked", async () => {
    const { url } = await serve(({ response }) => json(response, ANSWER));
    const { ask, messages, unreachable } = connect(url);
    // The end of the exchange is always told; an answered request does not mind.
    expect(await ask()).toMatchObject({ kind: "ProtocolError" });
    expect(messages).toEqual([[ANSWER, 1]]);
    expect(unreachable).toEqual([]);
  });

  it("CL-7 as pretty-printed JSON: on one line, since others frame by lines", async () => {
    const pretty = JSON.stringify(JSON.parse(ANSWER), null, 2);
    const { url } = await serve(({ response }) => json(response, pretty));
    const { ask, messages } = connect(url);
    await ask();
    expect(messages).toEqual([[pretty.replaceAll("\n", " "), 1]]);
  });

  it("CL-7 as an event stream: what comes before the answer belongs to the same request", async () => {
    const { url } = await serve(({ response }) => sse(response).end(STREAM));
    const { ask, messages } = connect(url);
    expect(await ask(7)).toMatchObject({
      kind: "ConnectionFailed",
      message: expect.stringContaining("before it answered"),
    });
    expect(messages).toEqual([
      [LOG, 7],
      [ANSWER, 7],
    ]);
  });

  it("CL-7 an event stream with a charset, and one whose data stands on several lines", async () => {
    const { url } = await serve(({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.end('data: {"jsonrpc":"2.0",\ndata: "id":1,\ndata: "result":{}}\n\n');
    });
    const { ask, messages } = connect(url);
    await ask();
    expect(messages).toEqual([['{"jsonrpc":"2.0", "id":1, "result":{}}', 1]]);
  });

  it("F07 F26 an event stream cut anywhere gives the same messages", async () => {
    const bytes = Buffer.from(STREAM);
    const { url } = await serve(({ request, response }) => {
      const cut = Number(request.headers["x-cut"]);
      sse(response).flushHeaders();
      response.write(bytes.subarray(0, cut), () =>
        setImmediate(() => response.write(bytes.subarray(cut), () => response.end())),
      );
    });
    const { send, messages, finished, until } = connect(url);
    for (let cut = 1; cut < bytes.length; cut++) send(cut, { "x-cut": String(cut) });
    await until(() => finished.length === bytes.length - 1);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(messages.filter(([, via]) => via === cut).map(([text]) => text)).toEqual([LOG, ANSWER]);
    }
  });

  it("CL-6 requests run side by side; the last may be answered first", async () => {
    const { url, request } = await serve(() => undefined);
    const { send, messages, until } = connect(url);
    for (const id of [1, 2, 3]) send(id);
    await request(2);
    for (const index of [2, 0, 1]) {
      const { response, body } = await request(index);
      json(response, `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":{}}`);
    }
    await until(() => messages.length === 3);
    expect(messages.every(([text, via]) => JSON.parse(text).id === via)).toBe(true);
  });

  it("CL-7 F25 early hints come before the answer, and are none", async () => {
    const { url, request } = await serve(({ response }) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload", "mcp-session-id": "s-0" });
      json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
    });
    const { ask, messages, finished } = connect(url);
    await ask(1);
    expect([messages, finished.length]).toEqual([[[ANSWER, 1]], 1]);
    await ask(2);
    expect((await request(1)).request.headers["mcp-session-id"]).toBe("s-1");
  });

  it("CL-7 headers are known by their names in any case, and of two the first counts", async () => {
    const head = "HTTP/1.1 200 OK\r\nCONTENT-type: text/event-stream\r\nContent-Type: application/json\r\n";
    const url = await serveRaw((socket) => socket.end(`${head}MCP-Session-ID: s-1\r\n\r\ndata: ${ANSWER}\n\n`));
    const { ask, messages } = connect(url);
    await ask();
    expect(messages).toEqual([[ANSWER, 1]]);
  });

  it.each([
    ["a web page", 200, "text/html", "<html>"],
    ["nothing", 200, "application/json", ""],
    ["half JSON", 200, "application/json", '{"jsonrpc":"2.0","id":1,'],
    ["accepted, and that was all", 202, "text/plain", ""],
  ])("F06 %s in place of an answer fails that request only", async (_, status, type, body) => {
    const { url } = await serve(({ response }) => response.writeHead(status, { "content-type": type }).end(body));
    const { ask, messages, unreachable } = connect(url);
    expect(await ask()).toMatchObject({ kind: "ProtocolError", message: expect.stringContaining("without an answer") });
    // Whether it is one is for the request table to say.
    expect(messages).toEqual(body === "" ? [] : [[body, 1]]);
    expect(unreachable).toEqual([]);
  });

  it("F06 what is no answer is counted by the request table, and the request fails", async () => {
    const bodies = ['{"jsonrpc":"2.0","id":1,', "<html>", "{}", ANSWER.replace('"id":1', '"id":4')];
    const { url } = await serve(({ response }) => json(response, bodies.shift() ?? ""));
    const channel: HttpChannel = new HttpChannel({
      url,
      headers: {},
      maxMessageBytes: 1 << 20,
      connectTimeoutMs: 5000,
      isWaiting: (id) => peer.isWaiting(id),
      onMessage: (bytes, via) => peer.receive(bytes, via),
      onFinished: (id, why) => peer.failRequest(id, why()),
      onUnreachable: (error) => peer.fail(error),
    });
    cleanups.push(() => channel.close());
    const peer = new Peer(channel, { onNotification: () => undefined, onRequest: () => undefined });
    const ask = () => peer.request("x", () => undefined, { timeoutMs: 0 });
    for (let count = 1; count <= 3; count++) {
      await expect(ask()).rejects.toMatchObject({ kind: "ProtocolError", delivery: "unknown" });
      expect(peer.counters.junk).toBe(count);
    }
    expect(await ask()).toMatchObject({ ok: true });
  });
});

describe("what is sent", () => {
  it("CL-7 path, query, body, and what the server may answer with", async () => {
    const { url, request } = await serve(({ response }) => json(response, ANSWER));
    const { ask } = connect(url, { headers: { authorization: "Bearer t" } });
    await ask();
    const { request: seen, body } = await request(0);
    expect([seen.method, seen.url, body]).toEqual(["POST", "/mcp?x=1", '{"jsonrpc":"2.0","id":1,"method":"x"}']);
    expect(seen.headers).toMatchObject({
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      authorization: "Bearer t",
    });
    expect(seen.headers).not.toHaveProperty("mcp-session-id");
    expect(seen.headers).not.toHaveProperty("mcp-protocol-version");
  });

  it("CL-7 the session id that the server gave, and the revision once it is agreed, on every later request", async () => {
    const { url, request } = await serve(({ request: { headers }, response }) =>
      json(response, ANSWER, 200, { "mcp-session-id": headers["mcp-session-id"] === undefined ? "s-1" : "s-2" }),
    );
    const { channel, ask } = connect(url);
    await ask(1);
    channel.agreed("2025-06-18", { closeCancels: false });
    await ask(2);
    await ask(3);
    await channel.listen();
    for (const index of [1, 2, 3]) {
      expect((await request(index)).request.headers).toMatchObject({
        "mcp-session-id": "s-1",
        "mcp-protocol-version": "2025-06-18",
      });
    }
    expect((await request(3)).request.method).toBe("GET");
  });

  it("T35 the headers of one request are for that one", async () => {
    const { url, request } = await serve(({ response }) => json(response, ANSWER));
    const { send, finished, until } = connect(url);
    send(1, { "mcp-method": "tools/call", "mcp-protocol-version": "2026-07-28" });
    send(2);
    await until(() => finished.length === 2);
    const methods = [await request(0), await request(1)].map(({ request: seen }) => seen.headers["mcp-method"]);
    expect(new Set(methods)).toEqual(new Set(["tools/call", undefined]));
  });

  it("CL-2 a notification is posted like a request, and its answer is not waited for", async () => {
    const { url, request } = await serve(({ response }) => response.writeHead(202).end());
    const { channel, ask, messages } = connect(url);
    channel.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
    expect((await request(0)).body).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect(await ask()).toMatchObject({ kind: "ProtocolError" });
    expect(messages).toEqual([]);
  });
});

describe("an HTTP status in place of an answer", () => {
  it.each([
    [400, "ConnectionFailed"],
    [401, "Unauthenticated"],
    [403, "Forbidden"],
    [404, "ConnectionFailed"],
    [405, "ConnectionFailed"],
    [429, "RateLimited"],
    [500, "ConnectionFailed"],
    [503, "ConnectionFailed"],
  ])("CL-7 %i is %s, and says nothing about the next request", async (status, kind) => {
    const { url } = await serve(({ response }) => response.writeHead(status).end("<html>no</html>"));
    const { ask, unreachable, messages } = connect(url);
    const error = await ask();
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({
      kind,
      status,
      rpcError: undefined,
      message: `The server answered with HTTP status ${status}`,
    });
    expect([unreachable, messages]).toEqual([[], []]);
  });

  it("CL-7 a JSON-RPC error without an id is the detail of the failure", async () => {
    const body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Server not initialized"}}';
    const { url } = await serve(({ response }) => json(response, body, 400));
    const { ask, messages } = connect(url);
    expect(await ask()).toMatchObject({
      status: 400,
      rpcError: { code: -32000, message: "Server not initialized" },
      detail: "Server not initialized",
    });
    expect(messages).toEqual([]);
  });

  it.each(["null", "[]", "7", '{"error":null}', '{"error":{"code":"x","message":1}}', '{"error":"no"}', "{"])(
    "F06 no error is made out of %s",
    async (body) => {
      const { url } = await serve(({ response }) => json(response, body, 500));
      expect(await connect(url).ask()).toMatchObject({ status: 500, rpcError: undefined });
    },
  );

  it.each([400, 404])("CL-2 a modern answer under the status %i is an answer", async (status) => {
    const answer = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}';
    const { url } = await serve(({ response }) => json(response, answer, status));
    const { ask, messages } = connect(url);
    expect(await ask()).toMatchObject({ status });
    expect(messages).toEqual([[answer, 1]]);
  });

  const GONE = '{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"gone"}}';
  it("CL-7 404 in a session means that the session is gone; before there is one it means nothing", async () => {
    let answered = 0;
    const { url } = await serve(({ response }) => {
      if (answered++ === 1) json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
      // Some, this hub among them, name the request that they refuse. It is no answer for all that.
      else json(response, GONE, 404);
    });
    const { ask, unreachable, messages } = connect(url);
    expect(await ask(1)).toMatchObject({ status: 404 });
    await ask(2);
    expect(unreachable).toEqual([]);
    messages.length = 0;
    expect(await ask(3)).toMatchObject({ status: 404 });
    expect(unreachable).toMatchObject([{ status: 404 }]);
    expect(messages).toEqual([]);
  });

  it("CL-7 an event stream under an error status is no stream", async () => {
    const { url } = await serve(({ response }) => {
      response.writeHead(500, { "content-type": "text/event-stream" }).end(STREAM);
    });
    const { ask, messages } = connect(url);
    expect(await ask()).toMatchObject({ status: 500 });
    expect(messages).toEqual([]);
  });
});

describe("bounds", () => {
  const fill = "x".repeat(2000);

  it.each([
    ["JSON", (response: ServerResponse) => json(response, `{"a":"${fill}"}`)],
    ["endless JSON", (response: ServerResponse) => void response.writeHead(200).write(`{"a":"${fill}`)],
    ["one event", (response: ServerResponse) => void sse(response).write(`data: ${fill}\n\n`)],
    ["an event without an end", (response: ServerResponse) => void sse(response).write(`data: ${fill}`)],
    ["an event of many lines", (response: ServerResponse) => void sse(response).write("data: x\n".repeat(2000))],
  ])("F08 F26 more than allowed as %s ends the exchange, once, and only that", async (_, answer) => {
    const { url, request } = await serve(({ response }) => answer(response));
    const { ask, messages, finished, unreachable } = connect(url, { maxMessageBytes: 1000 });
    expect(await ask()).toMatchObject({
      kind: "ProtocolError",
      message: expect.stringContaining("larger than 1000 bytes"),
    });
    const { response } = await request(0);
    if (!response.destroyed) await once(response, "close");
    expect([messages, finished.length, unreachable]).toEqual([[], 1, []]);
  });

  it("F08 exactly what is allowed passes", async () => {
    const { url } = await serve(({ response }) => json(response, ANSWER));
    const { ask, messages } = connect(url, { maxMessageBytes: Buffer.byteLength(ANSWER) });
    await ask();
    expect(messages).toHaveLength(1);
  });
});

describe("connections that break", () => {
  const body = Buffer.from(ANSWER);
  const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  const events = Buffer.from(STREAM);
  const chunked = Buffer.concat([
    Buffer.from(`${events.length.toString(16)}\r\n`),
    events,
    Buffer.from("\r\n0\r\n\r\n"),
  ]);

  /** The first `length` bytes of an answer, then the end of the connection: by a reset or by the usual goodbye. */
  async function cutAt(whole: Buffer, length: number, how: "reset" | "end") {
    const url = await serveRaw((socket) => {
      const cut = () => (how === "reset" ? socket.resetAndDestroy() : socket.end());
      if (length === 0) cut();
      // A reset may overtake what was written before it; the client's end tells that it has been read.
      else socket.write(whole.subarray(0, length), () => setImmediate(cut));
    });
    const { ask, channel, messages, finished, unreachable } = connect(url);
    const error = await ask();
    await channel.close();
    return { error, messages, finished, unreachable };
  }

  it.each(["reset", "end"] as const)("F25 a %s at any byte of a JSON answer fails the request, once", async (how) => {
    const whole = Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
    for (let length = 0; length < whole.length; length += 7) {
      const { error, messages, finished, unreachable } = await cutAt(whole, length, how);
      expect(error, `cut at ${length}`).toMatchObject({ kind: "ConnectionFailed" });
      expect([messages, finished.length], `cut at ${length}`).toEqual([[], 1]);
      // Others may be served at the same time, or an idle connection was closed just then: only this request fails.
      expect(unreachable, `cut at ${length}`).toEqual([]);
    }
  });

  it.each(["reset", "end"] as const)("F25 a %s at any byte of an event stream keeps what was whole", async (how) => {
    const whole = Buffer.concat([Buffer.from(streamHead), chunked]);
    for (let length = streamHead.length; length < whole.length; length += 7) {
      const { error, messages, finished } = await cutAt(whole, length, how);
      expect(error, `cut at ${length}`).toMatchObject({ kind: "ConnectionFailed" });
      expect(finished, `cut at ${length}`).toHaveLength(1);
      expect([LOG, ANSWER], `cut at ${length}`).toEqual(expect.arrayContaining(messages.map(([text]) => text)));
      if (length < streamHead.length + events.indexOf(LOG)) expect(messages, `cut at ${length}`).toEqual([]);
    }
  });

  it("F25 nobody listening is told as such, with the reason", async () => {
    const gone = createTcpServer();
    const url = await listen(gone);
    await new Promise((resolve) => gone.close(resolve));
    const { ask, unreachable, until } = connect(url);
    expect(await ask()).toMatchObject({ kind: "ConnectionFailed", detail: expect.stringContaining("ECONNREFUSED") });
    await until(() => unreachable.length === 1);
    expect(unreachable[0]).toMatchObject({ kind: "ConnectionFailed", detail: expect.stringContaining("ECONNREFUSED") });
  });

  it("F25 what is no HTTP is told as such", async () => {
    const url = await serveRaw((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    const { ask, unreachable } = connect(url);
    expect(await ask()).toMatchObject({ kind: "ConnectionFailed", detail: "HTTPParserError" });
    expect(unreachable).toEqual([]);
  });

  it("F25 after a failure the next request gets a new connection", async () => {
    let first = true;
    const url = await serveRaw((socket) => {
      if (first) socket.resetAndDestroy();
      else socket.end(`${head}Content-Length: ${body.length}\r\n\r\n${ANSWER}`);
      first = false;
    });
    const { ask, messages } = connect(url);
    expect(await ask(1)).toMatchObject({ kind: "ConnectionFailed" });
    await ask(2);
    expect(messages).toEqual([[ANSWER, 2]]);
  });
});

describe("giving up", () => {
  it.each([true, false])(
    "CL-3 F03 abandoning closes the request; that it cancels is said as agreed: %s",
    async (closeCancels) => {
      const { url, request } = await serve(() => undefined);
      const { channel, send, finished, until, unreachable } = connect(url);
      channel.agreed("2026-07-28", { closeCancels });
      send(1);
      const { response } = await request(0);
      const closed = once(response, "close");
      expect(channel.abandon(1)).toBe(closeCancels);
      await closed;
      await until(() => finished.length === 1);
      expect(finished[0]).toMatchObject([1, { kind: "Cancelled" }]);
      expect(unreachable).toEqual([]);
    },
  );

  it("CL-3 abandoning a stream that has begun closes it too, and nothing more comes of it", async () => {
    const { url, request } = await serve(({ response }) => void sse(response).write(`data: ${LOG}\n\n`));
    const { channel, send, messages, finished, until } = connect(url);
    send(1);
    await until(() => messages.length === 1);
    const { response } = await request(0);
    const closed = once(response, "close");
    channel.abandon(1);
    await closed;
    await until(() => finished.length === 1);
    expect(messages).toHaveLength(1);
  });

  it("CL-3 what is abandoned before there is a connection is never sent", async () => {
    const { url, seen } = await serve(({ response }) => json(response, ANSWER));
    const { channel, send, ask, finished } = connect(url);
    send(1);
    channel.abandon(1);
    await ask(2);
    await ask(3);
    expect(seen.map(({ body }) => JSON.parse(body).id)).toEqual([2, 3]);
    expect(finished[0]).toMatchObject([1, { kind: "Cancelled" }]);
  });

  it("CL-3 abandoning what is unknown or over does nothing", async () => {
    const { url } = await serve(({ response }) => json(response, ANSWER));
    const { channel, ask, finished } = connect(url);
    await ask(1);
    channel.abandon(1);
    channel.abandon(99);
    await ask(2);
    expect(finished.map(([id]) => id)).toEqual([1, 2]);
  });
});

describe("the GET stream of a legacy server", () => {
  it("CL-7 carries messages that belong to no request, and ends with its status", async () => {
    const { url, request } = await serve(({ response }) => sse(response).end(`data: ${LOG}\n\n`));
    const { channel, messages } = connect(url);
    expect(await channel.listen()).toBe(200);
    expect(messages).toEqual([[LOG, undefined]]);
    expect((await request(0)).request.method).toBe("GET");
  });

  it.each([405, 404, 500])("CL-7 a server that has none answers %i, and that is no loss", async (status) => {
    const { url } = await serve(({ request: { method }, response }) => {
      if (method === "GET") response.writeHead(status).end();
      else json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
    });
    const { channel, ask, unreachable } = connect(url);
    await ask();
    expect(await channel.listen()).toBe(status);
    expect(unreachable).toEqual([]);
  });

  it("F25 a stream that breaks ends with the status that it began with", async () => {
    const { url } = await serve(({ response }) => {
      sse(response).write(`data: ${LOG}\n\n`, () => response.socket?.resetAndDestroy());
    });
    expect(await connect(url).channel.listen()).toBe(200);
  });

  it("F26 a stream of more than allowed is ended", async () => {
    const { url } = await serve(({ response }) => void sse(response).write(`data: ${"x".repeat(2000)}`));
    const { channel, messages } = connect(url, { maxMessageBytes: 1000 });
    expect(await channel.listen()).toBe(200);
    expect(messages).toEqual([]);
  });
});

describe("close", () => {
  it("CL-7 ends the session with DELETE, open requests and streams, and every connection", async () => {
    const { url, request, server } = await serve(({ request: { method }, response }) => {
      if (method === "GET") sse(response).flushHeaders();
      else if (method === "DELETE") response.writeHead(204).end();
      else response.writeHead(200, { "mcp-session-id": "s-1", "content-type": "text/event-stream" }).flushHeaders();
    });
    const { channel, send, finished, unreachable } = connect(url);
    channel.agreed("2025-11-25", { closeCancels: false });
    send(1);
    const streams = [await request(0)];
    const listening = channel.listen();
    streams.push(await request(1));
    await channel.close();
    expect(await listening).toBe(200);
    const { request: goodbye } = await request(2);
    expect([goodbye.method, goodbye.url]).toEqual(["DELETE", "/mcp?x=1"]);
    expect(goodbye.headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" });
    expect(finished).toMatchObject([[1, { kind: "Cancelled" }]]);
    expect(unreachable).toEqual([]);
    for (const { response } of streams) if (!response.destroyed) await once(response, "close");
    await noConnections(server);
  });

  it("CL-7 without a session there is nothing to say", async () => {
    const { url, seen, server } = await serve(({ response }) => json(response, ANSWER));
    const { channel, ask } = connect(url);
    await ask();
    await channel.close();
    await noConnections(server);
    expect(seen.map(({ request }) => request.method)).toEqual(["POST"]);
  });

  it("CL-7 a server that does not answer the goodbye is not waited for", async () => {
    const { url, seen } = await serve(({ request: { method }, response }) => {
      if (method === "POST") json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
    });
    const { channel, ask } = connect(url);
    await ask();
    await channel.close();
    await channel.close();
    expect(seen.map(({ request }) => request.method)).toEqual(["POST", "DELETE"]);
  });

  it("CL-7 a server that is gone does not mind, and neither do we", async () => {
    const { url, server } = await serve(({ response }) => json(response, ANSWER, 200, { "mcp-session-id": "s-1" }));
    const { channel, ask, unreachable } = connect(url);
    await ask();
    server.closeAllConnections();
    server.close();
    await channel.close();
    expect(unreachable).toEqual([]);
  });

  it("CL-3 afterwards nothing is sent, not even what was asked before there was a connection", async () => {
    const { url, seen } = await serve(({ response }) => json(response, ANSWER));
    const { channel, send, unreachable } = connect(url);
    send(1);
    await channel.close();
    send(2);
    expect(await channel.listen()).toBeUndefined();
    await connect(url).ask(3);
    expect(seen.map(({ body }) => JSON.parse(body).id)).toEqual([3]);
    expect(unreachable).toEqual([]);
  });
});

async function noConnections(server: Server): Promise<void> {
  for (;;) {
    const count = await new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));
    if (count === 0) return;
    // Our side has ended; the other hears of it through the kernel.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("redirects", () => {
  const redirect = (response: ServerResponse, status: number, location: string) =>
    response.writeHead(status, { location, "content-type": "text/plain" }).end("over there");

  it.each([307, 308])("CL-7 %d within the origin is followed, with method, body and headers", async (status) => {
    const { url, seen } = await serve(({ request, response }) => {
      if (request.url === "/new") json(response, ANSWER);
      else redirect(response, status, "/new");
    });
    const { ask, messages } = connect(url, { headers: { authorization: "Bearer t0k" } });
    await ask();
    expect(messages).toEqual([[ANSWER, 1]]);
    expect(seen).toHaveLength(2);
    expect(seen.map(({ request, body }) => [request.method, request.headers.authorization, body])).toEqual(
      seen.map(() => ["POST", "Bearer t0k", '{"jsonrpc":"2.0","id":1,"method":"x"}']),
    );
  });

  it("SE-1 a path that looks like another host is a path", async () => {
    const { url, seen } = await serve(({ request, response }) => {
      if (request.url === "//there.example/new") json(response, ANSWER);
      else redirect(response, 307, "new");
    });
    const { ask, messages } = connect(new URL(`${url.origin}//there.example/mcp`));
    await ask();
    expect(messages).toEqual([[ANSWER, 1]]);
    expect(seen.map(({ request }) => request.url)).toEqual(["//there.example/mcp", "//there.example/new"]);
  });

  it.each([301, 302, 303])("CL-7 %d would lose the body, and is refused", async (status) => {
    const { url, seen } = await serve(({ response }) => redirect(response, status, "/new"));
    const error = await connect(url).ask();
    expect(error).toMatchObject({ kind: "ConnectionFailed", detail: `HTTP status ${status}, to ${url.origin}/new` });
    expect(seen).toHaveLength(1);
  });

  it("SE-1 another origin is refused, and hears nothing", async () => {
    const other = await serve(({ response }) => json(response, ANSWER));
    const { url } = await serve(({ response }) => redirect(response, 307, `${other.url.origin}/mcp?key=s3cret`));
    const error = await connect(url, { headers: { authorization: "Bearer t0k" } }).ask();
    expect(error).toMatchObject({ kind: "ConnectionFailed", detail: expect.stringContaining(other.url.origin) });
    expect(error?.detail).not.toContain("s3cret");
    expect(other.seen).toEqual([]);
  });

  it("SE-5 in a circle they end", async () => {
    const { url, seen } = await serve(({ request, response }) => redirect(response, 307, String(request.url)));
    expect(await connect(url).ask()).toMatchObject({ kind: "ConnectionFailed" });
    expect(seen).toHaveLength(6);
  });
});

describe("resumption", () => {
  const part = (id: string, data = "") => `id: ${id}\nretry: 20\ndata: ${data}\n\n`;

  it.each(["ended", "broken"] as const)("CL-7 a stream that is %s is taken up where it stopped", async (how) => {
    const { url, seen } = await serve(({ request, response }) => {
      if (request.method === "GET") return sse(response).end(part("7-2", ANSWER));
      sse(response).write(part("7-0") + part("7-1", LOG), () => {
        if (how === "ended") response.end();
        else response.destroy();
      });
    });
    const { messages, send, until } = connect(url, { waits: true });
    send(1);
    await until(() => messages.length === 2);
    expect(messages).toEqual([
      [LOG, 1],
      [ANSWER, 1],
    ]);
    expect(seen[1]?.request.headers).toMatchObject({ accept: "text/event-stream", "last-event-id": "7-1" });
  });

  it("CL-7 one that nobody waits for any more is left alone", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("7-1", ANSWER)));
    await connect(url).ask();
    expect(seen).toHaveLength(1);
  });

  it("CL-7 a server that refuses to go on fails the request with the reason of its end", async () => {
    const { url, seen } = await serve(({ request, response }) => {
      if (request.method === "GET") json(response, "{}", 405);
      else sse(response).end(part("7-1", LOG));
    });
    expect(await connect(url, { waits: true }).ask()).toMatchObject({
      message: "The server closed the stream before it answered",
      delivery: "unknown",
    });
    expect(seen).toHaveLength(2);
  });

  it("SE-5 a server that always breaks off is asked so often and not more", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("7-1")));
    expect(await connect(url, { waits: true }).ask()).toMatchObject({ kind: "ConnectionFailed" });
    expect(seen).toHaveLength(6);
  });

  it("CL-7 an id that fits no header is not used", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("sieben-\u{1f600}")));
    expect(await connect(url, { waits: true }).ask()).toMatchObject({ kind: "ConnectionFailed" });
    expect(seen).toHaveLength(1);
  });

  it("CL-7 the stream of announcements goes on after its last event too", async () => {
    const { url, request } = await serve(({ request: { headers }, response }) => {
      if (headers["last-event-id"] === undefined) sse(response).end(part("0-1", LOG));
      else sse(response).write(part("0-2", LOG));
    });
    const { channel, messages, until } = connect(url);
    void channel.listen();
    await until(() => messages.length === 2);
    expect((await request(1)).request.headers["last-event-id"]).toBe("0-1");
  });

  it("CL-7 after the agreement on the modern era nothing is resumed", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("7-1")));
    const { channel, ask } = connect(url, { waits: true });
    channel.agreed("2026-07-28", { closeCancels: true });
    await ask();
    expect(seen).toHaveLength(1);
  });
});
