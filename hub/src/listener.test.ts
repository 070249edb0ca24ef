// The one listener, over real sockets: who may talk to it, on every route; where it may listen; and how it ends.

import { once } from "node:events";
import { request as httpRequest, type ServerResponse } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { HubError } from "./errors.ts";
import { answerProbe } from "./api/probes.ts";
import { Listener, type Edge, type Patience } from "./listener.ts";
import { StreamableHttpServer } from "./wire/http-server.ts";
import { success } from "./wire/jsonrpc.ts";
import { closed } from "../../test/support/streams.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

/** A listener with an MCP endpoint at /mcp/default, as the hub has it. `reached` counts what gets past the checks. */
async function start(host = "127.0.0.1", patience: Partial<Patience> = {}) {
  let reached = 0;
  const endpoint = new StreamableHttpServer({
    handle: async () => success({}),
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  });
  const probes: Edge = (request, response) =>
    answerProbe(request, response, { stopping: false, dataDir: ".", degraded: undefined });
  const edge: Edge = (request, response) => {
    if (request.url?.startsWith("/mcp") !== true) return false;
    reached++;
    endpoint.handle(request, response);
    return true;
  };
  const listener = await Listener.open({ host, port: 0, edges: [probes, edge], patience });
  open.push({ close: async () => (endpoint.close(), listener.close()) });
  return { listener, url: listener.url, port: Number(new URL(listener.url).port), reached: () => reached };
}

/** One exchange, byte for byte as given. */
async function raw(
  port: number,
  text: string,
  host = "127.0.0.1",
): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, host);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.end(text);
  await closed(socket);
  const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

const HELLO = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25" },
});

