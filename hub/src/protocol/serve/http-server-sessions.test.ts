// Legacy sessions over Streamable HTTP, and the GET stream of a session.

import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { MODERN_VERSION } from "../revisions/era.ts";
import { raw, RPC, success, type Reply } from "../rpc/jsonrpc.ts";
import { HELLO, rpc, outcome, reader, messagesOf, useHttpServer } from "../../../../test/support/http-server.ts";

const { url, server, service, responses, post, get, openSession, flood } = useHttpServer();

describe("legacy sessions", () => {
  it("CL-7 initialize opens one, with an id that fits a header and the negotiated revision", async () => {
    const response = await post(rpc("a", "initialize", HELLO));
    expect(response.status).toBe(200);
    expect(response.headers.get("mcp-session-id")).toMatch(/^[\x21-\x7e]{20,}$/);
    expect(await response.json()).toEqual({ jsonrpc: "2.0", id: "a", result: { protocolVersion: "2025-06-18" } });
    expect([...service.sessions]).toMatchObject([{ clientInfo: { name: "c" }, version: "2025-06-18" }]);
  });

  it("CL-7 two handshakes are two sessions", async () => {
    expect((await openSession())["mcp-session-id"]).not.toBe((await openSession())["mcp-session-id"]);
    expect(service.sessions.size).toBe(2);
  });

  const unknown = { "mcp-session-id": "5f2b6c1e-0000-4000-8000-000000000000" };

  it.each([
    ["a request", () => post(rpc(7, "saw")), () => post(rpc(7, "saw"), unknown)],
    [
      "an answer",
      () => post('{"jsonrpc":"2.0","id":7,"result":{}}'),
      () => post('{"jsonrpc":"2.0","id":7,"result":{}}', unknown),
    ],
    ["a stream", () => get({}), () => get(unknown)],
    ["the end", () => fetch(url(), { method: "DELETE" }), () => fetch(url(), { method: "DELETE", headers: unknown })],
  ])("CL-7 %s without a session is refused with 400, with an unknown one with 404", async (_, without, withUnknown) => {
    expect(await outcome(without())).toMatchObject({ status: 400, code: RPC.invalidRequest });
    expect(await outcome(withUnknown())).toMatchObject({ status: 404, code: RPC.invalidRequest });
  });

  it("CL-7 the error has the id of the request", async () => {
    expect(await outcome(post(rpc("x", "saw")))).toMatchObject({ id: "x" });
    expect(await outcome(post(rpc("x", "saw"), unknown))).toMatchObject({ id: "x" });
  });

  it("CL-7 DELETE ends one session with its stream and requests, and no other", async () => {
    const [session, other] = [await openSession(), await openSession()];
    const waiting = outcome(post(rpc(1, "wait"), session));
    const { signal } = await service.incoming("wait");
    const stream = await get(session);
    const ended = await fetch(url(), { method: "DELETE", headers: session });
    expect([ended.status, await ended.text()]).toEqual([204, ""]);
    expect(signal.aborted).toBe(true);
    expect(await waiting).toMatchObject({ status: 200, code: -31499 });
    expect(await reader(stream).rest()).toBe("");
    expect(await outcome(post(rpc(2, "saw"), session))).toMatchObject({ status: 404 });
    expect(await outcome(fetch(url(), { method: "DELETE", headers: session }))).toMatchObject({ status: 404 });
    expect(await outcome(post(rpc(2, "saw"), other))).toMatchObject({ status: 200 });
  });

  it.each([
    [undefined, 200],
    ["2025-06-18", 200],
    ["2024-11-05", 200],
    ["2024-10-07", 400],
    ["1.0", 400],
  ])("CL-2 a later request with the revision %s: %i", async (version, status) => {
    const headers = { ...(await openSession()), ...(version === undefined ? {} : { "mcp-protocol-version": version }) };
    expect(await outcome(post(rpc(1, "saw"), headers))).toMatchObject({ status });
  });

  it("CL-7 a request has its session, and the session's current log level", async () => {
    const session = await openSession();
    for (const one of service.sessions) one.logLevel = "error";
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({
      result: { era: "legacy", version: "2025-06-18", logLevel: "error" },
    });
  });

  it.each([
    ["in a session", async () => openSession(), ["notifications/initialized session"], 202],
    ["without one", async () => ({}), ["notifications/initialized -"], 202],
    ["in an unknown one", async () => unknown, [], 404],
    [
      "of the modern era, with no envelope, as the SDK sends them",
      async () => ({ "mcp-protocol-version": MODERN_VERSION }),
      ["notifications/initialized -"],
      202,
    ],
  ])("CL-2 a notification %s", async (_, headers, notified, status) => {
    const response = await post({ jsonrpc: "2.0", method: "notifications/initialized" }, await headers());
    expect(response.status).toBe(status);
    if (status === 202) expect(await response.text()).toBe("");
    expect(service.notified).toEqual(notified);
  });

  it("CL-7 a posted reply is accepted", async () => {
    const response = await post('{"jsonrpc":"2.0","id":1,"result":{}}', await openSession());
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  it("F11 an id in use is refused within its session; text and number ids differ", async () => {
    const [session, other] = [await openSession(), await openSession()];
    const gone = new AbortController();
    const waiting = post(rpc(1, "wait"), session, gone.signal).catch(() => undefined);
    await service.incoming("wait");
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({ status: 400, code: RPC.invalidRequest, id: 1 });
    expect(await outcome(post(rpc("1", "saw"), session))).toMatchObject({ status: 200 });
    expect(await outcome(post(rpc(1, "saw"), other))).toMatchObject({ status: 200 });
    gone.abort();
    await waiting;
  });

  it("CL-3 a later POST cancels a request, and only in its own session", async () => {
    const [session, other] = [await openSession(), await openSession()];
    const waiting = outcome(post(rpc(1, "wait"), session));
    const { signal } = await service.incoming("wait");
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    for (const params of [{ requestId: "1" }, { requestId: null }, {}]) await post({ ...cancel, params }, session);
    await post(cancel, other);
    await post(cancel);
    expect(signal.aborted).toBe(false);
    expect((await post(cancel, session)).status).toBe(202);
    expect(signal.aborted).toBe(true);
    expect(await waiting).toMatchObject({ code: -31499 });
    expect(service.notified).toEqual(["notifications/cancelled -"]);
  });

  it("CL-7 a disconnect is not a cancellation: the request continues", async () => {
    const session = await openSession();
    const gone = new AbortController();
    let finish: (reply: Reply) => void = () => {};
    service.methods["slow"] = () => new Promise((resolve) => (finish = resolve));
    const left = post(rpc(1, "slow"), session, gone.signal).catch(() => undefined);
    const incoming = await service.incoming("slow");
    const response = responses.at(-1);
    gone.abort();
    await left;
    if (response?.destroyed !== true) await once(response ?? server(), "close");
    expect(incoming.signal.aborted).toBe(false);
    // Sending to a disconnected client is not an error.
    incoming.notify("notifications/progress", raw({}));
    finish(success({}));
    await turn();
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({ status: 200 });
  });
});

describe("the stream of a session", () => {
  it("CL-7 carries unsolicited messages; earlier ones are buffered, equal ones once", async () => {
    const session = await openSession();
    const [own] = service.sessions;
    own?.notify("notifications/tools/list_changed");
    own?.notify("notifications/tools/list_changed");
    const stream = await get(session);
    expect([stream.status, stream.headers.get("content-type"), stream.headers.get("x-accel-buffering")]).toEqual([
      200,
      "text/event-stream",
      "no",
    ]);
    own?.notify("notifications/prompts/list_changed");
    own?.notify("notifications/x", raw({ a: "ü" }));
    const text = await reader(stream).until("notifications/x");
    expect(messagesOf(text)).toEqual([
      { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
      { jsonrpc: "2.0", method: "notifications/prompts/list_changed" },
      { jsonrpc: "2.0", method: "notifications/x", params: { a: "ü" } },
    ]);
  });

  it("CL-7 is one at a time, and can be opened again after its end", async () => {
    const session = await openSession();
    const gone = new AbortController();
    await get(session, gone.signal);
    const response = responses.at(-1);
    expect(await outcome(get(session))).toMatchObject({ status: 409, code: RPC.invalidRequest });
    gone.abort();
    if (response?.destroyed !== true) await once(response ?? server(), "close");
    expect((await get(session)).status).toBe(200);
  });

  it.each([
    ["text/event-stream", 200],
    ["*/*", 200],
    ["application/json", 406],
  ])("CL-7 a GET that accepts %s: %i", async (accept, status) => {
    expect((await get({ ...(await openSession()), accept })).status).toBe(status);
  });

  it("CL-7 is kept alive by comments", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const stream = reader(await get(await openSession()));
      vi.advanceTimersByTime(15_000);
      expect(await stream.until(": keep-alive\n\n")).toBe(": keep-alive\n\n");
    } finally {
      vi.useRealTimers();
    }
  });

  it("T21 is cut off if the client does not read, and the session continues", async () => {
    const session = await openSession();
    const socket = connectTcp(Number(new URL(url()).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session["mcp-session-id"]}\r\n\r\n`,
    );
    await once(socket, "readable");
    const [own] = service.sessions;
    const sent = await flood((message) => own?.notify("notifications/message", message));
    socket.destroy();
    // The size of the kernel's buffers and one MiB.
    expect(sent).toBeLessThan(500);
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({ status: 200 });
  });
});
