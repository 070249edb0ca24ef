// Which requests the listener accepts by their Host, Origin and Sec-Fetch-Site, on every route.

import { describe, expect, it } from "vitest";
import { start, raw, message, ROUTES } from "../../../test/support/listener.ts";

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
  ])("SE-3 T01 %j: %i, and a refused request reaches no edge", async (host, status) => {
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
  ])("SE-3 T01 %s: 400, and the request reaches no edge", async (_, headers, line) => {
    const { port, reached } = await start();
    expect((await raw(port, message(headers, { line }))).status).toBe(400);
    expect(reached()).toBe(0);
  });

  it.each(ROUTES)("SE-3 T01 is checked before anything else: %s", async (line, body) => {
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

  it("T22 a POST from a page of another site is refused too", async () => {
    const { port, reached } = await start();
    expect((await raw(port, message(["Host: localhost", "Sec-Fetch-Site: cross-site"]))).status).toBe(403);
    expect(reached()).toBe(0);
  });
});

describe("headers", () => {
  it("T01 more headers than Node keeps are refused, because the Origin may be among the dropped ones", async () => {
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
  ])("SE-3 T02 %j: %i, without CORS headers", async (origin, status) => {
    const { port, reached } = await start();
    const headers = [`Host: localhost:${port}`, `Origin: ${origin.replaceAll("PORT", String(port))}`];
    const given = await raw(port, message(headers));
    expect(given.status).toBe(status);
    expect(given.head.toLowerCase()).not.toContain("access-control");
    expect(reached()).toBe(status === 200 ? 1 : 0);
  });

  it("SE-3 T02 the case does not matter, in either header", async () => {
    const { port, reached } = await start();
    const headers = [`Host: LocalHost:${port}`, `Origin: http://localHOST:${port}`];
    expect((await raw(port, message(headers))).status).toBe(200);
    expect(reached()).toBe(1);
  });

  it("SE-3 T02 two Origin headers are refused", async () => {
    const { port, reached } = await start();
    const own = `Origin: http://localhost:${port}`;
    expect((await raw(port, message([`Host: localhost:${port}`, own, "Origin: http://evil.example"]))).status).toBe(
      403,
    );
    expect(reached()).toBe(0);
  });

  it.each(ROUTES)("SE-3 T02 is checked on every route: %s", async (line, body) => {
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