function message(headers: readonly string[], { line = "POST /mcp/default HTTP/1.1", body = HELLO } = {}): string {
  const all = [
    ...headers,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${line}\r\n${all.join("\r\n")}\r\n\r\n${body}`;
}

const ROUTES = [
  ["POST /mcp/default HTTP/1.1", HELLO],
  ["GET /mcp HTTP/1.1", ""],
  ["DELETE /mcp HTTP/1.1", ""],
  ["OPTIONS /mcp HTTP/1.1", ""],
  ["GET /healthz HTTP/1.1", ""],
  ["GET / HTTP/1.1", ""],
  ["GET /nowhere HTTP/1.1", ""],
] as const;

describe("Host", () => {
  it.each([
    ["localhost:PORT", 200],
    ["LOCALHOST:PORT", 200],
    ["127.0.0.1:PORT", 200],
    ["[::1]:PORT", 200],
    ["localhost", 200],
    ["localhost:1", 200],
    ["127.0.0.2:PORT", 200],
    ["evil.example", 403],
    ["evil.example:PORT", 403],
    ["127.0.0.1.evil.example", 403],
    ["localhost.evil.example:PORT", 403],
    ["evil-localhost", 403],
    ["localhost.", 403],
    ["evil@localhost", 403],
    ["evil@localhost:PORT", 403],
    ["localhost/x", 403],
    ["localhost?x", 403],
    ["localhost#x", 403],
    ["localhost:PORT:PORT", 403],
    ["localhost:", 403],
    ["localhost:x", 403],
    ["127.1", 403],
    ["0x7f.1", 403],
    ["0177.0.0.1", 403],
    ["2130706433", 403],
    ["0.0.0.0", 403],
    ["[::]:PORT", 403],
    ["::1", 403],
    ["[::ffff:127.0.0.1]", 403],
    ["192.168.1.5", 403],
    ["", 400],
  ])("SE-3 T01 %j: %i, and a refused one reaches nobody", async (host, status) => {
    const { port, reached } = await start();
    const given = await raw(port, message([`Host: ${host.replaceAll("PORT", String(port))}`]));
    expect(given.status).toBe(status);
    expect(reached()).toBe(status === 200 ? 1 : 0);
  });

  it.each([
    ["none", [], "POST /mcp/default HTTP/1.1"],
    ["none, in the old protocol", [], "POST /mcp/default HTTP/1.0"],
    ["two", ["Host: localhost", "Host: evil.example"], "POST /mcp/default HTTP/1.1"],
    ["two alike", ["Host: localhost", "host: localhost"], "POST /mcp/default HTTP/1.1"],
    ["another in the request line", ["Host: localhost"], "POST http://evil.example/mcp/default HTTP/1.1"],
    ["the same in the request line", ["Host: localhost"], "POST http://localhost/mcp/default HTTP/1.1"],
    ["no path at all", ["Host: localhost"], "OPTIONS * HTTP/1.1"],
  ])("SE-3 T01 %s: 400, and it reaches nobody", async (_, headers, line) => {
    const { port, reached } = await start();
    expect((await raw(port, message(headers, { line }))).status).toBe(400);
    expect(reached()).toBe(0);
  });

  it.each(ROUTES)("SE-3 T01 is looked at before anything else: %s", async (line, body) => {
    const { port, reached } = await start();
    const { status, body: answer } = await raw(port, message(["Host: evil.example"], { line, body }));
    expect(status).toBe(403);
    expect(JSON.parse(answer)).toMatchObject({ status: 403, code: "FORBIDDEN", message: "This Host is not allowed" });
    expect(reached()).toBe(0);
  });
});

describe("Sec-Fetch-Site", () => {
  it.each([
    ["cross-site", "no-cors", "image", "/mcp", 403],
    ["cross-site", "navigate", "document", "/mcp", 403],
    ["same-site", "no-cors", "image", "/mcp", 403],
    ["same-origin", "cors", "empty", "/mcp", 406],
    ["none", "navigate", "document", "/mcp", 406],
    ["cross-site", "navigate", "document", "/", 404],
    ["cross-site", "navigate", "iframe", "/", 403],
    ["cross-site", "no-cors", "image", "/", 403],
  ])("T22 %s, %s, %s at %s: %i", async (site, mode, destination, path, status) => {
    const { port } = await start();
    const fetched = [`Sec-Fetch-Site: ${site}`, `Sec-Fetch-Mode: ${mode}`, `Sec-Fetch-Dest: ${destination}`];
    const head = [`GET ${path} HTTP/1.1`, "Host: localhost", "Accept: image/*", "Connection: close", ...fetched];
    expect((await raw(port, `${head.join("\r\n")}\r\n\r\n`)).status).toBe(status);
  });

  it("T22 a POST of another site's page is refused too", async () => {
    const { port, reached } = await start();
    expect((await raw(port, message(["Host: localhost", "Sec-Fetch-Site: cross-site"]))).status).toBe(403);
    expect(reached()).toBe(0);
  });
});

describe("headers", () => {
  it("T01 more of them than Node keeps are refused: the Origin may be among those that it drops", async () => {
    const { port, reached } = await start();
    const many = Array.from({ length: 3000 }, () => "a:");
    const { status } = await raw(port, message(["Host: localhost", ...many, "Origin: http://evil.example"]));
    expect(status).toBe(431);
    expect(reached()).toBe(0);
    const some = Array.from({ length: 400 }, () => "a:");
    expect((await raw(port, message(["Host: localhost", ...some]))).status).toBe(200);
  });
});

describe("Origin", () => {
  it.each([
    ["http://localhost:PORT", 200],
    ["HTTP://LOCALHOST:PORT", 200],
    ["http://evil.example", 403],
    ["null", 403],
    ["", 403],
    ["http://localhost.evil.example", 403],
    ["http://localhost.evil.example:PORT", 403],
    ["https://localhost:PORT", 403],
    ["http://localhost", 403],
    ["http://localhost:1", 403],
    ["http://127.0.0.1:PORT", 403],
    ["http://localhost:PORT/", 403],
    ["http://evil@localhost:PORT", 403],
    ["file://", 403],
    ["chrome-extension://abc", 403],
    ["http://localhost:PORT http://evil.example", 403],
  ])("SE-3 T02 %j: %i, without leave for the page to read it", async (origin, status) => {
    const { port, reached } = await start();
    const headers = [`Host: localhost:${port}`, `Origin: ${origin.replaceAll("PORT", String(port))}`];
    const given = await raw(port, message(headers));
    expect(given.status).toBe(status);
    expect(given.head.toLowerCase()).not.toContain("access-control");
    expect(reached()).toBe(status === 200 ? 1 : 0);
  });

  it("SE-3 T02 upper and lower case make no difference, in either header", async () => {
    const { port, reached } = await start();
    const headers = [`Host: LocalHost:${port}`, `Origin: http://localHOST:${port}`];
    expect((await raw(port, message(headers))).status).toBe(200);
    expect(reached()).toBe(1);
  });

  it("SE-3 T02 two of them are none that is allowed", async () => {
    const { port, reached } = await start();
    const own = `Origin: http://localhost:${port}`;
    expect((await raw(port, message([`Host: localhost:${port}`, own, "Origin: http://evil.example"]))).status).toBe(
      403,
    );
    expect(reached()).toBe(0);
  });

  it.each(ROUTES)("SE-3 T02 is looked at on every route: %s", async (line, body) => {
    const { port, reached } = await start();
    const preflight = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"];
    const headers = [`Host: localhost:${port}`, "Origin: http://evil.example", ...preflight];
    const { status, head, body: answer } = await raw(port, message(headers, { line, body }));
    expect(status).toBe(403);
    expect(head.toLowerCase()).not.toContain("access-control");
    expect(JSON.parse(answer)).toMatchObject({ status: 403, code: "FORBIDDEN", message: "This Origin is not allowed" });
    expect(reached()).toBe(0);
  });
});

