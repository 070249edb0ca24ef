// Streamable HTTP, the server's side, over real sockets: sessions, streams, both eras, bounds, and what is refused how.

import { EventEmitter, once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect as connectTcp, type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Cancellation } from "./cancellation.ts";
import { META, MODERN_VERSION } from "./era.ts";
import { StreamableHttpServer } from "./http-server.ts";
import { failure, raw, RPC, success, type Raw, type Reply } from "./jsonrpc.ts";
import type { Exchange, Service, Session } from "./server.ts";

const MAX_BODY = 4 << 20;
const ENVELOPE = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };
const HELLO = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c" } };

/** A service whose methods the tests choose. Everything that it is told is kept, and awaited by `until`. */
class TestService implements Service {
  readonly exchanges: Exchange[] = [];
  readonly sessions = new Set<Session>();
  readonly notified: string[] = [];
  readonly news = new EventEmitter();
  readonly methods: Record<string, (exchange: Exchange) => Promise<Reply>> = {
    saw: async ({ era, session, logLevel }) => success({ era, version: session?.version, logLevel }),
    wait: ({ signal }) => aborted(signal).then(() => failure({ code: -31499, message: "cancelled" })),
    talk: async (exchange) => {
      exchange.notify("notifications/progress", raw({ progressToken: 1, progress: 1 }));
      exchange.notify("notifications/message", raw({ level: "info", data: "ü" }));
      return success({ done: true });
    },
    fail: async ({ request }) => failure({ code: Number(request.params?.value["code"]), message: "no" }),
    "tools/call": async () => success({ content: [] }),
    initialize: async ({ session }) => success({ protocolVersion: session?.version }),
  };

  async handle(exchange: Exchange): Promise<Reply> {
    this.exchanges.push(exchange);
    this.news.emit("news");
    const method = this.methods[exchange.request.method];
    return method === undefined ? failure({ code: RPC.methodNotFound, message: "unknown" }) : method(exchange);
  }

  onNotification({ method }: { method: string }, session: Session | undefined): void {
    this.notified.push(`${method} ${session === undefined ? "-" : "session"}`);
  }

  onSession(session: Session): void {
    this.sessions.add(session);
  }

  onSessionEnd(session: Session): void {
    this.sessions.delete(session);
  }

  async exchange(method: string): Promise<Exchange> {
    for (;;) {
      const found = this.exchanges.findLast(({ request }) => request.method === method);
      if (found !== undefined) return found;
      await once(this.news, "news");
    }
  }
}

function aborted(signal: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

let service: TestService;
let endpoint: StreamableHttpServer;
let server: Server;
let url: string;
let responses: ServerResponse[];

beforeEach(async () => {
  service = new TestService();
  endpoint = new StreamableHttpServer(service);
  responses = [];
  server = createServer((request, response) => {
    responses.push(response);
    endpoint.handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});

afterEach(async () => {
  endpoint.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(service.sessions.size, "sessions left open").toBe(0);
});

type Headers = Readonly<Record<string, string>>;

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function post(message: unknown, headers: Headers = {}, signal?: AbortSignal): Promise<Response> {
  const body = typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message);
  return fetch(url, { method: "POST", headers: { ...JSON_HEADERS, ...headers }, body, ...(signal ? { signal } : {}) });
}

const rpc = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });

/** A legacy session's header. */
async function openSession(protocolVersion = HELLO.protocolVersion): Promise<{ "mcp-session-id": string }> {
  const response = await post(rpc(0, "initialize", { ...HELLO, protocolVersion }));
  await response.text();
  return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
}

function modern(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  headers: Headers = {},
  signal?: AbortSignal,
) {
  const name = params["name"];
  const own = {
    "mcp-protocol-version": MODERN_VERSION,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
  };
  return post(rpc(1, method, { ...params, _meta: ENVELOPE }), { ...own, ...headers }, signal);
}

