// `plugboard stdio --url`: a bridge to any MCP endpoint over Streamable HTTP. Tested with real servers of both eras, and with a
// scripted server that records the requests of the bridge.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startProxy, type ForwardProxy } from "../support/forward-proxy.ts";
import { makeHome, plugboard, type Home } from "../support/hub.ts";
import { RawClient } from "../support/raw-stdio.ts";
import { startRemote } from "../support/remote.ts";
import { listen, portOf } from "../support/sockets.ts";

let home: Home;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  home = await makeHome({});
});

afterAll(() => home?.remove());

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function launch(url: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): RawClient {
  const client = new RawClient({ ...home, env: { ...home.env, ...env } }, ["--url", url, ...args]);
  ends.push(async () => {
    client.process.kill("SIGKILL");
    await client.finished;
  });
  return client;
}

async function remote(name: string, ...args: string[]): Promise<string> {
  const { url, stop } = await startRemote(name, args);
  ends.push(stop);
  return url;
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("real servers", () => {
  it.each([[], ["--sse"]])("GR-7 a legacy server, %j", async (...args) => {
    const client = launch(await remote("legacy-http", ...args.flat()));
    await client.initialize();
    expect(await client.tools()).toContain("echo");
    expect((await client.call("echo", { text: "x" })).result.content[0].text).toBe("x");
    expect((await client.call("rpc_error")).error).toMatchObject({ code: -32042, data: { reason: "odd", n: 1 } });
    expect(await client.end()).toMatchObject({ code: 0, stderr: "" });
  });

  it.each([[], ["--sse"]])("CL-2 a modern server, with arguments that are sent as headers, %j", async (...args) => {
    const client = launch(await remote("modern-http", ...args.flat()));
    const request = (method: string, params: object = {}) => client.request(method, { ...params, _meta });
    expect((await request("server/discover")).result).toBeDefined();
    expect((await request("tools/list")).result.tools.length).toBeGreaterThan(1);
    const call = { name: "regional", arguments: { region: "north" } };
    expect((await request("tools/call", call)).result.content[0].text).toBe("north");
    expect((await request("no/such/method")).error).toMatchObject({ code: -32601 });
    expect(await client.end()).toMatchObject({ code: 0, stderr: "" });
  });
});

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { id?: unknown; method?: string } | undefined;
}