describe("routes", () => {
  it("MG-3 /healthz says that the hub lives, and nothing else", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/healthz`);
    expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}']);
  });

  it.each(["/", "/nowhere", "/healthz/x", "//evil.example/mcp", "/%2e%2e/etc/passwd"])(
    "SE-5 %s is not there",
    async (path) => {
      const { port } = await start();
      const { status, body } = await raw(
        port,
        message(["Host: localhost"], { line: `GET ${path} HTTP/1.1`, body: "" }),
      );
      expect([status, JSON.parse(body)]).toMatchObject([
        404,
        { type: "about:blank", code: "NOT_FOUND", message: "There is nothing at this address" },
      ]);
    },
  );

  it("SE-5 the first edge that takes a request has it", async () => {
    const asked: string[] = [];
    const edge =
      (name: string, takes: boolean): Edge =>
      (_, response) => {
        asked.push(name);
        if (takes) response.end(name);
        return takes;
      };
    const edges = [edge("a", false), edge("b", true), edge("c", true)];
    const listener = await Listener.open({ host: "127.0.0.1", port: 0, edges });
    open.push(listener);
    expect(await (await fetch(listener.url)).text()).toBe("b");
    expect(asked).toEqual(["a", "b"]);
  });

  it("SE-5 a WebSocket that is asked for before another answer is there is refused in its turn", async () => {
    const { port, url } = await start();
    const probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const upgrade = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    const socket = connect(port, "127.0.0.1");
    let got = "";
    const end = closed(socket.setEncoding("latin1").on("data", (text: string) => (got += text)));
    // What comes after it is not read, so the connection must end.
    socket.write(probe + upgrade + probe);
    await end;
    expect(got.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404"]);
    expect((await raw(port, upgrade)).body).toContain("There is no WebSocket at this address");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it.each([
    ["no HTTP at all", "hello\r\n\r\n"],
    ["a header without an end", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(100_000)}\r\n\r\n`],
    ["two lengths", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"],
    [
      "a length and chunks",
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET",
    ],
    ["a NUL in a header", "GET / HTTP/1.1\r\nHost: localhost\r\nX: \0\r\n\r\n"],
    ["a folded Host", "GET / HTTP/1.1\r\nHost:\r\n localhost\r\n\r\n"],
  ])("SE-5 %s is refused below, and the next request is served", async (_, text) => {
    const { port, url, reached } = await start();
    expect((await raw(port, text)).status).toBeGreaterThanOrEqual(400);
    expect(reached()).toBe(0);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe("where it listens", () => {
  it.each(["127.0.0.1", "localhost", "127.0.0.2"])("SE-3 on %s, under an address that works", async (host) => {
    const { url } = await start(host);
    expect(url).toMatch(new RegExp(`^http://${host}:\\d+$`));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("SE-3 on ::1, where there is IPv6", async ({ skip }) => {
    const started = await start("::1").catch((error: unknown) => error);
    if (started instanceof HubError) return skip("no IPv6 here");
    const { url } = started as Awaited<ReturnType<typeof start>>;
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it.each([
    "0.0.0.0",
    "::",
    "192.168.1.5",
    "10.0.0.1",
    "evil.example",
    "127.0.0.1.evil.example",
    "127.1",
    "2130706433",
    "",
  ])("SE-3 never on %j, which others could reach, and it says why and what to do", async (host) => {
    const error = await Listener.open({ host, port: 0, edges: [] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({
      kind: "InvalidConfig",
      field: "host",
      message: `Refused to listen on ${host}: it is reachable from other machines`,
      hint: expect.stringContaining("127.0.0.1"),
    });
  });

  it("SE-3 a port in use is named, with a way out", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
    const { port } = taken.address() as AddressInfo;
    const error = await Listener.open({ host: "127.0.0.1", port, edges: [] }).catch((thrown: unknown) => thrown);
    await new Promise((resolve) => taken.close(resolve));
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({
      kind: "IoError",
      message: `Port ${port} on 127.0.0.1 is already in use`,
      hint: expect.stringContaining(`--port ${port + 1}`),
    });
  });

  it("SE-3 another reason is named by its code", async () => {
    await expect(Listener.open({ host: "127.300.0.1", port: 0, edges: [] })).rejects.toMatchObject({
      kind: "IoError",
      detail: expect.stringMatching(/^E[A-Z]+$/),
    });
  });
});

describe("the end", () => {
  it("LC-5 answers what it has begun, takes nothing new, and does not wait for idle connections", async () => {
    let take: (response: ServerResponse) => void;
    const taken = new Promise<ServerResponse>((resolve) => (take = resolve));
    const edge: Edge = (_, response) => (take(response), true);
    const listener = await Listener.open({ host: "127.0.0.1", port: 0, edges: [edge] });
    const { url } = listener;
    const idle = connect(Number(new URL(url).port), "127.0.0.1").resume();
    const idleClosed = once(idle, "close");
    await once(idle, "connect");
    const answered = once(httpRequest(url, { agent: false }).end(), "response");
    const begun = await taken;
    const closing = listener.close();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
    begun.end("done");
    const [response] = await answered;
    expect(await response.toArray()).toEqual([Buffer.from("done")]);
    await Promise.all([closing, idleClosed]);
  });
});

describe("T21 slow clients", () => {
  const QUICK: Patience = { headers: 300, request: 500, rest: 300, unread: 300, check: 50 };
  const POST = "POST /mcp/default HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  it.each([
    ["says nothing", "", undefined, 408],
    ["stops in the request line", "POST /mc", undefined, 408],
    ["stops in a header", `${POST}X-Slow: `, undefined, 408],
    ["dribbles a header", `${POST}X-Slow: `, "x", 408],
    ["stops in its body", `${POST}Content-Length: 100000\r\n\r\n{`, undefined, 408],
    ["dribbles its body", `${POST}Content-Length: 100000\r\n\r\n{`, "x", 408],
    ["dribbles a chunked body", `${POST}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n", 408],
    [
      "dribbles on after its answer",
      "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
      "x",
      404,
    ],
    [
      "sends one request, then half of another",
      `GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n${POST}`,
      undefined,
      200,
    ],
  ])("T21 one that %s is cut off, and honest ones are served meanwhile", async (_, first, more, status) => {
    const { port, url } = await start("127.0.0.1", QUICK);
    const socket = connect(port, "127.0.0.1");
    let got = "";
    const end = closed(socket);
    socket.setEncoding("latin1").on("data", (text: string) => (got += text));
    socket.write(first);
    const dribble = setInterval(() => more !== undefined && socket.write(more), 20);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await end;
    clearInterval(dribble);
    expect(got).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("T21 one that does not read its answer is cut off; one that waits long for it, or reads slowly, is not", async () => {
    const large = Buffer.alloc(32 << 20, "x");
    let cut: Promise<unknown> | undefined;
    const edge: Edge = (request, response) => {
      if (request.url === "/unread") cut = once(response, "close");
      if (request.url === "/late") setTimeout(() => response.end("late"), 3 * QUICK.unread);
      else response.end(large);
      return true;
    };
    const listener = await Listener.open({ host: "127.0.0.1", port: 0, edges: [edge], patience: QUICK });
    open.push(listener);
    const port = Number(new URL(listener.url).port);
    const unread = connect(port, "127.0.0.1").pause();
    unread.on("error", () => {});
    unread.write("GET /unread HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const [late, slow] = await Promise.all([
      fetch(`${listener.url}/late`).then((response) => response.text()),
      readSlowly(`${listener.url}/slow`),
    ]);
    expect([late, slow]).toEqual(["late", large.length]);
    await cut;
    unread.destroy();
  });

  /** With a rest between pieces; together these are longer than anybody has patience for. */
  async function readSlowly(url: string): Promise<number> {
    const [response] = await once(httpRequest(url, { agent: false }).end(), "response");
    let size = 0;
    let resting = 0;
    for await (const chunk of response) {
      size += chunk.length;
      if (size < resting << 22) continue;
      resting++;
      await new Promise((wake) => setTimeout(wake, QUICK.unread / 2));
    }
    return size;
  }

  it("T21 by default fifty of them are gone in 15 seconds", async () => {
    const { port, url } = await start();
    const startedAt = performance.now();
    const slow = Array.from({ length: 50 }, (_, index) => {
      const socket = connect(port, "127.0.0.1").resume();
      // Some stop in the middle of the request line, some in a header, some in the body.
      socket.write(["POST /mc", `${POST}X-Slow: `, `${POST}Content-Length: 9\r\n\r\n{`][index % 3] ?? "");
      return closed(socket);
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await Promise.all(slow);
    const seconds = (performance.now() - startedAt) / 1000;
    process.stderr.write(`slow clients: the last of 50 was closed after ${seconds.toFixed(1)} s\n`);
    // Twelve seconds for the request and one until somebody looks; the rest is a slow machine.
    expect(seconds).toBeLessThan(20);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
