// Streamable HTTP, server side: methods, types, bodies, modern requests, limits and errors.

import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { META, MODERN_VERSION } from "../revisions/era.ts";
import { raw, RPC } from "../rpc/jsonrpc.ts";
import {
  aborted,
  HELLO,
  JSON_HEADERS,
  rpc,
  outcome,
  reader,
  useHttpServer,
} from "../../../../test/support/http-server.ts";

const MAX_BODY = 4 << 20;
const ENVELOPE = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };
const { url, server, service, responses, endpoint, post, get, openSession, modern } = useHttpServer();

describe("methods, types and bodies", () => {
  it.each(["PUT", "PATCH", "OPTIONS", "HEAD"])(
    "SE-5 %s is not allowed, and the response names the allowed methods",
    async (method) => {
      const response = await fetch(url(), { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, GET, DELETE"]);
    },
  );

  it.each([
    ["text/plain", 415],
    ["application/jsonx", 415],
    ["application/x-www-form-urlencoded", 415],
    ["multipart/form-data; boundary=x", 415],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON ;charset=utf-8", 200],
  ])("SE-5 a body of type %s: %i", async (type, status) => {
    expect((await post(rpc(1, "initialize", HELLO), { "content-type": type })).status).toBe(status);
  });

  it("SE-5 a body without a type, and a compressed one, are refused", async () => {
    const body = new TextEncoder().encode(JSON.stringify(rpc(1, "initialize", HELLO)));
    const headers = { accept: JSON_HEADERS.accept };
    expect(await outcome(fetch(url(), { method: "POST", headers, body }))).toMatchObject({ status: 415 });
    expect(await outcome(post("{}", { "content-encoding": "gzip" }))).toMatchObject({ status: 415 });
  });

  it.each([
    ["application/json, text/event-stream", 200],
    ["text/event-stream,application/json;q=0.9", 200],
    ["*/*", 200],
    ["application/json", 406],
    ["text/event-stream", 406],
    ["text/html", 406],
  ])("CL-7 a POST that accepts %s: %i", async (accept, status) => {
    expect((await post(rpc(1, "initialize", HELLO), { accept })).status).toBe(status);
  });

  it.each([
    ["nothing", "", RPC.parseError, null],
    ["no JSON", "hello", RPC.parseError, null],
    ["half JSON", '{"jsonrpc":"2.0","id":1,', RPC.parseError, null],
    ["a byte order mark", `\ufeff${JSON.stringify(rpc(1, "saw"))}`, RPC.parseError, null],
    ["invalid UTF-8", Buffer.from([0x22, 0xff, 0x22]), RPC.parseError, null],
    ["an empty batch", "[]", RPC.invalidRequest, null],
    ["a batch", JSON.stringify([rpc(1, "initialize", HELLO)]), RPC.invalidRequest, null],
    ["a modern batch", JSON.stringify([rpc(1, "saw", { _meta: ENVELOPE })]), RPC.invalidRequest, null],
    ["a number", "42", RPC.invalidRequest, null],
    ["no version", '{"id":5,"method":"saw"}', RPC.invalidRequest, 5],
    ["id null", JSON.stringify(rpc(null, "saw")), RPC.invalidRequest, null],
    ["two methods", '{"jsonrpc":"2.0","id":5,"method":"saw","method":"talk"}', RPC.invalidRequest, 5],
    [
      "65 levels",
      `{"jsonrpc":"2.0","id":1,"method":"saw","params":{"a":${"[".repeat(63)}${"]".repeat(63)}}}`,
      RPC.invalidRequest,
      null,
    ],
    [
      "20,000 levels",
      `{"jsonrpc":"2.0","id":1,"method":"saw","params":${'{"a":'.repeat(20_000)}1`,
      RPC.invalidRequest,
      null,
    ],
  ])("SE-5 T20 T36 %s is refused with 400, before the service", async (_, body, code, id) => {
    expect(await outcome(post(body, await openSession()))).toEqual({ status: 400, code, id });
    expect(service.exchanges.map(({ request }) => request.method)).toEqual(["initialize"]);
  });

  it("T20 64 levels are allowed", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"saw","params":{"a":${"[".repeat(62)}${"]".repeat(62)}}}`;
    expect(await outcome(post(body, await openSession()))).toMatchObject({ status: 200 });
  });

  const padded = (size: number) => {
    const message = JSON.stringify(rpc(1, "saw", { a: "" }));
    return message.replace('""', `"${"x".repeat(size - message.length)}"`);
  };

  it("T20 a body of 4 MiB is read, one byte more is refused with 413", async () => {
    const session = await openSession();
    expect(await outcome(post(padded(MAX_BODY), session))).toMatchObject({ status: 200 });
    expect(await outcome(post(padded(MAX_BODY + 1), session))).toMatchObject({ status: 413, code: RPC.invalidRequest });
  });

  it("T20 a body without a length is refused at the same byte", async () => {
    const session = await openSession();
    const stream = (text: string) =>
      new ReadableStream({
        start: (controller) => {
          for (let at = 0; at < text.length; at += 65_536)
            controller.enqueue(new TextEncoder().encode(text.slice(at, at + 65_536)));
          controller.close();
        },
      });
    const chunked = (text: string) => {
      const headers = { ...JSON_HEADERS, ...session };
      return outcome(fetch(url(), { method: "POST", headers, body: stream(text), duplex: "half" }));
    };
    expect(await chunked(padded(MAX_BODY))).toMatchObject({ status: 200 });
    expect(await chunked(padded(MAX_BODY + 1))).toMatchObject({ status: 413 });
  });

  it("SE-5 a client that disconnects during its body leaves nothing behind", async () => {
    const { port } = new URL(url());
    const socket = connectTcp(Number(port), "127.0.0.1");
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc"`,
    );
    const [request] = await once(server(), "request");
    socket.resetAndDestroy();
    await new Promise((resolve) => request.once("close", resolve));
    expect(service.exchanges).toEqual([]);
    expect(await outcome(post(rpc(1, "initialize", HELLO)))).toMatchObject({ status: 200 });
  });
});