const get = (headers: Headers, signal?: AbortSignal) =>
  fetch(url, { headers: { accept: "text/event-stream", ...headers }, ...(signal ? { signal } : {}) });

/** Status and, where there is a body, the code and id of its error or the result. */
async function outcome(
  response: Promise<Response>,
): Promise<{ status: number; code?: number; id?: unknown; result?: unknown }> {
  const { status, body } = await response.then(async (given) => ({ status: given.status, body: await given.text() }));
  if (body === "") return { status };
  const { error, id, result } = JSON.parse(body);
  return { status, id, ...(error === undefined ? { result } : { code: error.code }) };
}

/** The text of a stream as it comes. */
function reader(response: Response) {
  const decoder = new TextDecoder();
  const chunks = response.body?.getReader();
  let text = "";
  return {
    until: async (part: string) => {
      while (!text.includes(part)) {
        const next = await chunks?.read();
        if (next === undefined || next.done) throw new Error(`the stream ended without ${part}: ${text}`);
        text += decoder.decode(next.value, { stream: true });
      }
      return text;
    },
    rest: async () => {
      for (let next = await chunks?.read(); next !== undefined && !next.done; next = await chunks?.read()) {
        text += decoder.decode(next.value, { stream: true });
      }
      return text;
    },
  };
}

/** Says 64 KB at a time until the newest response is cut off; how often that was, or a thousand. */
async function flood(say: (message: Raw) => void): Promise<number> {
  const message = raw({ data: "x".repeat(64 << 10) });
  const response = responses.at(-1);
  for (let sent = 0; sent < 1000; sent++) {
    if (response?.destroyed === true) return sent;
    say(message);
    await turn();
  }
  return 1000;
}

const messagesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));

describe("methods, types and bodies", () => {
  it.each(["PUT", "PATCH", "OPTIONS", "HEAD"])("SE-5 %s is not allowed, and it says what is", async (method) => {
    const response = await fetch(url, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, GET, DELETE"]);
  });

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
    expect(await outcome(fetch(url, { method: "POST", headers, body }))).toMatchObject({ status: 415 });
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
  ])("SE-5 T20 T36 %s is refused with 400, and reaches nobody", async (_, body, code, id) => {
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

  it("T20 so is one that does not say how long it is, at the same byte", async () => {
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
      return outcome(fetch(url, { method: "POST", headers, body: stream(text), duplex: "half" }));
    };
    expect(await chunked(padded(MAX_BODY))).toMatchObject({ status: 200 });
    expect(await chunked(padded(MAX_BODY + 1))).toMatchObject({ status: 413 });
  });

  it("SE-5 a client that goes away in the middle of its body is forgotten", async () => {
    const { port } = new URL(url);
    const socket = connectTcp(Number(port), "127.0.0.1");
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc"`,
    );
    const [request] = await once(server, "request");
    socket.resetAndDestroy();
    await new Promise((resolve) => request.once("close", resolve));
    expect(service.exchanges).toEqual([]);
    expect(await outcome(post(rpc(1, "initialize", HELLO)))).toMatchObject({ status: 200 });
  });
});