/** An endpoint whose responses a test defines. It records the requests. */
async function scripted(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: text === "" ? undefined : JSON.parse(text) };
      seen.push(one);
      answer(one, response);
    });
  });
  await listen(server);
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${portOf(server)}/mcp`, server };
}

const json = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}, status = 200) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
const HELLO = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };

/** A server with one session that answers every request with an empty result. */
function ordinary({ method, body }: Seen, response: ServerResponse): void {
  const reply = (result: unknown) => ({ jsonrpc: "2.0", id: body?.id, result });
  if (method === "GET") response.writeHead(405).end();
  else if (method === "DELETE") response.writeHead(204).end();
  else if (body?.method === "initialize") json(response, reply(HELLO), { "mcp-session-id": "s-1" });
  else if (body?.id === undefined) response.writeHead(202).end();
  else json(response, reply({}));
}

describe("requests of the bridge", () => {
  it("CL-2 are the handshake in order, then session and revision in every request, and DELETE at the end", async () => {
    const { seen, url } = await scripted(ordinary);
    const client = launch(url);
    const answers = [client.initialize(), client.request("ping"), client.request("ping")];
    await Promise.all(answers);
    // The bridge opens the stream after the handshake, without delaying the client.
    await expect.poll(() => seen.map(({ method }) => method)).toContain("GET");
    await client.end();
    expect(seen.map(({ method, body }) => body?.method ?? method)).toEqual(
      expect.arrayContaining(["initialize", "notifications/initialized", "ping", "ping", "GET", "DELETE"]),
    );
    expect(seen.slice(0, 2).map(({ body }) => body?.method)).toEqual(["initialize", expect.any(String)]);
    const [hello, ...others] = seen;
    expect(hello?.headers).not.toHaveProperty("mcp-session-id");
    expect(hello?.headers["accept"]).toBe("application/json, text/event-stream");
    for (const { headers } of others) {
      expect(headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-06-18" });
    }
    expect(seen.at(-1)?.method).toBe("DELETE");
  });

  it("SE-1 have the configured headers with expanded variables, and none of them without TLS", async () => {
    const { seen, url } = await scripted(ordinary);
    const client = launch(url, ["--header", "Authorization: Bearer ${TOKEN}", "--header=X-Team: a b"], {
      TOKEN: "t-1",
    });
    await client.initialize();
    await client.end();
    for (const { headers } of seen) expect(headers).toMatchObject({ authorization: "Bearer t-1", "x-team": "a b" });

    const plain = ["stdio", "--url", "http://10.0.0.1/mcp", "--header", "Authorization: x"];
    expect(await plugboard(home, plain)).toMatchObject({ code: 2, stderr: expect.stringContaining("plain HTTP") });
    const missing = ["stdio", "--url", url, "--header", "Authorization: ${NOT_THERE}"];
    expect(await plugboard(home, missing)).toMatchObject({ code: 2, stderr: expect.stringContaining("NOT_THERE") });
  });

  it.each([
    [["--url", "ftp://x/"], /Invalid --url "ftp/],
    [["--url", "http://127.0.0.1:1/mcp", "--header", "no colon"], /'Name: value'/],
    [["--url", "http://127.0.0.1:1/mcp", "--header", "A: b\nc: d"], /Invalid value of the header A/],
    [["--header", "A: b"], /--header needs --url/],
    [["--own", "--url", "http://127.0.0.1:1/mcp"], /Use either --own or --url/],
    [["--no-such-option"], /unknown option/],
  ])("an invalid command line %j is rejected", async (args, words) => {
    const { code, stdout, stderr } = await plugboard(home, ["stdio", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(words);
  });
});

describe("responses", () => {
  const event = (message: unknown, id?: string) =>
    `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
  const STREAM = { "content-type": "text/event-stream" };

  it("CL-5 an interrupted stream is resumed where it stopped", async () => {
    const { seen, url } = await scripted((one, response) => {
      const { method, body, headers } = one;
      if (headers["last-event-id"] !== undefined) {
        response
          .writeHead(200, STREAM)
          .end(event({ jsonrpc: "2.0", id: 2, result: { from: headers["last-event-id"] } }));
      } else if (method === "POST" && body?.method === "tools/call") {
        response
          .writeHead(200, STREAM)
          .write(`retry: 20\n${event({ jsonrpc: "2.0", method: "notifications/x" }, "e7")}`);
        setImmediate(() => response.destroy());
      } else ordinary(one, response);
    });
    const client = launch(url);
    await client.initialize();
    expect((await client.call("slow")).result).toEqual({ from: "e7" });
    expect(client.messages.all).toContainEqual({ jsonrpc: "2.0", method: "notifications/x" });
    expect(seen.find(({ headers }) => headers["last-event-id"] !== undefined)?.method).toBe("GET");
    await client.end();
  });

  it("CL-6 may be JSON on many lines, in any chunks, and contain requests of the server", async () => {
    let asked: (answer: unknown) => void = () => undefined;
    const answered = new Promise((resolve) => (asked = resolve));
    const { url } = await scripted((one, response) => {
      const { method, body } = one;
      if (method === "GET") {
        response.writeHead(200, STREAM).write(event({ jsonrpc: "2.0", id: "q", method: "roots/list" }));
      } else if (body?.method === "tools/call") {
        const pretty = JSON.stringify({ jsonrpc: "2.0", id: body.id, result: { text: "a\nb" } }, null, 2);
        response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
        for (const piece of pretty.match(/[^]{1,7}/g) ?? []) response.write(piece);
        response.end();
      } else {
        if (body !== undefined && body.method === undefined) asked(body);
        ordinary(one, response);
      }
    });
    const client = launch(url);
    await client.initialize();
    await client.messages.find(({ id }) => id === "q");
    client.send({ id: "q", result: { roots: [] } });
    expect(await answered).toMatchObject({ id: "q", result: { roots: [] } });
    expect((await client.call("x")).result).toEqual({ text: "a\nb" });
    await client.end();
  });

  it.each([
    [
      "an HTML page",
      (response: ServerResponse) => response.writeHead(502, { "content-type": "text/html" }).end("<p>"),
      -31502,
    ],
    ["a status without a body", (response: ServerResponse) => response.writeHead(401).end(), -31401],
    ["nothing at all", (response: ServerResponse) => response.writeHead(200).end(), -31502],
    ["a closed connection", (response: ServerResponse) => response.destroy(), -31502],
    [
      "an error of no request",
      (response: ServerResponse) =>
        json(response, { jsonrpc: "2.0", id: null, error: { code: -32000, message: "no" } }, {}, 400),
      -32000,
    ],
    ["what is no JSON-RPC", (response: ServerResponse) => json(response, { id: 2 }), -31502],
    [
      "a redirect elsewhere",
      (response: ServerResponse) => response.writeHead(307, { location: "http://127.0.0.2:1/" }).end(),
      -31502,
    ],
    [
      "a body that is cut off",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-length": 100 }).write("{");
        setImmediate(() => response.destroy());
      },
      -31502,
    ],
  ])("%s instead of an answer is an error of that request only", async (_, answer, code) => {
    const { url } = await scripted((one, response) => {
      if (one.body?.method === "tools/call") answer(response);
      else ordinary(one, response);
    });
    const client = launch(url);
    await client.initialize();
    expect((await client.call("x")).error).toMatchObject({ code });
    expect((await client.request("ping")).result).toEqual({});
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("redirects within the origin are followed, up to a limit", async () => {
    const { seen, url } = await scripted((one, response) => {
      const { path, body } = one;
      if (body?.method === "ping" && path === "/mcp") response.writeHead(308, { location: "/new?x=1" }).end();
      else if (body?.method === "tools/call") response.writeHead(307, { location: "/mcp" }).end();
      else ordinary(one, response);
    });
    const client = launch(url);
    await client.initialize();
    expect((await client.request("ping")).result).toEqual({});
    expect(seen.some(({ path }) => path === "/new?x=1")).toBe(true);
    expect((await client.call("x")).error.message).toContain("redirects more than");
    await client.end();
  });

  it("F29 a session that the server forgot is opened again, and the call is made once", async () => {
    let sessions = 0;
    const { seen, url } = await scripted((one, response) => {
      const { body, headers } = one;
      if (body?.method === "initialize") {
        return void json(
          response,
          { jsonrpc: "2.0", id: body.id, result: HELLO },
          { "mcp-session-id": `s-${++sessions}` },
        );
      }
      if (body?.method === "tools/call" && headers["mcp-session-id"] === "s-1") {
        const error = { code: -32001, message: "Session not found" };
        return void json(response, { jsonrpc: "2.0", id: body.id, error }, {}, 404);
      }
      ordinary(one, response);
    });
    const client = launch(url);
    await client.initialize();
    expect((await client.call("x")).result).toEqual({});
    const methods = seen.map(({ method, body }) => body?.method ?? method).filter((method) => method !== "GET");
    expect(methods).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/call",
      "initialize",
      "notifications/initialized",
      "tools/call",
    ]);
    expect(client.messages.all.filter(({ id }) => id === 1)).toHaveLength(1);
    await client.end();
  });

  it("if the server cannot be reached, each request fails, and the bridge keeps running", async () => {
    const { url, server } = await scripted(ordinary);
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    const client = launch(url);
    for (let round = 0; round < 3; round++) {
      expect((await client.request("ping")).error).toMatchObject({
        code: -31502,
        message: "The server cannot be reached",
        data: { detail: "ECONNREFUSED" },
      });
    }
    expect(await client.end()).toMatchObject({ code: 0 });
  });
});

