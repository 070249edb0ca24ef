import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { connect, createServer as createTcpServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { ErrorKind } from "../../errors.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function listen(
  server: Server | ReturnType<typeof createTcpServer>,
  host = "127.0.0.1",
  port = 0,
): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  ends.push(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(handler: RequestListener): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const port = await listen(
    createServer((request, response) => {
      requests.push(request);
      handler(request, response);
    }),
  );
  return { url: `http://127.0.0.1:${port}`, requests };
}

/** A lookup that answers from a table, and counts. */
function names(table: Readonly<Record<string, readonly string[]>>): LookupFunction & { asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (host, _options, callback) => {
    asked.push(host);
    const found = table[host];
    if (found === undefined) callback(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }), []);
    else
      callback(
        null,
        found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
  };
  return Object.assign(lookup, { asked });
}

const LOCAL = new URL("http://127.0.0.1:1/mcp");
const kindOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { kind?: ErrorKind }) => error.kind ?? error,
  );

describe("A07 connections go where they may", () => {
  it.each(["file:///etc/passwd", "javascript:alert(1)", "--flag", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/"])(
    "A08 %s is no address to request",
    async (address) => {
      expect(await kindOf(createGuardedFetch({ server: LOCAL })(address))).toBe("UnsafeAddress");
    },
  );

  it("A07 connects to the address that was checked, whatever the name resolves to later", async () => {
    const answer = (text: string) => createServer((_request, response) => response.end(text));
    const port = await listen(answer("checked"), "127.0.0.1");
    await listen(answer("later"), "127.0.0.2", port);
    let calls = 0;
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [{ address: calls++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    const fetch = createGuardedFetch({ server: LOCAL, lookup });
    expect(await (await fetch(`http://rebind.localhost:${port}/`)).text()).toBe("checked");
    expect(calls).toBe(1);
  });

  it("requests nothing of a public server's metadata that points inside", async () => {
    const inner = await serve((_request, response) => response.end("inner"));
    const { port } = new URL(inner.url);
    const lookup = names({ "mcp.example.com": ["93.184.216.34"], "inside.example": ["127.0.0.1"] });
    const fetch = createGuardedFetch({ server: new URL("https://mcp.example.com/mcp"), lookup });
    const hosts = ["127.0.0.1", "localhost.", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "inside.example"];
    for (const host of hosts) {
      expect(await kindOf(fetch(`http://${host}:${port}/`))).toMatch(/UnsafeAddress|ConnectionFailed/);
      expect(await kindOf(fetch(`https://${host}:${port}/`))).toMatch(/UnsafeAddress|ConnectionFailed/);
    }
    expect(inner.requests).toHaveLength(0);
  });

  it("connects only to the allowed ones of several addresses", async () => {
    const { url, requests } = await serve((_request, response) => response.end("ok"));
    const { port } = new URL(url);
    const lookup = names({ "both.localhost": ["169.254.169.254", "127.0.0.1"] });
    const fetch = createGuardedFetch({ server: LOCAL, lookup });
    expect(await (await fetch(`http://both.localhost:${port}/`)).text()).toBe("ok");
    expect(requests).toHaveLength(1);
  });

  it("does not use a proxy of the environment", async () => {
    const proxy = await serve((_request, response) => response.end("proxy"));
    const { url } = await serve((_request, response) => response.end("direct"));
    const before = { ...process.env };
    Object.assign(process.env, { http_proxy: proxy.url, HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url, NO_PROXY: "" });
    try {
      expect(await (await createGuardedFetch({ server: LOCAL })(`${url}/`)).text()).toBe("direct");
      expect(proxy.requests).toHaveLength(0);
    } finally {
      process.env = before;
    }
  });
});

describe("A07 what is requested is bounded", () => {
  it("gives status, headers and body, and sends method, headers and body", async () => {
    const { url, requests } = await serve((request, response) => {
      request.on("data", (chunk: Buffer) => response.write(chunk));
      request.on("end", () => response.end());
      response.writeHead(201, { "x-one": "1", "dpop-nonce": "n" });
    });
    const response = await createGuardedFetch({ server: LOCAL })(url, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ a: "b c" }),
    });
    expect([response.status, response.headers.get("dpop-nonce"), await response.text()]).toEqual([201, "n", "a=b+c"]);
    expect(requests[0]).toMatchObject({ method: "POST", headers: { accept: "application/json" } });
  });

  it.each([
    [301, "GET", "/b", "b"],
    [302, "GET", "b", "b"],
    [303, "GET", "/b", "b"],
    [307, "GET", "/b", "b"],
    [308, "GET", "/b", "b"],
    [308, "GET", "/loop", "ConnectionFailed"],
    [302, "GET", "http://127.0.0.1:1/b", "ConnectionFailed"],
    [302, "GET", "https://127.0.0.1:1/b", "ConnectionFailed"],
    [302, "GET", "file:///etc/passwd", "ConnectionFailed"],
    [302, "GET", "http://[", "ConnectionFailed"],
    [307, "POST", "/b", "not followed"],
    [302, "POST", "/b", "not followed"],
  ])("a redirect %s of a %s to %s ends in: %s", async (status, method, location, outcome) => {
    const { url, requests } = await serve((request, response) => {
      if (request.url === "/b") return response.end("b");
      return response.writeHead(status, { location }).end("not followed");
    });
    const text = createGuardedFetch({ server: LOCAL })(`${url}/a`, { method }).then((response) => response.text());
    expect(await kindOf(text)).toBe(outcome);
    expect(requests.length).toBeLessThanOrEqual(4);
  });

  it.each([
    ["plain", 64 * 1024, (body: Buffer) => body, undefined],
    ["gzip", 64 * 1024, gzipSync, "gzip"],
    ["deflate", 64 * 1024, deflateSync, "deflate"],
    ["br", 64 * 1024, brotliCompressSync, "br"],
  ])("%s bodies have at most 64 KiB after decoding", async (_name, size, encode, encoding) => {
    const { url } = await serve((request, response) => {
      const body = encode(Buffer.alloc(Number(request.url?.slice(1)), "x"));
      response.writeHead(200, encoding === undefined ? {} : { "content-encoding": encoding }).end(body);
    });
    const fetch = createGuardedFetch({ server: LOCAL });
    expect((await (await fetch(`${url}/${size}`)).text()).length).toBe(size);
    expect(await kindOf(fetch(`${url}/${size + 1}`))).toBe("ProtocolError");
  });

  it("a 10 MB body is not read to its end", async () => {
    let written = 0;
    const { url } = await serve((_request, response) => {
      const write = () => {
        while (written < 10_000_000 && response.write(Buffer.alloc(65_536))) written += 65_536;
        if (written >= 10_000_000) response.end();
      };
      response.on("drain", write);
      write();
    });
    expect(await kindOf(createGuardedFetch({ server: LOCAL })(url))).toBe("ProtocolError");
    expect(written).toBeLessThan(10_000_000);
  });

  it("a body that drips ends at the deadline", async () => {
    const { url } = await serve((_request, response) => {
      response.write("{");
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    });
    expect(await kindOf(createGuardedFetch({ server: LOCAL })(url, { timeoutMs: 300 }))).toBe("Timeout");
  });

  it("the deadline covers the lookup and redirects", async () => {
    const fetch = createGuardedFetch({ server: new URL("https://slow.example"), lookup: () => undefined });
    expect(await kindOf(fetch("https://slow.example/", { timeoutMs: 50 }))).toBe("Timeout");
    const { url } = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: "/again" }).end(), 60);
    });
    expect(await kindOf(createGuardedFetch({ server: LOCAL })(url, { timeoutMs: 100 }))).toBe("Timeout");
  });

  it("a caller that gives up gets Cancelled, unless its time was over", async () => {
    const { url, requests } = await serve(() => undefined);
    const caller = new AbortController();
    const outcome = kindOf(createGuardedFetch({ server: LOCAL })(url, { signal: caller.signal }));
    await expect.poll(() => requests.length).toBe(1);
    caller.abort();
    expect(await outcome).toBe("Cancelled");
    expect(await kindOf(createGuardedFetch({ server: LOCAL })(url, { signal: caller.signal }))).toBe("Cancelled");
    const signal = AbortSignal.timeout(30);
    expect(await kindOf(createGuardedFetch({ server: LOCAL })(url, { signal }))).toBe("Timeout");
  });

  it("says whether a request may have been sent", async () => {
    const deliveryOf = (promise: Promise<unknown>) => promise.catch((error: { delivery?: string }) => error.delivery);
    const fetch = createGuardedFetch({ server: LOCAL, lookup: names({}) });
    const closed = await listen(createTcpServer());
    for (const end of ends.splice(0)) end();
    expect(await deliveryOf(fetch(`http://127.0.0.1:${closed}/`))).toBe("unsent");
    expect(await deliveryOf(fetch("https://unknown.example/"))).toBe("unsent");
    const resetting = await listen(createTcpServer((socket) => socket.once("data", () => socket.destroy())));
    expect(await deliveryOf(fetch(`http://127.0.0.1:${resetting}/`))).toBe("unknown");
    const halfway = await serve((_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setImmediate(() => response.destroy());
    });
    expect(await deliveryOf(fetch(halfway.url))).toBe("unknown");
  });

  it("leaves no connection open", async () => {
    const sockets = new Set<unknown>();
    const server = createServer((_request, response) => response.end("ok"));
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    const port = await listen(server);
    await createGuardedFetch({ server: LOCAL })(`http://127.0.0.1:${port}/`);
    await expect.poll(() => sockets.size).toBe(0);
    connect(port, "127.0.0.1").destroy();
  });
});
