// The GET stream of a legacy server, and the resumption of streams.

import { describe, expect, it } from "vitest";
import { serve, connect, json, sse, ANSWER, LOG } from "../../../../test/support/http-channel.ts";

describe("the GET stream of a legacy server", () => {
  it("CL-7 carries messages that belong to no request, and ends with its status", async () => {
    const { url, request } = await serve(({ response }) => sse(response).end(`data: ${LOG}\n\n`));
    const { channel, messages } = connect(url);
    expect(await channel.listen()).toBe(200);
    expect(messages).toEqual([[LOG, undefined]]);
    expect((await request(0)).request.method).toBe("GET");
  });

  it.each([405, 404, 500])("CL-7 a server without one replies %i, and the connection stays usable", async (status) => {
    const { url } = await serve(({ request: { method }, response }) => {
      if (method === "GET") response.writeHead(status).end();
      else json(response, ANSWER, 200, { "mcp-session-id": "s-1" });
    });
    const { channel, ask, unreachable } = connect(url);
    await ask();
    expect(await channel.listen()).toBe(status);
    expect(unreachable).toEqual([]);
  });

  it("F25 a broken stream ends with the status that it began with", async () => {
    const { url } = await serve(({ response }) => {
      sse(response).write(`data: ${LOG}\n\n`, () => response.socket?.resetAndDestroy());
    });
    expect(await connect(url).channel.listen()).toBe(200);
  });

  it("F26 an event that is too large ends the stream", async () => {
    const { url } = await serve(({ response }) => void sse(response).write(`data: ${"x".repeat(2000)}`));
    const { channel, messages } = connect(url, { maxMessageBytes: 1000 });
    expect(await channel.listen()).toBe(200);
    expect(messages).toEqual([]);
  });
});

describe("resumption", () => {
  const part = (id: string, data = "") => `id: ${id}\nretry: 20\ndata: ${data}\n\n`;

  it.each(["ended", "broken"] as const)("CL-7 a stream that is %s is resumed after its last event", async (how) => {
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

  it("CL-7 a stream that no request waits for is not resumed", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("7-1", ANSWER)));
    await connect(url).ask();
    expect(seen).toHaveLength(1);
  });

  it("CL-7 a refused resumption fails the request with the reason why the stream ended", async () => {
    const { url, seen } = await serve(({ request, response }) => {
      if (request.method === "GET") json(response, "{}", 405);
      else sse(response).end(part("7-1", LOG));
    });
    expect(await connect(url, { waits: true }).ask()).toMatchObject({
      message: "The server closed the stream before its reply",
      delivery: "unknown",
    });
    expect(seen).toHaveLength(2);
  });

  it("SE-5 attempts are bounded for a server that always breaks off", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("7-1")));
    expect(await connect(url, { waits: true }).ask()).toMatchObject({ kind: "ConnectionFailed" });
    expect(seen).toHaveLength(6);
  });

  it("CL-7 an event id that fits no header is not used", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("sieben-\u{1f600}")));
    expect(await connect(url, { waits: true }).ask()).toMatchObject({ kind: "ConnectionFailed" });
    expect(seen).toHaveLength(1);
  });

  it("CL-7 the GET stream is resumed after its last event too", async () => {
    const { url, request } = await serve(({ request: { headers }, response }) => {
      if (headers["last-event-id"] === undefined) sse(response).end(part("0-1", LOG));
      else sse(response).write(part("0-2", LOG));
    });
    const { channel, messages, until } = connect(url);
    void channel.listen();
    await until(() => messages.length === 2);
    expect((await request(1)).request.headers["last-event-id"]).toBe("0-1");
  });

  it("CL-7 nothing is resumed in the modern era", async () => {
    const { url, seen } = await serve(({ response }) => sse(response).end(part("7-1")));
    const { channel, ask } = connect(url, { waits: true });
    channel.agreed("2026-07-28", { closeCancels: true });
    await ask();
    expect(seen).toHaveLength(1);
  });
});