async function forwardProxy(credentials?: string): Promise<ForwardProxy> {
  const proxy = await startProxy(credentials);
  ends.push(() => proxy.stop());
  return proxy;
}

describe("proxies", () => {
  it("HTTP_PROXY gets the requests, with its credentials; NO_PROXY and loopback bypass it", async () => {
    const url = await remote("legacy-http");
    const proxy = await forwardProxy("user:pass-word-1");
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: "exempt.test" };
    const client = launch(url.replace("127.0.0.1", "legacy.test"), ["--log-level", "info"], env);
    await client.initialize();
    expect((await client.call("echo", { text: "x" })).result.content[0].text).toBe("x");
    const { stderr } = await client.end();
    expect(stderr).toContain("through the proxy 127.0.0.1:");
    expect(stderr).not.toContain("pass-word-1");
    expect(proxy.log).toContainEqual(expect.stringMatching(/^POST http:\/\/legacy\.test:\d+\/mcp$/));

    const exempt = launch(url.replace("127.0.0.1", "exempt.test"), [], env);
    expect((await exempt.request("ping")).error).toMatchObject({ data: { detail: "ENOTFOUND" } });
    const here = launch(url, [], env);
    await here.initialize();
    expect(await here.tools()).toContain("echo");
    expect(proxy.log.join()).not.toMatch(/exempt|127\.0\.0\.1|localhost/);
  });

  it("the error of a failing proxy names the problem", async () => {
    const { url: guarded } = await forwardProxy("user:pass-word-1");
    const wrong = guarded.replace("pass-word-1", "wrong");
    const gone = await startProxy();
    await gone.stop();
    for (const [url, proxy, message] of [
      ["http://a.test/mcp", wrong, /^The proxy 127\.0\.0\.1:\d+ asks for credentials/],
      ["https://a.test/mcp", wrong, /^The proxy 127\.0\.0\.1:\d+ asks for credentials/],
      ["http://a.test/mcp", gone.url, /^The proxy 127\.0\.0\.1:\d+ cannot be reached/],
      ["https://a.test/mcp", gone.url, /^The proxy 127\.0\.0\.1:\d+ cannot be reached/],
    ] as const) {
      const client = launch(url, [], { all_proxy: proxy });
      expect((await client.request("ping")).error.message).toMatch(message);
    }
    const { code, stderr } = await plugboard(home, ["stdio", "--url", "https://a.test/mcp"], {
      env: { HTTPS_PROXY: "socks5://127.0.0.1:1" },
    });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/A proxy must be an http:\/\/ or https:\/\/ URL/)]);
  });
});

