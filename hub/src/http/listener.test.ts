// The listener, over real sockets: its routes, the addresses on which it may listen, and how it closes.

import { once } from "node:events";
import { request as httpRequest, type ServerResponse } from "node:http";
import { connect, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { HubError } from "../errors.ts";
import { Listener, type Edge } from "./listener.ts";
import { closed } from "../../../test/support/streams.ts";
import { listen } from "../../../test/support/sockets.ts";
import { start, raw, message } from "../../../test/support/listener.ts";

describe("routes", () => {
  it("MG-3 /healthz reports that the hub is alive, and nothing else", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/healthz`);
    expect([response.status, await response.text()]).toEqual([200, '{"status":"ok"}']);
  });

  it.each(["/", "/nowhere", "/healthz/x", "//evil.example/mcp", "/%2e%2e/etc/passwd"])(
    "SE-5 %s is not found",
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

  it("SE-5 the first edge that accepts a request handles it", async () => {
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
    onTestFinished(() => listener.close());
    expect(await (await fetch(listener.url)).text()).toBe("b");
    expect(asked).toEqual(["a", "b"]);
  });

  it("SE-5 a pipelined WebSocket upgrade is refused in its order", async () => {
    const { port, url } = await start();
    const probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const upgrade = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    const socket = connect(port, "127.0.0.1");
    let got = "";
    const end = closed(socket.setEncoding("latin1").on("data", (text: string) => (got += text)));
    // The rest of the request is not read, so the connection must be closed.
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
    ["two credentials", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nauthorization: b\r\n\r\n"],
    ["a folded Host", "GET / HTTP/1.1\r\nHost:\r\n localhost\r\n\r\n"],
  ])("SE-5 %s is refused, and the next request is served", async (_, text) => {
    const { port, url, reached } = await start();
    expect((await raw(port, text)).status).toBeGreaterThanOrEqual(400);
    expect(reached()).toBe(0);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe("the address", () => {
  it.each(["127.0.0.1", "localhost", "127.0.0.2"])("SE-3 may be %s, and its URL works", async (host) => {
    const { url } = await start(host);
    expect(url).toMatch(new RegExp(`^http://${host}:\\d+$`));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("SE-3 may be ::1 if there is IPv6", async ({ skip }) => {
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
  ])("SE-3 may not be %j, which others can reach, and the error has the reason and the fix", async (host) => {
    const error = await Listener.open({ host, port: 0, edges: [] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({
      kind: "InvalidArgument",
      field: "host",
      message: `Refused to listen on ${host}: it is reachable from other machines`,
      hint: expect.stringContaining("127.0.0.1"),
    });
  });

  it("SE-3 a port in use is an error that names the port and a fix", async () => {
    const taken = createServer();
    const port = await listen(taken);
    const error = await Listener.open({ host: "127.0.0.1", port, edges: [] }).catch((thrown: unknown) => thrown);
    await new Promise((resolve) => taken.close(resolve));
    expect(error).toBeInstanceOf(HubError);
    expect(error).toMatchObject({
      kind: "PortInUse",
      message: `Port ${port} on 127.0.0.1 is already in use`,
      hint: expect.stringContaining(`--port ${port + 1}`),
    });
  });

  it("SE-3 another error is named by its code", async () => {
    await expect(Listener.open({ host: "127.300.0.1", port: 0, edges: [] })).rejects.toMatchObject({
      kind: "IoError",
      detail: expect.stringMatching(/^E[A-Z]+$/),
    });
  });
});

describe("closing", () => {
  it("LC-5 answers open requests, accepts no new ones, and does not wait for idle connections", async () => {
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