describe("modern requests", () => {
  it("CL-2 need no session, ignore one, and never get one", async () => {
    const response = await modern("saw", {}, { "mcp-session-id": "whatever" });
    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await response.json()).toMatchObject({ result: { era: "modern" } });
    expect(service.exchanges[0]?.session).toBeUndefined();
  });

  it("CL-2 have their own log level", async () => {
    const params = { _meta: { ...ENVELOPE, [META.logLevel]: "debug" } };
    const headers = { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "saw" };
    expect(await outcome(post(rpc(1, "saw", params), headers))).toMatchObject({ result: { logLevel: "debug" } });
  });

  it.each([
    [RPC.methodNotFound, 404],
    [RPC.headerMismatch, 400],
    [RPC.missingClientCapability, 400],
    [RPC.unsupportedVersion, 400],
    [RPC.invalidParams, 200],
    [RPC.internalError, 200],
    [-31503, 200],
    [1, 200],
  ])("CL-2 an error with the code %i has the status %i", async (code, status) => {
    expect(await outcome(modern("fail", { code }))).toEqual({ status, code, id: 1 });
    expect(await outcome(post(rpc(1, "fail", { code }), await openSession()))).toMatchObject({ status: 200, code });
  });

  it("CL-2 an unknown method, initialize included, is not found", async () => {
    delete service.methods["initialize"];
    for (const method of ["nothing", "initialize"]) {
      expect(await outcome(modern(method))).toEqual({ status: 404, code: RPC.methodNotFound, id: 1 });
    }
    expect(service.sessions.size).toBe(0);
  });

  const call = rpc(1, "tools/call", { name: "a", _meta: ENVELOPE });
  const fitting = { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "tools/call", "mcp-name": "a" };
  const without = (name: keyof typeof fitting) =>
    Object.fromEntries(Object.entries(fitting).filter(([key]) => key !== name));

  it.each([
    ["all fit", call, fitting, 200, undefined],
    ["the name in base64", call, { ...fitting, "mcp-name": "=?base64?YQ==?=" }, 200, undefined],
    ["another method", call, { ...fitting, "mcp-method": "tools/list" }, 400, RPC.headerMismatch],
    ["another name", call, { ...fitting, "mcp-name": "b" }, 400, RPC.headerMismatch],
    ["broken base64", call, { ...fitting, "mcp-name": "=?base64?YQ?=" }, 400, RPC.headerMismatch],
    ["no method", call, without("mcp-method"), 400, RPC.headerMismatch],
    ["no name", call, without("mcp-name"), 400, RPC.headerMismatch],
    ["no revision", call, without("mcp-protocol-version"), 400, RPC.headerMismatch],
    ["another revision", call, { ...fitting, "mcp-protocol-version": "2025-11-25" }, 400, RPC.headerMismatch],
    ["no envelope", rpc(1, "tools/call", { name: "a" }), fitting, 400, RPC.invalidParams],
    [
      "half an envelope",
      rpc(1, "tools/call", { name: "a", _meta: { [META.version]: MODERN_VERSION } }),
      fitting,
      400,
      RPC.invalidParams,
    ],
    ["a handshake", rpc(1, "initialize", HELLO), { ...fitting, "mcp-method": "initialize" }, 400, RPC.headerMismatch],
    [
      "an unknown revision",
      rpc(1, "tools/call", { name: "a", _meta: { ...ENVELOPE, [META.version]: "2099-01-01" } }),
      { ...fitting, "mcp-protocol-version": "2099-01-01" },
      400,
      RPC.unsupportedVersion,
    ],
  ])("T35 %s", async (_, message, headers, status, code) => {
    const { status: given, code: found, id } = await outcome(post(message, headers));
    expect([given, found, id]).toEqual([status, code, 1]);
    expect(service.exchanges).toHaveLength(status === 200 ? 1 : 0);
  });

  it("CL-2 an unknown revision fails with the supported ones", async () => {
    const params = { _meta: { ...ENVELOPE, [META.version]: "2099-01-01" } };
    const response = await post(rpc(1, "x", params), { "mcp-protocol-version": "2099-01-01", "mcp-method": "x" });
    expect(await response.json()).toMatchObject({
      error: {
        data: {
          requested: "2099-01-01",
          supported: [MODERN_VERSION, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        },
      },
    });
  });

  it("CL-7 closing the connection cancels the request", async () => {
    const gone = new AbortController();
    const left = modern("wait", {}, {}, gone.signal).catch(() => undefined);
    const { signal } = await service.incoming("wait");
    gone.abort();
    await left;
    await aborted(signal);
    expect(service.exchanges).toHaveLength(1);
  });

  it("CL-7 a finished request is not cancelled afterwards", async () => {
    const response = await modern("talk");
    await response.text();
    const own = responses.at(-1);
    if (own?.closed !== true) await once(own ?? server(), "close");
    expect(service.exchanges[0]?.signal.aborted).toBe(false);
  });

  it("CL-7 several clients may use the same id", async () => {
    const gone = new AbortController();
    const left = modern("wait", {}, {}, gone.signal).catch(() => undefined);
    await service.incoming("wait");
    expect(await outcome(modern("saw"))).toMatchObject({ status: 200, id: 1 });
    gone.abort();
    await left;
  });
});

describe("close", () => {
  it("LC-5 ends requests and streams of both eras, and every session", async () => {
    const session = await openSession();
    const stream = await get(session);
    const waiting = [outcome(post(rpc(1, "wait"), session)), outcome(modern("wait"))];
    while (service.exchanges.filter(({ request }) => request.method === "wait").length < 2)
      await once(service.news, "news");
    endpoint().close();
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual([-31499, -31499]);
    expect(await reader(stream).rest()).toBe("");
    expect(service.sessions.size).toBe(0);
  });
});

describe("errors of a server", () => {
  it("GR-5 do not change the status: only errors of the hub do", async () => {
    const error = raw({ code: RPC.methodNotFound, message: "theirs" });
    service.methods["relay"] = async () => ({ ok: false, error });
    expect(await outcome(modern("relay"))).toMatchObject({ status: 200, code: RPC.methodNotFound });
    expect(await outcome(modern("none"))).toMatchObject({ status: 404, code: RPC.methodNotFound });
  });
});
