// Slow clients are cut off, over real sockets.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { Listener, type Edge, type ListenerTimeouts } from "./listener.ts";
import { closed } from "../../../test/support/streams.ts";
import { start } from "../../../test/support/listener.ts";

describe("T21 slow clients", () => {
  const QUICK: ListenerTimeouts = { headers: 300, request: 500, rest: 300, unread: 300, check: 50 };
  const UNREAD_MS = 1500;
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
  ])("T21 a client that %s is cut off, and other clients are served", async (_, first, more, status) => {
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

  it("T21 a client that does not read its answer is cut off; one that waits long for it, or reads slowly, is not", async () => {
    const timeoutsMs = { ...QUICK, unread: UNREAD_MS };
    const large = Buffer.alloc(32 << 20, "x");
    let cut: Promise<unknown> | undefined;
    const edge: Edge = (request, response) => {
      if (request.url === "/unread") cut = once(response, "close");
      if (request.url === "/late") setTimeout(() => response.end("late"), 1.5 * UNREAD_MS);
      else response.end(large);
      return true;
    };
    const listener = await Listener.open({ host: "127.0.0.1", port: 0, edges: [edge], timeoutsMs });
    onTestFinished(() => listener.close());
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

  /** Reads with pauses that are much shorter than the timeout, but together longer. */
  async function readSlowly(url: string): Promise<number> {
    const [response] = await once(httpRequest(url, { agent: false }).end(), "response");
    let size = 0;
    let pauses = 0;
    for await (const chunk of response) {
      size += chunk.length;
      if (size < pauses << 20) continue;
      pauses++;
      await new Promise((resume) => setTimeout(resume, UNREAD_MS / 20));
    }
    return size;
  }

  it("T21 by default fifty slow clients are cut off within 15 seconds", async () => {
    const { port, url } = await start();
    const startedAt = performance.now();
    const slow = Array.from({ length: 50 }, (_, index) => {
      const socket = connect(port, "127.0.0.1").resume();
      // Some stop in the request line, some in a header, some in the body.
      socket.write(["POST /mc", `${POST}X-Slow: `, `${POST}Content-Length: 9\r\n\r\n{`][index % 3] ?? "");
      return closed(socket);
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await Promise.all(slow);
    const seconds = (performance.now() - startedAt) / 1000;
    process.stderr.write(`slow clients: the last of 50 was closed after ${seconds.toFixed(1)} s\n`);
    // Twelve seconds for the request, one until the next check, and slack for a slow machine.
    expect(seconds).toBeLessThan(20);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
