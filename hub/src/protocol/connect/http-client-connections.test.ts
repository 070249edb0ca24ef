// Connections of the Streamable HTTP client: breaks, abandoned requests, redirects and closing.

import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { describe, expect, it } from "vitest";
import {
  openUrl,
  serve,
  serveRaw,
  connect,
  json,
  sse,
  ANSWER,
  LOG,
  STREAM,
} from "../../../../test/support/http-channel.ts";

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

  /** The first `length` bytes of a response, then the end of the connection, by reset or by FIN. */
  async function cutAt(whole: Buffer, length: number, how: "reset" | "end") {
    const url = await serveRaw((socket) => {
      const cut = () => (how === "reset" ? socket.resetAndDestroy() : socket.end());
      if (length === 0) cut();
      // A reset may overtake earlier data; the client's FIN means that it has been read.
      else socket.write(whole.subarray(0, length), () => setImmediate(cut));
    });
    const { ask, channel, messages, finished, unreachable } = connect(url);
    const error = await ask();
    await channel.close();
    return { error, messages, finished, unreachable };
  }

  it.each(["reset", "end"] as const)("F25 a %s at any byte of a JSON response fails the request once", async (how) => {
    const whole = Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
    for (let length = 0; length < whole.length; length += 7) {
      const { error, messages, finished, unreachable } = await cutAt(whole, length, how);
      expect(error, `cut at ${length}`).toMatchObject({ kind: "ConnectionFailed" });
      expect([messages, finished.length], `cut at ${length}`).toEqual([[], 1]);
      // Only this request fails, not others at the same time.
      expect(unreachable, `cut at ${length}`).toEqual([]);
    }
  });

  it.each(["reset", "end"] as const)(
    "F25 a %s at any byte of an event stream keeps the complete events",
    async (how) => {
      const whole = Buffer.concat([Buffer.from(streamHead), chunked]);
      for (let length = streamHead.length; length < whole.length; length += 7) {
        const { error, messages, finished } = await cutAt(whole, length, how);
        expect(error, `cut at ${length}`).toMatchObject({ kind: "ConnectionFailed" });
        expect(finished, `cut at ${length}`).toHaveLength(1);
        expect([LOG, ANSWER], `cut at ${length}`).toEqual(expect.arrayContaining(messages.map(([text]) => text)));
        if (length < streamHead.length + events.indexOf(LOG)) expect(messages, `cut at ${length}`).toEqual([]);
      }
    },
  );

  it("F25 a refused connection is reported with its address and code", async () => {
    const gone = createTcpServer();
    const url = await openUrl(gone);
    await new Promise((resolve) => gone.close(resolve));
    const { ask, unreachable, until } = connect(url);
    expect(await ask()).toMatchObject({ kind: "ConnectionFailed", detail: expect.stringContaining("ECONNREFUSED") });
    await until(() => unreachable.length === 1);
    expect(unreachable[0]).toMatchObject({ kind: "ConnectionFailed", detail: expect.stringContaining("ECONNREFUSED") });
  });

  it("F25 a response that is not HTTP is reported", async () => {
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

describe("abandoning", () => {
  it.each([true, false])("CL-3 F03 closes the request, which cancels it as negotiated: %s", async (closeCancels) => {
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
  });

  it("CL-3 closes a stream that has begun, and no more messages come", async () => {
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

  it("CL-3 a request without a connection yet is never sent", async () => {
    const { url, seen } = await serve(({ response }) => json(response, ANSWER));
    const { channel, send, ask, finished } = connect(url);
    send(1);
    channel.abandon(1);
    await ask(2);
    await ask(3);
    expect(seen.map(({ body }) => JSON.parse(body).id)).toEqual([2, 3]);
    expect(finished[0]).toMatchObject([1, { kind: "Cancelled" }]);
  });

  it("CL-3 does nothing for an unknown or finished request", async () => {
    const { url } = await serve(({ response }) => json(response, ANSWER));
    const { channel, ask, finished } = connect(url);
    await ask(1);
    channel.abandon(1);
    channel.abandon(99);
    await ask(2);
    expect(finished.map(([id]) => id)).toEqual([1, 2]);
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

  it("CL-7 sends no DELETE without a session", async () => {
    const { url, seen, server } = await serve(({ response }) => json(response, ANSWER));
    const { channel, ask } = connect(url);
    await ask();
    await channel.close();
    await noConnections(server);
    expect(seen.map(({ request }) => request.method)).toEqual(["POST"]);
  });

  it("CL-7 does not wait for a server that does not answer the DELETE", async () => {
    const { url, seen } = await serve(({ request: { method }, response }) => {
      if (method === "POST") json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
    });
    const { channel, ask } = connect(url);
    await ask();
    await channel.close();
    await channel.close();
    expect(seen.map(({ request }) => request.method)).toEqual(["POST", "DELETE"]);
  });

  it("CL-7 succeeds if the server is gone", async () => {
    const { url, server } = await serve(({ response }) => json(response, ANSWER, 200, { "mcp-session-id": "s-1" }));
    const { channel, ask, unreachable } = connect(url);
    await ask();
    server.closeAllConnections();
    server.close();
    await channel.close();
    expect(unreachable).toEqual([]);
  });

  it("CL-3 sends nothing afterwards, not even requests that waited for a connection", async () => {
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
    // Our side has ended; the peer learns of it through the kernel.
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

  it("SE-1 a path that looks like another host stays a path", async () => {
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

  it("SE-1 another origin is refused and gets no request", async () => {
    const other = await serve(({ response }) => json(response, ANSWER));
    const { url } = await serve(({ response }) => redirect(response, 307, `${other.url.origin}/mcp?key=s3cret`));
    const error = await connect(url, { headers: { authorization: "Bearer t0k" } }).ask();
    expect(error).toMatchObject({ kind: "ConnectionFailed", detail: expect.stringContaining(other.url.origin) });
    expect(error?.detail).not.toContain("s3cret");
    expect(other.seen).toEqual([]);
  });

  it("SE-5 a redirect loop ends", async () => {
    const { url, seen } = await serve(({ request, response }) => redirect(response, 307, String(request.url)));
    expect(await connect(url).ask()).toMatchObject({ kind: "ConnectionFailed" });
    expect(seen).toHaveLength(6);
  });
});
