// The built hub against hostile HTTP clients, with and without the fast path: it answers clearly, keeps running, and nothing has changed.

import { readdir } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { residentBytes } from "../support/memory.ts";
import { Mutator, randomFrom } from "../support/mutator.ts";
import { answerOf, connect, http, modern, post, type HttpResult } from "../support/rpc.ts";
import { closed } from "../support/streams.ts";

describe.each([
  ["with the fast path", []],
  ["with --no-fast-path", ["--no-fast-path"]],
])("%s", (_title, args) => {
  let home: Home;
  let hub: RunningHub;
  let mcp: string;
  let session: Awaited<ReturnType<typeof connect>>;
  let before: unknown;

  beforeAll(async () => {
    home = await makeHome(undefined);
    hub = await startHub(home, { args });
    mcp = `${hub.url}/mcp`;
    session = await connect(mcp);
    before = await whatThereIs();
  });

  afterAll(async () => {
    await hub.stop();
    await home.remove();
  });

  /** After every test: the same process, lists and files, and no stack trace in its output. */
  afterEach(async () => {
    expect([hub.process.exitCode, hub.process.signalCode]).toEqual([null, null]);
    expect(await whatThereIs()).toEqual(before);
    expect(hub.stderr()).not.toMatch(/^\s+at /m);
  });

  async function whatThereIs() {
    const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    const offer = await Promise.all(lists.map(async (method) => (await session.request(method)).result));
    const files = await readdir(join(home.dir, "config"), { recursive: true });
    return { offer, files };
  }

  describe("SE-5 requests beyond the limits", () => {
    const deep = (levels: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(levels - 1)}1${"}".repeat(levels - 1)}}`;

    it.each([65, 1_000, 20_000, 500_000])("SE-5 T20 a body %i levels deep is refused", async (levels) => {
      const result = await post(mcp, deep(levels), session.headers);
      expect(result.status).toBe(400);
      expect(errorOf(result)).toMatchObject({ code: -32600, message: expect.stringContaining("64 levels") });
    });

    it("SE-5 T20 a body 64 levels deep is accepted", async () => {
      expect(answerOf((await post(mcp, deep(64), session.headers)).body)).toHaveProperty("result.tools");
    });

    it.each([
      ["with its length told", true],
      ["in chunks", false],
    ])("SE-5 T20 five concurrent bodies of 60 MB are refused and not buffered: %s", async (_, told) => {
      const peakBefore = peakMemory();
      const results = await Promise.all(Array.from({ length: 5 }, () => postLarge(mcp, 60_000_000, told)));
      expect(results.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413]);
      for (const result of results) expect(errorOf(result).message).toContain("larger than 4194304 bytes");
      // If they were stored, they would take 300 MB.
      expect(peakMemory() - peakBefore).toBeLessThan(150_000_000);
    });

    it.each([
      ["one that nobody has", "nothing/here"],
      ["another case", "Tools/List"],
      ["a blank too many", "tools/list "],
      ["a name that every object has", "constructor"],
      ["another such name", "__proto__"],
      ["no name", ""],
      ["a hundred thousand letters", "x".repeat(100_000)],
    ])("SE-5 an unknown method gets Method not found: %s", async (_, method) => {
      expect(await session.request(method)).toMatchObject({ error: { code: -32601 } });
    });

    it.each(["nothing/here", "constructor", "__proto__", "ping"])(
      "SE-5 the modern method %s gets Method not found",
      async (method) => {
        const result = await modern(mcp, method);
        expect([result.status, errorOf(result).code]).toEqual([404, -32601]);
      },
    );

    it.each([
      ["nothing", "", -32700],
      ["no JSON", "GET / HTTP/1.1", -32700],
      ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600],
      ["a method twice", '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', -32600],
      ["another case", '{"jsonrpc":"2.0","id":1,"Method":"tools/list"}', -32600],
      ["a long s", '{"jsonrpc":"2.0","id":1,"method":"tools/list","param\u017f":{},"params":{}}', -32600],
      ["a tool twice", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"now","name":"uuid"}}', -32600],
      ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), -32700],
      ["a byte order mark", '\ufeff{"jsonrpc":"2.0","id":1,"method":"tools/list"}', -32700],
      ["a NUL", '{"jsonrpc":"2.0","id":1,"method":"tools/list\0"}', -32700],
    ])("SE-5 T20 T36 %s is refused", async (_, body, code) => {
      const result = await post(mcp, body, session.headers);
      expect([result.status, errorOf(result).code]).toEqual([400, code]);
    });
  });

  describe("SE-5 messages with line breaks", () => {
    const call = (text: string) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "text_stats", arguments: { text } },
    });

    it("T36 reach a stdio server as one message", async () => {
      const ask = async (body: string) => answerOf((await post(mcp, body, session.headers)).body).result;
      const flat = await ask(JSON.stringify(call("a\nb")));
      expect(flat).toHaveProperty("content");
      expect(await ask(JSON.stringify(call("a\nb"), null, 2).replaceAll("\n", "\r\n"))).toEqual(flat);
    });

    it("T36 cannot smuggle a second message", async () => {
      const inner = JSON.stringify({ ...call("smuggled"), id: 999_999 });
      const body = JSON.stringify(call("x")).replace('"arguments":', `"arguments":{"text":"x","y":\n${inner}\n},"_":`);
      const answer = answerOf((await post(mcp, body, session.headers)).body);
      expect(answer).toMatchObject({ id: 1, result: { content: [{ type: "text" }] } });
    });
  });

  describe("SE-5 random input", () => {
    it("SE-5 T20 thousands of malformed bodies each get a clear error", async () => {
      const random = randomFrom(20261115);
      const envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const call = { name: "text_stats", arguments: { text: 'ä"\\' } };
      const seeds = [
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: call },
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...call, _meta: envelope } },
        { jsonrpc: "2.0", id: "x", method: "resources/read", params: { uri: "demo://guide" } },
        {
          jsonrpc: "2.0",
          id: 1,
          method: "completion/complete",
          params: { ref: { type: "ref/prompt", name: "first_steps" } },
        },
        { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } },
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
        { jsonrpc: "2.0", id: 1, result: {} },
      ].map((message) => JSON.stringify(message));
      const mutator = new Mutator(seeds, random);
      const modernHeaders = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "text_stats",
      };
      const statuses = new Map<number, number>();
      for (let round = 0; round < 150; round++) {
        const bodies = Array.from({ length: 20 }, () => mutator.next());
        const results = await Promise.all(
          bodies.map((body) => post(mcp, body, random(3) === 0 ? modernHeaders : session.headers)),
        );
        for (const [index, { status, body }] of results.entries()) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (![200, 202, 400, 404].includes(status)) expect.fail(`${status} for ${bodies[index]?.toString()}`);
          if (status === 202) expect(body).toBe("");
          else expect(answerOf(body)).toMatchObject({ jsonrpc: "2.0" });
        }
      }
      // The random input has caused every kind of response.
      expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual(expect.arrayContaining([200, 202, 400]));
    });

    it("SE-5 hundreds of connections with non-HTTP bytes are answered or closed", async () => {
      const random = randomFrom(7);
      const { port } = new URL(hub.url);
      const heads = [
        "",
        "POST /mcp HTTP/1.1\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
        "\x16\x03\x01",
      ];
      for (let round = 0; round < 20; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const noise = Buffer.from(Array.from({ length: random(200) }, () => random(256)));
            const socket = connectTcp(Number(port), "127.0.0.1").resume();
            socket.end(Buffer.concat([Buffer.from(heads[random(heads.length)] ?? "", "latin1"), noise]));
            await closed(socket);
          }),
        );
      }
      expect((await http(`${hub.url}/healthz`, { method: "GET" })).status).toBe(200);
    });
  });

  describe("SE-3 Host and Origin", () => {
    it.each(["/mcp", "/mcp/default", "/healthz", "/", "/nowhere"])(
      "SE-3 T01 T02 a foreign Host or Origin is refused at %s",
      async (path) => {
        for (const headers of [
          { host: "evil.example" },
          { host: "127.0.0.1.evil.example" },
          { origin: "http://evil.example" },
          { origin: "null" },
        ]) {
          for (const method of ["GET", "POST", "OPTIONS"]) {
            const result = await http(hub.url + path, { method, headers });
            expect([method, headers, result.status]).toEqual([method, headers, 403]);
            expect(Object.keys(result.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
          }
        }
      },
    );

    it("MG-3 /healthz reports that the hub is alive and leaks no names", async () => {
      const { status, body, headers } = await http(`${hub.url}/healthz`, { method: "GET" });
      expect([status, body]).toEqual([200, '{"status":"ok"}']);
      expect(JSON.stringify(headers)).not.toMatch(/demo|plugboard|node|express/i);
    });

    it("GR-3 an unknown group is NOT_FOUND, and the error names no other group", async () => {
      const result = await post(`${hub.url}/mcp/nowhere`, { jsonrpc: "2.0", id: 1, method: "ping" });
      expect(result.status).toBe(404);
      expect(result.body).not.toMatch(/demo|default/);
    });

    it.each(["0.0.0.0", "::", "192.168.1.5"])(
      "SE-3 the hub does not listen on %s, and prints the reason and the fix",
      async (host) => {
        const { code, stdout, stderr } = await plugboard(home, ["up", "--host", host, "--port", "0"]);
        expect(code).toBe(2);
        expect(stderr).toContain(`Refused to listen on ${host}`);
        expect(stderr).toContain('"auth": { "mcp": "required" }');
        expect(stdout).toBe("");
      },
    );

    it("SE-3 a port in use ends the start and suggests another port", async () => {
      const { port } = new URL(hub.url);
      const another = await makeHome(undefined); // a home without a running hub, which would be reported instead
      const { code, stderr } = await plugboard(another, ["up", "--port", port]);
      await another.remove();
      expect(code).toBe(7);
      expect(stderr).toContain(`Port ${port} on 127.0.0.1 is already in use`);
      expect(stderr).toContain(`--port ${Number(port) + 1}`);
    });
  });

  const peakMemory = () => residentBytes(hub.process.pid).peak;
});

/** The error of a refused message, which is always JSON-RPC. */
function errorOf({ body }: HttpResult): { code: number; message: string } {
  return JSON.parse(body).error;
}

function postLarge(mcp: string, size: number, told: boolean): Promise<HttpResult> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(told ? { "content-length": String(size) } : {}),
  };
  return new Promise((resolve, reject) => {
    // Keep-alive: with `Connection: close`, a client that continues to send may lose the response.
    const agent = new Agent({ keepAlive: true });
    const outgoing = request(mcp, { method: "POST", headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        agent.destroy();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    outgoing.on("error", reject);
    const block = Buffer.alloc(65_536, "x");
    let left = size;
    const pump = () => {
      while (left > 0) {
        const part = block.subarray(0, Math.min(left, block.length));
        left -= part.length;
        if (!outgoing.write(part)) return void outgoing.once("drain", pump);
      }
      outgoing.end();
    };
    pump();
  });
}