describe("legacy sessions", () => {
  it("CL-7 initialize opens one, with an id that fits a header and the revision that was agreed", async () => {
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
    ["the end", () => fetch(url, { method: "DELETE" }), () => fetch(url, { method: "DELETE", headers: unknown })],
  ])("CL-7 %s without a session is refused with 400, with an unknown one with 404", async (_, without, withUnknown) => {
    expect(await outcome(without())).toMatchObject({ status: 400, code: RPC.invalidRequest });
    expect(await outcome(withUnknown())).toMatchObject({ status: 404, code: RPC.invalidRequest });
  });

  it("CL-7 the refusal carries the id of the request", async () => {
    expect(await outcome(post(rpc("x", "saw")))).toMatchObject({ id: "x" });
    expect(await outcome(post(rpc("x", "saw"), unknown))).toMatchObject({ id: "x" });
  });

  it("CL-7 DELETE ends one, its stream and its requests, and no other", async () => {
    const [session, other] = [await openSession(), await openSession()];
    const waiting = outcome(post(rpc(1, "wait"), session));
    const { signal } = await service.exchange("wait");
    const stream = await get(session);
    const ended = await fetch(url, { method: "DELETE", headers: session });
    expect([ended.status, await ended.text()]).toEqual([204, ""]);
    expect(signal.aborted).toBe(true);
    expect(await waiting).toMatchObject({ status: 200, code: -31499 });
    expect(await reader(stream).rest()).toBe("");
    expect(await outcome(post(rpc(2, "saw"), session))).toMatchObject({ status: 404 });
    expect(await outcome(fetch(url, { method: "DELETE", headers: session }))).toMatchObject({ status: 404 });
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

  it("CL-7 what a request sees: its session, and the level that the session has by now", async () => {
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

  it("CL-7 a posted answer is taken note of", async () => {
    const response = await post('{"jsonrpc":"2.0","id":1,"result":{}}', await openSession());
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  it("F11 an id is refused while it is in use in that session; the text is another id than the number", async () => {
    const [session, other] = [await openSession(), await openSession()];
    const gone = new AbortController();
    const waiting = post(rpc(1, "wait"), session, gone.signal).catch(() => undefined);
    await service.exchange("wait");
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({ status: 400, code: RPC.invalidRequest, id: 1 });
    expect(await outcome(post(rpc("1", "saw"), session))).toMatchObject({ status: 200 });
    expect(await outcome(post(rpc(1, "saw"), other))).toMatchObject({ status: 200 });
    gone.abort();
    await waiting;
  });

  it("CL-3 a later POST cancels a request, and only in its own session", async () => {
    const [session, other] = [await openSession(), await openSession()];
    const waiting = outcome(post(rpc(1, "wait"), session));
    const { signal } = await service.exchange("wait");
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

  it("CL-7 a disconnect is not a cancellation: the request goes on", async () => {
    const session = await openSession();
    const gone = new AbortController();
    let finish: (reply: Reply) => void = () => {};
    service.methods["slow"] = () => new Promise((resolve) => (finish = resolve));
    const left = post(rpc(1, "slow"), session, gone.signal).catch(() => undefined);
    const exchange = await service.exchange("slow");
    const response = responses.at(-1);
    gone.abort();
    await left;
    if (response?.destroyed !== true) await once(response ?? server, "close");
    expect(exchange.signal.aborted).toBe(false);
    // Nobody is there to hear it, and that is no failure.
    exchange.notify("notifications/progress", raw({}));
    finish(success({}));
    await turn();
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({ status: 200 });
  });
});

describe("the stream of a session", () => {
  it("CL-7 carries what the hub says unasked; what is said before waits for it, once", async () => {
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

  it("CL-7 there is one at a time, and a new one once it has ended", async () => {
    const session = await openSession();
    const gone = new AbortController();
    await get(session, gone.signal);
    const response = responses.at(-1);
    expect(await outcome(get(session))).toMatchObject({ status: 409, code: RPC.invalidRequest });
    gone.abort();
    if (response?.destroyed !== true) await once(response ?? server, "close");
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

  it("T21 of a client that does not read is cut off, and the session lives on", async () => {
    const session = await openSession();
    const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session["mcp-session-id"]}\r\n\r\n`,
    );
    await once(socket, "readable");
    const [own] = service.sessions;
    const sent = await flood((message) => own?.notify("notifications/message", message));
    socket.destroy();
    // What the kernel's buffers take, and one MiB more.
    expect(sent).toBeLessThan(500);
    expect(await outcome(post(rpc(1, "saw"), session))).toMatchObject({ status: 200 });
  });
});

describe("the answer to a POST", () => {
  it("CL-7 is JSON where there is nothing to say before it", async () => {
    const response = await post(rpc(1, "saw"), await openSession());
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("content-length")).toBe(String((await response.text()).length));
  });

  it.each([
    ["legacy", async () => post(rpc(1, "talk"), await openSession())],
    ["modern", async () => modern("talk")],
  ])("CL-7 becomes an event stream with the first notification: %s", async (_, ask) => {
    const response = await ask();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(messagesOf(await response.text())).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
      { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "ü" } },
      { jsonrpc: "2.0", id: 1, result: { done: true } },
    ]);
  });

  it("CL-7 the handshake may be a stream too, and still opens the session", async () => {
    service.methods["initialize"] = async (exchange) => {
      exchange.notify("notifications/message", raw({}));
      return success({});
    };
    const response = await post(rpc(1, "initialize", HELLO));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(
      await outcome(post(rpc(2, "saw"), { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" })),
    ).toMatchObject({
      status: 200,
    });
  });

  it("CL-7 comes before anything else has finished, and large ones whole", async () => {
    const text = "ä".repeat(3 << 20);
    service.methods["large"] = async (exchange) => {
      exchange.notify("notifications/message", raw({}));
      return success({ text });
    };
    const [, answer] = messagesOf(await (await modern("large")).text());
    expect(answer.result.text).toBe(text);
  });

  it.each(["legacy", "modern"])(
    "T21 is cut off where nobody reads it, which cancels a modern request: %s",
    async (era) => {
      let flooded: (sent: number) => void;
      const sent = new Promise<number>((resolve) => (flooded = resolve));
      service.methods["flood"] = async (exchange) => {
        const count = await flood((message) => exchange.notify("notifications/message", message));
        if (era === "modern") await aborted(exchange.signal);
        flooded(count);
        return success({});
      };
      const legacy = era === "legacy";
      const headers = legacy ? await openSession() : { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "flood" };
      const body = JSON.stringify(rpc(1, "flood", legacy ? {} : { _meta: ENVELOPE }));
      const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
      socket.on("error", () => {});
      const all = { host: "x", ...JSON_HEADERS, ...headers, "content-length": String(body.length) };
      const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST /mcp HTTP/1.1\r\n${head.join("")}\r\n${body}`);
      expect(await sent).toBeLessThan(500);
      socket.destroy();
    },
  );
});

describe("modern requests", () => {
  it("CL-2 need no session, ignore one, and never get one", async () => {
    const response = await modern("saw", {}, { "mcp-session-id": "whatever" });
    expect(response.headers.get("mcp-session-id")).toBeNull();
    expect(await response.json()).toMatchObject({ result: { era: "modern" } });
    expect(service.exchanges[0]?.session).toBeUndefined();
  });

  it("CL-2 say their own log level", async () => {
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
  ])("CL-2 an answer with the code %i has the status %i", async (code, status) => {
    expect(await outcome(modern("fail", { code }))).toEqual({ status, code, id: 1 });
    expect(await outcome(post(rpc(1, "fail", { code }), await openSession()))).toMatchObject({ status: 200, code });
  });

  it("CL-2 an unknown method, initialize among them, is not found", async () => {
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

  it("CL-2 an unknown revision is told which ones there are", async () => {
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

  it("CL-7 closing the connection is the cancellation", async () => {
    const gone = new AbortController();
    const left = modern("wait", {}, {}, gone.signal).catch(() => undefined);
    const { signal } = await service.exchange("wait");
    gone.abort();
    await left;
    await aborted(signal);
    expect(service.exchanges).toHaveLength(1);
  });

  it("CL-7 a request that was answered is not cancelled afterwards", async () => {
    const response = await modern("talk");
    await response.text();
    const own = responses.at(-1);
    if (own?.closed !== true) await once(own ?? server, "close");
    expect(service.exchanges[0]?.signal.aborted).toBe(false);
  });

  it("CL-7 the same id may be in use by several clients", async () => {
    const gone = new AbortController();
    const left = modern("wait", {}, {}, gone.signal).catch(() => undefined);
    await service.exchange("wait");
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
    endpoint.close();
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual([-31499, -31499]);
    expect(await reader(stream).rest()).toBe("");
    expect(service.sessions.size).toBe(0);
  });
});

describe("questions to a client", () => {
  const answered = (id: number, result: unknown) => ({ jsonrpc: "2.0", id, result });
  const asks = (...methods: string[]) => {
    service.methods["ask"] = async ({ ask, signal }) => {
      if (ask === undefined) return success("cannot be asked");
      const replies = await Promise.allSettled(methods.map((method) => ask(method, raw({ q: method }), { signal })));
      return success(replies.map((reply) => (reply.status === "fulfilled" ? reply.value : String(reply.reason.kind))));
    };
  };

  it("GR-7 go out on the stream of the request, and the answer is matched within the session alone", async () => {
    asks("roots/list");
    const [one, other] = [await openSession(), await openSession()];
    const stream = reader(await post(rpc("r", "ask"), one));
    const [question] = messagesOf(await stream.until("\n\n"));
    expect(question).toEqual({ jsonrpc: "2.0", id: 1, method: "roots/list", params: { q: "roots/list" } });
    expect((await post(answered(1, { roots: ["stolen"] }), other)).status).toBe(202);
    expect((await post(answered(1, { roots: [] }), one)).status).toBe(202);
    expect(messagesOf(await stream.rest())[1]).toMatchObject({
      id: "r",
      result: [{ result: { value: { roots: [] } } }],
    });
  });

  it("GR-7 a client that leaves, or ends its session, leaves nobody waiting", async () => {
    asks("a", "b");
    const session = await openSession();
    const leaver = new AbortController();
    const left = post(rpc(1, "ask"), session, leaver.signal);
    await reader(await left).until('"id":2');
    leaver.abort();
    await expect(service.exchange("ask").then(({ session: of }) => of?.ask("c", undefined))).rejects.toMatchObject({
      kind: "ConnectionFailed",
    });
    const stream = reader(await post(rpc(2, "ask"), session));
    await stream.until('"id":4');
    await fetch(url, { method: "DELETE", headers: session });
    expect(messagesOf(await stream.rest()).at(-1)).toMatchObject({ id: 2, result: ["Cancelled", "Cancelled"] });
  });

  it("GR-7 a cancelled request takes its questions back, and a finished one forgets them", async () => {
    asks("a");
    const session = await openSession();
    const stream = reader(await post(rpc(1, "ask"), session));
    await stream.until('"id":1');
    await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, session);
    const messages = messagesOf(await stream.rest());
    expect(messages[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });

    let late: Promise<Reply> | undefined;
    service.methods["forget"] = async ({ ask }) => {
      late = ask?.("b", undefined);
      late?.catch(() => undefined); // looked at below
      return success({});
    };
    await (await post(rpc(2, "forget"), session)).text();
    await expect(late).rejects.toMatchObject({ kind: "Cancelled" });
  });

  it("GR-7 outside of a request they go out on the stream that the client holds", async () => {
    const session = await openSession();
    const stream = reader(await get(session));
    const [known] = service.sessions;
    const asked = known?.ask("roots/list", undefined);
    expect(messagesOf(await stream.until("\n\n"))).toEqual([{ jsonrpc: "2.0", id: 1, method: "roots/list" }]);
    await post(answered(1, { roots: [] }), session);
    expect(await asked).toMatchObject({ ok: true, result: { value: { roots: [] } } });
  });

  it("GR-7 a modern client cannot be asked; what it can do comes with each request", async () => {
    asks("a");
    expect(await outcome(modern("ask"))).toMatchObject({ result: "cannot be asked" });
    const capabilities = { elicitation: { form: {} } };
    service.methods["saw"] = async (exchange) => success(exchange.capabilities);
    const params = { _meta: { ...ENVELOPE, [META.clientCapabilities]: capabilities } };
    const headers = { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "saw" };
    expect(await outcome(post(rpc(1, "saw", params), headers))).toMatchObject({ result: capabilities });
    expect(await outcome(post(rpc(1, "saw"), await openSession()))).toMatchObject({ result: {} });
  });
});

describe("after the answer", () => {
  it.each(["legacy", "modern"])(
    "SE-5 what is said in the same turn of the event loop goes nowhere: %s",
    async (era) => {
      let late = 0;
      service.methods["hasty"] = (exchange) => {
        const reply = Promise.resolve(success({ done: true }));
        void (async () => {
          // Some steps later the answer is sent, and this is still the same turn.
          for (let step = 0; step < 50; step++) {
            await reply;
            if (responses.at(-1)?.headersSent !== true) continue;
            exchange.notify("notifications/progress", raw({ progressToken: 1, progress: ++late }));
          }
        })();
        return reply;
      };
      const session = era === "legacy" ? await openSession() : {};
      const answer = era === "legacy" ? post(rpc(1, "hasty"), session) : modern("hasty");
      expect(await outcome(answer)).toMatchObject({ status: 200, result: { done: true } });
      expect(late).toBeGreaterThan(0);
    },
  );
});

describe("batches", () => {
  const note = (method: string) => ({ jsonrpc: "2.0", method });

  it.each(["2024-11-05", "2025-03-26"])("CL-9 of %s are answered together, whatever is done first", async (version) => {
    const session = await openSession(version);
    let finish: (reply: Reply) => void = () => undefined;
    service.methods["late"] = () => new Promise((resolve) => (finish = resolve));
    service.methods["soon"] = async () => (finish(success("late")), success("soon"));
    const response = await post([rpc("a", "late"), note("n"), rpc("b", "soon"), 7, rpc("c", "none")], session);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const answers = JSON.parse(await response.text());
    expect(answers).toHaveLength(4);
    expect(answers).toEqual(
      expect.arrayContaining([
        { jsonrpc: "2.0", id: "a", result: "late" },
        { jsonrpc: "2.0", id: "b", result: "soon" },
        { jsonrpc: "2.0", id: null, error: { code: RPC.invalidRequest, message: expect.any(String) } },
        { jsonrpc: "2.0", id: "c", error: { code: RPC.methodNotFound, message: "unknown" } },
      ]),
    );
    expect(service.notified).toEqual(["n session"]);
  });

  it("CL-9 become a stream of single messages where a request has something to say before", async () => {
    const response = await post([rpc(1, "saw"), rpc(2, "talk")], await openSession("2025-03-26"));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const messages = messagesOf(await response.text());
    expect(new Set(messages.map(({ id, method }) => id ?? method))).toEqual(
      new Set([1, 2, "notifications/message", "notifications/progress"]),
    );
    expect(messages).toHaveLength(4);
  });

  it("CL-9 without a request are accepted, and answers in them reach who asked", async () => {
    service.methods["ask"] = async ({ ask }) =>
      (await ask?.("roots/list", undefined)) ?? failure({ code: 1, message: "" });
    const session = await openSession("2025-03-26");
    const stream = reader(await post(rpc(1, "ask"), session));
    await stream.until("roots/list");
    const batch = [note("n"), { jsonrpc: "2.0", id: 1, result: { roots: [] } }];
    expect(await outcome(post(batch, session))).toEqual({ status: 202 });
    expect(messagesOf(await stream.rest()).at(-1)).toEqual({ jsonrpc: "2.0", id: 1, result: { roots: [] } });
  });

  it.each<[what: string, version: string, batch: unknown]>([
    ["an empty one", "2025-03-26", []],
    ["one with a modern message", "2025-03-26", [rpc(1, "saw"), rpc(2, "saw", { _meta: ENVELOPE })]],
    ["one with a handshake", "2025-03-26", [rpc(1, "initialize", HELLO)]],
    ["one of too many", "2025-03-26", Array.from({ length: 101 }, (_, id) => rpc(id, "saw"))],
    ["one of a session of 2025-06-18", "2025-06-18", [rpc(1, "saw")]],
    ["one of a session of 2025-11-25", "2025-11-25", [rpc(1, "saw")]],
  ])("CL-9 SE-5 %s is refused as a whole", async (_, version, batch) => {
    const session = await openSession(version);
    expect(await outcome(post(batch, session))).toMatchObject({ status: 400, code: RPC.invalidRequest });
    expect(service.exchanges.map(({ request }) => request.method)).toEqual(["initialize"]);
  });

  it.each<[what: string, headers: Headers, status: number]>([
    ["a session that is not there", { "mcp-session-id": "00000000-0000-4000-8000-000000000000" }, 404],
    ["a version that nobody knows", { "mcp-session-id": "x", "mcp-protocol-version": "1999-01-01" }, 400],
  ])("CL-9 SE-5 those of %s are refused, and that once", async (_, headers, status) => {
    expect(await outcome(post([rpc(1, "saw")], headers))).toMatchObject({ status });
    expect(await outcome(post("[]", headers))).toMatchObject({ status });
  });

  it("CL-9 SE-5 without a session, or cut off, they are refused", async () => {
    expect(await outcome(post([rpc(1, "saw")]))).toMatchObject({ status: 400, code: RPC.invalidRequest });
    const session = await openSession("2025-03-26");
    expect(await outcome(post("[1,", session))).toMatchObject({ status: 400, code: RPC.parseError });
  });

  it("CL-9 an id that stands twice is refused the second time", async () => {
    const response = await post([rpc(1, "saw"), rpc(1, "saw")], await openSession("2025-03-26"));
    expect(response.status).toBe(200);
    const answers: { error?: { code: number } }[] = JSON.parse(await response.text());
    expect(answers.map(({ error }) => error?.code)).toEqual([RPC.invalidRequest, undefined]);
  });
});

describe("resumption", () => {
  const idsOf = (text: string) => [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? "");

  /** A request whose answer the test gives. */
  function hold() {
    let finish: (reply: Reply) => void = () => undefined;
    const exchange = new Promise<Exchange>((resolve) => {
      service.methods["hold"] = (given) => {
        resolve(given);
        return new Promise((settle) => (finish = settle));
      };
    });
    return { exchange, finish: (reply: Reply) => finish(reply) };
  }

  /** Asks, and is gone after the first event. Gives what came until then. */
  async function lose(session: Headers, exchange: Promise<Exchange>): Promise<string> {
    const leaver = new AbortController();
    const response = post(rpc("r", "hold"), session, leaver.signal);
    (await exchange).notify("notifications/progress", raw({ progressToken: 1, progress: 1 }));
    const text = await reader(await response).until('"progress":1}}\nid: 1-1\n\n');
    const closing = once(responses.at(-1) ?? service.news, "close");
    leaver.abort();
    await closing;
    return text;
  }

  it("CL-7 a lost answer is had again by the id of its last event, and only once the rest", async () => {
    const session = await openSession("2025-11-25");
    const held = hold();
    const text = await lose(session, held.exchange);
    const [primed, first] = idsOf(text);
    expect(text).toContain("retry: ");
    const exchange = await held.exchange;
    exchange.notify("notifications/progress", raw({ progressToken: 1, progress: 2 }));
    expect(exchange.signal.aborted).toBe(false);
    held.finish(success("done"));
    await turn();
    const again = await get({ ...session, "last-event-id": first ?? "" });
    const rest = await again.text();
    expect(messagesOf(rest)).toMatchObject([{ params: { progress: 2 } }, { id: "r", result: "done" }]);
    const whole = await (await get({ ...session, "last-event-id": primed ?? "" })).text();
    expect(messagesOf(whole)).toHaveLength(3);
    const last = idsOf(rest).at(-1) ?? "";
    expect((await get({ ...session, "last-event-id": last })).status).toBe(204);
  });

  it("CL-7 GR-7 who comes back before the answer gets it live, and what was asked meanwhile", async () => {
    const session = await openSession("2025-06-18");
    const held = hold();
    const text = await lose(session, held.exchange);
    expect(text).not.toContain("retry: ");
    const asked = (await held.exchange).ask?.("roots/list", undefined);
    const stream = reader(await get({ ...session, "last-event-id": idsOf(text).at(-1) ?? "" }));
    await stream.until("roots/list");
    await post({ jsonrpc: "2.0", id: 1, result: { roots: [] } }, session);
    expect(await asked).toMatchObject({ ok: true });
    held.finish(success("done"));
    expect(messagesOf(await stream.rest())).toMatchObject([{ method: "roots/list" }, { id: "r", result: "done" }]);
  });

  it("CL-7 each stream is replayed alone; the session's own goes on with what is new", async () => {
    const session = await openSession("2025-06-18");
    const [own] = service.sessions;
    const gone = new AbortController();
    const first = reader(await get(session, gone.signal));
    own?.notify("notifications/a");
    const text = await first.until("\n\n");
    const closing = once(responses.at(-1) ?? service.news, "close");
    gone.abort();
    await closing;
    own?.notify("notifications/b");
    await (await post(rpc(1, "talk"), session)).text();
    const second = reader(await get({ ...session, "last-event-id": idsOf(text).at(-1) ?? "" }));
    own?.notify("notifications/c");
    expect(messagesOf(await second.until("notifications/c")).map(({ method }) => method)).toEqual([
      "notifications/b",
      "notifications/c",
    ]);
  });

  it("CL-7 a stream that the client says it lost is taken from the connection that has it", async () => {
    const session = await openSession("2025-06-18");
    const [own] = service.sessions;
    const first = reader(await get(session));
    own?.notify("notifications/a");
    const [id = ""] = idsOf(await first.until("\n\n"));
    const second = reader(await get({ ...session, "last-event-id": id }));
    own?.notify("notifications/b");
    await second.until("notifications/b");
    expect(messagesOf(await first.rest())).toHaveLength(1);
  });

  it.each(["9-1", "1", "x", "0-1-2", "-1-1", "99999999999999999-1"])(
    "SE-5 event %s is of no stream here",
    async (id) => {
      const answer = await outcome(get({ ...(await openSession()), "last-event-id": id }));
      expect(answer).toMatchObject({ status: 400, code: RPC.invalidRequest });
    },
  );

  it("CL-7 another session's events are not to be had", async () => {
    const [one, other] = [await openSession(), await openSession()];
    const [id = ""] = idsOf(await (await post(rpc(1, "talk"), one)).text());
    expect((await get({ ...other, "last-event-id": id })).status).toBe(400);
  });

  it("CL-7 an answer that takes long becomes a stream, with an id from the start", async () => {
    const session = await openSession("2025-11-25");
    const held = hold();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const response = post(rpc("r", "hold"), session);
      await held.exchange;
      vi.advanceTimersByTime(5000);
      const stream = reader(await response);
      expect(idsOf(await stream.until("\n\n"))).toEqual(["1-0"]);
      held.finish(success("done"));
      expect(messagesOf(await stream.rest())).toEqual([{ jsonrpc: "2.0", id: "r", result: "done" }]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("errors of a server", () => {
  it("GR-5 do not change the status: only what the hub itself refuses does", async () => {
    const error = raw({ code: RPC.methodNotFound, message: "theirs" });
    service.methods["relay"] = async () => ({ ok: false, error });
    expect(await outcome(modern("relay"))).toMatchObject({ status: 200, code: RPC.methodNotFound });
    expect(await outcome(modern("none"))).toMatchObject({ status: 404, code: RPC.methodNotFound });
  });
});
