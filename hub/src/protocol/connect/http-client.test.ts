// Streamable HTTP, client side, with small real servers: responses, requests, statuses and limits.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { HttpChannel } from "./http-client.ts";
import { HttpStatusError } from "./http-failure.ts";
import { Peer } from "./peer.ts";
import { serve, serveRaw, connect, json, sse, ANSWER, LOG, STREAM } from "../../../../test/support/http-channel.ts";

describe("responses", () => {
  it("CL-7 JSON: the bytes reach their request unchanged", async () => {
    const { url } = await serve(({ response }) => json(response, ANSWER));
    const { ask, messages, unreachable } = connect(url);
    // The end of the response is always reported, also for a request that has its reply.
    expect(await ask()).toMatchObject({ kind: "ProtocolError" });
    expect(messages).toEqual([[ANSWER, 1]]);
    expect(unreachable).toEqual([]);
  });

  it("CL-7 pretty-printed JSON is put on one line, since stdio frames by lines", async () => {
    const pretty = JSON.stringify(JSON.parse(ANSWER), null, 2);
    const { url } = await serve(({ response }) => json(response, pretty));
    const { ask, messages } = connect(url);
    await ask();
    expect(messages).toEqual([[pretty.replaceAll("\n", " "), 1]]);
  });

  it("CL-7 event stream: messages before the reply belong to the same request", async () => {
    const { url } = await serve(({ response }) => sse(response).end(STREAM));
    const { ask, messages } = connect(url);
    expect(await ask(7)).toMatchObject({
      kind: "ConnectionFailed",
      message: expect.stringContaining("before its reply"),
    });
    expect(messages).toEqual([
      [LOG, 7],
      [ANSWER, 7],
    ]);
  });

  it("CL-7 an event stream with a charset, and one with multi-line data", async () => {
    const { url } = await serve(({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.end('data: {"jsonrpc":"2.0",\ndata: "id":1,\ndata: "result":{}}\n\n');
    });
    const { ask, messages } = connect(url);
    await ask();
    expect(messages).toEqual([['{"jsonrpc":"2.0", "id":1, "result":{}}', 1]]);
  });

  it("F07 F26 an event stream split anywhere gives the same messages", async () => {
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

  it("CL-6 requests run concurrently; the last may get its reply first", async () => {
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

  it("CL-7 F25 early hints before the response are ignored", async () => {
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

  it("CL-7 header names are case-insensitive, and of two the first is used", async () => {
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
  ])("F06 %s in place of a reply fails that request only", async (_, status, type, body) => {
    const { url } = await serve(({ response }) => response.writeHead(status, { "content-type": type }).end(body));
    const { ask, messages, unreachable } = connect(url);
    expect(await ask()).toMatchObject({ kind: "ProtocolError", message: expect.stringContaining("without a reply") });
    // The peer decides whether it is a reply.
    expect(messages).toEqual(body === "" ? [] : [[body, 1]]);
    expect(unreachable).toEqual([]);
  });

  it("F06 a body that is not a reply is counted, and the request fails", async () => {
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
    onTestFinished(() => channel.close());
    const peer = new Peer(channel, { onNotification: () => undefined, onRequest: () => undefined });
    const ask = () => peer.request("x", () => undefined, { timeoutMs: 0 });
    for (let count = 1; count <= 3; count++) {
      await expect(ask()).rejects.toMatchObject({ kind: "ProtocolError", delivery: "unknown" });
      expect(peer.counters.junk).toBe(count);
    }
    expect(await ask()).toMatchObject({ ok: true });
  });
});

describe("requests", () => {
  it("CL-7 have path, query, body, and accepted types", async () => {
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

  it("CL-7 have the session id and the negotiated revision after the handshake", async () => {
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

  it("T35 headers of one request are sent with that request only", async () => {
    const { url, request } = await serve(({ response }) => json(response, ANSWER));
    const { send, finished, until } = connect(url);
    send(1, { "mcp-method": "tools/call", "mcp-protocol-version": "2026-07-28" });
    send(2);
    await until(() => finished.length === 2);
    const methods = [await request(0), await request(1)].map(({ request: seen }) => seen.headers["mcp-method"]);
    expect(new Set(methods)).toEqual(new Set(["tools/call", undefined]));
  });

  it("CL-2 a notification is posted like a request, without waiting for its response", async () => {
    const { url, request } = await serve(({ response }) => response.writeHead(202).end());
    const { channel, ask, messages } = connect(url);
    channel.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'));
    expect((await request(0)).body).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect(await ask()).toMatchObject({ kind: "ProtocolError" });
    expect(messages).toEqual([]);
  });
});

describe("an HTTP status in place of a reply", () => {
  it.each([
    [400, "ConnectionFailed"],
    [401, "Unauthenticated"],
    [403, "Forbidden"],
    [404, "ConnectionFailed"],
    [405, "ConnectionFailed"],
    [429, "RateLimited"],
    [500, "ConnectionFailed"],
    [503, "ConnectionFailed"],
  ])("CL-7 %i is %s, and does not affect the next request", async (status, kind) => {
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
    "F06 %s gives no error detail",
    async (body) => {
      const { url } = await serve(({ response }) => json(response, body, 500));
      expect(await connect(url).ask()).toMatchObject({ status: 500, rpcError: undefined });
    },
  );

  it.each([400, 404])("CL-2 a modern reply with status %i is a reply", async (status) => {
    const answer = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}';
    const { url } = await serve(({ response }) => json(response, answer, status));
    const { ask, messages } = connect(url);
    expect(await ask()).toMatchObject({ status });
    expect(messages).toEqual([[answer, 1]]);
  });

  const GONE = '{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"gone"}}';
  it("CL-7 404 in a session means that the session is lost; without a session it is an ordinary error", async () => {
    let answered = 0;
    const { url } = await serve(({ response }) => {
      if (answered++ === 1) json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
      // Some servers, this hub included, name the refused request. It is still not a reply.
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

  it("CL-7 an event stream with an error status is not read as a stream", async () => {
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
  ])("F08 F26 a message that is too large as %s fails its request once, and only that", async (_, answer) => {
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

  it("F08 a message of exactly the limit passes", async () => {
    const { url } = await serve(({ response }) => json(response, ANSWER));
    const { ask, messages } = connect(url, { maxMessageBytes: Buffer.byteLength(ANSWER) });
    await ask();
    expect(messages).toHaveLength(1);
  });
});