describe("TLS", () => {
  const dir = mkdtempSync(join(tmpdir(), "plugboard-bridge-"));
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key];
  const about = ["-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:secure.test"];
  const canMake = spawnSync("openssl", ["req", "-x509", ...newKey, ...about, "-out", cert]).status === 0;
  if (!canMake) process.stderr.write("The bridge over TLS is skipped: it needs openssl (apt-get install -y openssl)\n");

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const serve = async () => {
    const plain = await scripted(ordinary);
    const [handle] = plain.server.listeners("request") as [(...of: unknown[]) => void];
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, handle);
    await listen(server);
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `https://127.0.0.1:${portOf(server)}/mcp`, seen: plain.seen };
  };

  it.runIf(canMake)("F27 a certificate of a known authority is accepted", async () => {
    const { url, seen } = await serve();
    const client = launch(url, ["--header", "Authorization: t"], { NODE_EXTRA_CA_CERTS: cert });
    await client.initialize();
    expect((await client.request("ping")).result).toEqual({});
    await client.end();
    expect(seen.every(({ headers }) => headers["authorization"] === "t")).toBe(true);
  });

  it.runIf(canMake)("a tunnel of HTTPS_PROXY is used, and the proxy does not see our credentials", async () => {
    const { url, seen } = await serve();
    const proxy = await forwardProxy("user:pass-word-1");
    const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: cert };
    const client = launch(url.replace("127.0.0.1", "secure.test"), ["--header", "Authorization: t"], env);
    await client.initialize();
    expect((await client.request("ping")).result).toEqual({});
    await client.end();
    expect(proxy.log).toContainEqual(expect.stringMatching(/^CONNECT secure\.test:\d+$/));
    expect(proxy.log.filter((line) => !line.startsWith("CONNECT"))).toEqual([]);
    expect(seen.every(({ headers }) => headers["authorization"] === "t")).toBe(true);
    expect(seen.some(({ headers }) => "proxy-authorization" in headers)).toBe(false);
  });

  it.runIf(canMake)("a tunnel does not accept a wrong certificate", async () => {
    const { url, seen } = await serve();
    const env = { HTTPS_PROXY: (await forwardProxy()).url, NODE_EXTRA_CA_CERTS: cert };
    const client = launch(url.replace("127.0.0.1", "other.test"), [], env);
    expect((await client.request("ping")).error).toMatchObject({ data: { detail: "ERR_TLS_CERT_ALTNAME_INVALID" } });
    await client.end();
    expect(seen).toEqual([]);
  });

  it.runIf(canMake)(
    "F27 an unknown certificate is refused before anything is sent, and the cause is named",
    async () => {
      const { url, seen } = await serve();
      const client = launch(url);
      expect((await client.request("ping")).error).toMatchObject({ data: { detail: "DEPTH_ZERO_SELF_SIGNED_CERT" } });
      await client.end();
      expect(seen).toEqual([]);
    },
  );
});
